//! Draws a page of many files, and prints the time and the size of each picture.
//!
//! `draw_many PAGE WIDTH FOLDER < LIST` where PAGE is counted from 1, WIDTH is in pixels, and LIST
//! has one path on each line. The pictures go into FOLDER. The program is its own worker.

// A measuring program prints its results, and takes everything from its caller.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ken_core::Ipath;
use ken_extract::{Options, Original, Pictures, worker};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments
        .get(1)
        .is_some_and(|first| first == worker::ARGUMENT)
    {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        return Ok(worker::serve(socket, ken_extract::extract)?);
    }
    let [_, page, width, folder] = &arguments[..] else {
        return Err("draw_many PAGE WIDTH FOLDER < LIST".into());
    };
    let (page, width): (u32, u32) = (page.parse()?, width.parse()?);
    let page = page.checked_sub(1).ok_or("PAGE is counted from 1")?;
    let pictures = Pictures::new(Options {
        worker: Some(PathBuf::from("/proc/self/exe")),
        ..Options::default()
    });
    let ipath = Ipath::root();
    for (number, path) in io::stdin().lines().enumerate() {
        let path = path?;
        let path = Path::new(&path);
        let file = fs_err::File::open(path)?;
        let original = Original {
            path,
            file: file.file(),
            ipath: &ipath,
            message: None,
        };
        let started = Instant::now();
        let drawn = pictures.page(&original, page, width);
        let drawing = started.elapsed().as_millis();
        let started = Instant::now();
        let n_words = pictures.words(&original, page).map(|text| text.words.len());
        let reading = started.elapsed().as_millis();
        let n_words = n_words.unwrap_or(0);
        let name = path.display();
        match drawn {
            Ok(picture) => {
                let (_, ending) = picture
                    .encoding
                    .media_type()
                    .split_once('/')
                    .unwrap_or_default();
                let (width, height) = (picture.width, picture.height);
                let n_bytes = picture.bytes.len();
                println!(
                    "{number}: {drawing} ms, {width} x {height}, {n_bytes} bytes of {ending}; \
                     {n_words} words in {reading} ms: {name}"
                );
                let target = Path::new(folder).join(format!("{number}.{ending}"));
                fs_err::write(target, picture.bytes)?;
            }
            Err(cause) => println!("{number}: {drawing} ms, {cause:?}: {name}"),
        }
    }
    Ok(())
}
