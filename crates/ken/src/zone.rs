//! The time zone of the system, read without listing all zones.
//!
//! `jiff` resolves the link `/etc/localtime` to a name, and lists all files of `/usr/share/zoneinfo` to find it, which
//! takes 110 system calls in each command. The file itself is the zone.

use std::path::Path;

use jiff::tz::TimeZone;

/// Returns the time zone of the system.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(crate) fn system() -> TimeZone {
    match std::env::var_os("TZ") {
        None => linked(Path::new("/etc/localtime")).unwrap_or_else(TimeZone::system),
        Some(_) => TimeZone::system(),
    }
}

/// Returns the zone that a link points to; the path has the name of the zone.
fn linked(link: &Path) -> Option<TimeZone> {
    let target = fs_err::read_link(link).ok()?;
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    TimeZone::tzif(name, &fs_err::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_link_names_its_zone() {
        let folder = tempfile::tempdir().unwrap();
        let zones = folder.path().join("zoneinfo");
        fs_err::create_dir(&zones).unwrap();
        let link = folder.path().join("localtime");
        fs_err::os::unix::fs::symlink(zones.join("Nowhere"), &link).unwrap();
        assert_eq!(linked(&link), None);
        // UTC in version 1 of RFC 8536: one type of local time, no transitions.
        let mut file = b"TZif\0".to_vec();
        file.extend([0; 15]);
        for count in [0_u32, 0, 0, 0, 1, 4] {
            file.extend(count.to_be_bytes());
        }
        file.extend([0, 0, 0x0e, 0x10, 0, 0]);
        file.extend(b"ONE\0");
        fs_err::write(zones.join("Nowhere"), file).unwrap();
        let zone = linked(&link).unwrap();
        assert_eq!(zone.iana_name(), Some("Nowhere"));
        assert_eq!(zone.to_offset(Timestamp::UNIX_EPOCH).seconds(), 3600);
    }

    #[test]
    fn it_is_the_zone_that_is_looked_up() {
        let (ours, theirs) = (system(), TimeZone::system());
        for second in (0..4_000_000_000_i64).step_by(10_000_019) {
            let at = Timestamp::from_second(second).unwrap();
            assert_eq!(ours.to_offset(at), theirs.to_offset(at), "{at}");
        }
    }
}
