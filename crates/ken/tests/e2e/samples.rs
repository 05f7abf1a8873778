//! Small files that the tests make, of all formats that need no other program.

use std::fmt::Write;
use std::path::PathBuf;

use crate::world::World;

/// Returns a file of ken-extract's own test data.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../ken-extract/tests/data");
    fs_err::read(PathBuf::from(folder).join(name)).unwrap()
}

/// Returns the names and contents of all of ken-extract's test data that can be read.
pub(crate) fn all_fixtures() -> Vec<(String, Vec<u8>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../ken-extract/tests/data");
    let mut folders = vec![PathBuf::from(root)];
    let mut fixtures = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "hostile" {
                folders.push(path);
            } else if path.is_file()
                && !name.starts_with("README")
                && !name.starts_with("encrypted")
            {
                fixtures.push((name, fs_err::read(path).unwrap()));
            }
        }
    }
    fixtures.sort();
    fixtures
}

impl World {
    /// Copies a file of ken-extract's test data into `docs`, without its folder.
    pub(crate) fn add_fixture(&self, name: &str) {
        self.write(name.rsplit('/').next().unwrap(), fixture(name));
    }
}

/// Returns a PDF file with a line of Helvetica on each page, and a title and an author.
pub(crate) fn pdf(title: &str, author: &str, pages: &[&str]) -> Vec<u8> {
    let kids: String = (0..pages.len())
        .map(|n| format!("{} 0 R ", 10 + 2 * n))
        .collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()),
        (
            2,
            format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len()),
        ),
        (
            3,
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
        ),
        (
            4,
            format!("<</Title({title})/Author({author})/CreationDate(D:20210304120000Z)>>"),
        ),
    ];
    for (n, text) in pages.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        let page = 10 + 2 * n;
        objects.push((
            page,
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R\
                 /Resources<</Font<</F1 3 0 R>>>>>>",
                page + 1
            ),
        ));
        objects.push((
            page + 1,
            format!(
                "<</Length {}>>\nstream\n{content}\nendstream",
                content.len()
            ),
        ));
    }
    assemble(&objects)
}

/// Returns the header of a PNG picture of this size, whose pixels are missing.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0]);
    // The checksum, which is not read.
    file.extend([0; 4]);
    file
}

fn assemble(objects: &[(usize, String)]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut table = String::from("xref\n0 1\n0000000000 65535 f \n");
    for (number, object) in objects {
        write!(table, "{number} 1\n{:010} 00000 n \n", file.len()).unwrap();
        write!(file, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    let start = file.len();
    write!(
        file,
        "{table}trailer\n<</Size 1000/Root 1 0 R/Info 4 0 R>>\nstartxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    file.into_bytes()
}

/// Returns a message as text, with the header fields given.
pub(crate) fn message(number: usize, subject: &str, body: &str) -> String {
    format!(
        "From: anna{number}@example.org\nTo: bob@example.org\nSubject: {subject}\n\
         Date: Wed, 7 Jan 2026 08:{:02}:00 +0000\nMessage-ID: <{number}@example.org>\n\n{body}\n",
        number % 60
    )
}

/// Returns an mbox of messages with these bodies.
pub(crate) fn mbox(bodies: &[String]) -> String {
    let mut mbox = String::new();
    for (number, body) in bodies.iter().enumerate() {
        mbox.push_str("From anna@example.org Wed Jan  7 08:00:00 2026\n");
        mbox.push_str(&message(number, &format!("Message {number}"), body));
        mbox.push('\n');
    }
    mbox
}

/// Returns a tar archive of members with these names and contents.
pub(crate) fn tar(members: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_600_000_000);
        builder
            .append_data(&mut header, name, content.as_bytes())
            .unwrap();
    }
    builder.into_inner().unwrap()
}
