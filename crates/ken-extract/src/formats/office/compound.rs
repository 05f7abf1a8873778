//! Compound files of programs whose formats ken does not read: databases of installers, plans of Microsoft Project, and others. Their
//! properties are read, and a file that one wraps.

use crate::formats::Format;
use crate::output::Output;
use crate::structure::compound::{self, Compound, objects, summary};
use crate::{Error, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "compound file",
    &[
        "application/x-ole-storage",
        "application/vnd.ms-project",
        "application/x-msi",
    ],
    extract,
)
.fields(compound::FIELDS)
.members("the file that it wraps")
.in_worker()
.version(2);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let file = Compound::open(bytes)?;
    summary::read(&file, output.own());
    if let Some((name, content)) = objects::of_file(bytes)
        && content != bytes
    {
        output.member(Member {
            ipath: output.child_ipath("1"),
            name,
            bytes: content,
            ..Member::default()
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::structure::compound::rebuild::compound_of;
    use crate::testing::{run, survives};

    const OLE: Detected = Detected {
        media_type: "application/x-ole-storage",
        kind: Kind::Other,
    };

    #[test]
    fn what_a_file_wraps_is_its_member() {
        let bytes = compound_of(&[("\u{1}Ole", b"x"), ("CONTENTS", b"%PDF-1.4")]);
        let found = run(extract, OLE, "a.bin", &bytes);
        assert_eq!(found.own().failure, None);
        assert_eq!(found.members[0].bytes, b"%PDF-1.4");
        survives(extract, OLE, "a.bin", &bytes);
        let empty = compound_of(&[("Tables", b"x")]);
        assert!(run(extract, OLE, "a.msi", &empty).members.is_empty());
    }
}
