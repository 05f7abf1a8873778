//! How many watches are free: the kernel's limit is one for all programs of a user.

use fs_err as fs;

/// The limit, if the system does not tell it: the smallest of recent kernels.
const USUAL_LIMIT: usize = 8_192;

/// Returns how many watches the user's programs may still set.
pub fn free_watches() -> usize {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
    let limit = limit.ok().and_then(|text| text.trim().parse().ok());
    limit.unwrap_or(USUAL_LIMIT).saturating_sub(used_watches())
}

/// Counts the watches of all programs that this one may look into.
fn used_watches() -> usize {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes()[0].is_ascii_digit();
    processes
        .filter(|process| is_process(&process.file_name()))
        .flat_map(|process| fs::read_dir(process.path().join("fd")))
        .flatten()
        .flatten()
        // Few of a process's descriptors have watches, and only those are read.
        .filter(|descriptor| {
            let target = fs::read_link(descriptor.path());
            target.is_ok_and(|target| target.as_os_str() == "anon_inode:inotify")
        })
        .map(|descriptor| {
            let path = descriptor.path();
            let info = path.parent().and_then(|folder| folder.parent());
            let info = info.map(|process| process.join("fdinfo").join(descriptor.file_name()));
            let text = info.and_then(|info| fs::read_to_string(info).ok());
            text.unwrap_or_default()
                .lines()
                .filter(|line| line.starts_with("inotify wd:"))
                .count()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

    #[test]
    fn watches_of_this_process_count() {
        let folder = tempfile::tempdir().unwrap();
        let inotify = init(CreateFlags::CLOEXEC).unwrap();
        for name in ["a", "b", "c"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            add_watch(&inotify, &path, WatchFlags::CREATE).unwrap();
        }
        assert!(used_watches() >= 3);
    }
}
