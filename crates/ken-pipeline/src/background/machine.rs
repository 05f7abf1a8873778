//! The machine's load, memory and power supply, as Linux reports them in `/proc` and `/sys`.

use std::path::Path;

/// Returns the memory of the machine in bytes, or the limit of the control groups of this process
/// if that is lower; `None` if the system does not report it. See proc_meminfo(5), and "Control
/// Group v2" and "Memory Resource Controller" of Linux.
pub(crate) fn memory() -> Option<u64> {
    let read = |path: &str| fs_err::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(total);
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups);
    // A group without a limit says "max".
    let limits = limits
        .iter()
        .filter_map(|path| read(path)?.trim().parse().ok());
    limits.chain(machine).min()
}

/// Returns the files that hold the limits of the groups of a process and of their parents, which
/// `/proc/self/cgroup` names (cgroups(7)). In a container, only the last one may exist.
fn limit_files(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let (folder, file, group) = match line.splitn(3, ':').collect::<Vec<_>>()[..] {
            [_, "", group] => ("/sys/fs/cgroup", "memory.max", group),
            [_, "memory", group] => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", group),
            _ => continue,
        };
        let groups = Path::new(group).ancestors();
        files.extend(groups.map(|group| {
            let group = group.to_string_lossy();
            format!("{folder}{}/{file}", group.trim_end_matches('/'))
        }));
    }
    files
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kibibytes << 10)
}

/// Size in bytes from which blocks of memory are mapped separately.
const MAPPED_BYTES: libc::c_int = 2 << 20;

/// Makes this process return large blocks of memory to the system as soon as they are free. Must be
/// called before threads are started.
///
/// The allocator of glibc maps large blocks separately. Once one is freed, however, it takes the
/// next block of that size from an arena of the thread, and keeps it: each thread ends up with the
/// largest texts that it ever held. See mallopt(3), "dynamic mmap threshold". On other systems this
/// does nothing.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "no crate makes this call safe")]
    // SAFETY: The call takes two numbers and changes settings of the allocator, under its lock.
    // Other threads could allocate meanwhile without the lock, so it comes before they start.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * MAPPED_BYTES);
    }
}

/// Returns all memory to the system that this process has freed. The allocator of glibc keeps what lies between blocks
/// in use; see malloc_trim(3). On other systems this does nothing.
pub(crate) fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "no crate makes this call safe")]
    // SAFETY: The call takes a number, and locks what it changes.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The power supply of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// The mains, or unknown.
    Mains,
    /// A battery.
    Battery,
}

/// The work done up to a moment, in seconds of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// By programs with normal priority; ken in the background, and programs that it starts, have a
    /// lower one.
    others: f64,
    /// The capacity of all cores.
    possible: f64,
}

impl Power {
    pub(crate) fn now() -> Self {
        Self::of(Path::new("/sys/class/power_supply"))
    }

    /// Reads the power supplies; see `Documentation/ABI/testing/sysfs-class-power` of Linux.
    fn of(supplies: &Path) -> Self {
        let Ok(entries) = fs_err::read_dir(supplies) else {
            return Self::Mains;
        };
        let mut power = Self::Mains;
        for entry in entries.flatten() {
            let read = |name: &str| {
                let text = fs_err::read_to_string(entry.path().join(name));
                text.unwrap_or_default().trim().to_owned()
            };
            match read("type").as_str() {
                "Mains" | "USB" if read("online") == "1" => return Self::Mains,
                // The battery of a mouse has the scope "Device".
                "Battery" if read("scope") != "Device" && read("status") == "Discharging" => {
                    power = Self::Battery;
                }
                _ => {}
            }
        }
        power
    }
}

impl Work {
    /// Returns the work done so far; none if the system does not report it.
    pub(crate) fn now() -> Option<Self> {
        let text = fs_err::read_to_string("/proc/stat").ok()?;
        Self::of(&text)
    }

    /// Parses proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal, in ticks. Time
    /// in the kernel is not attributed to priorities, so it is left out.
    fn of(stat: &str) -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields = line.split_ascii_whitespace();
        let fields: Vec<f64> = fields.map_while(|field| field.parse().ok()).collect();
        let [user, _, _, _, _, _, _, stolen, ..] = fields[..] else {
            return None;
        };
        let possible: f64 = fields[..8].iter().sum();
        Some(Self {
            others: (user + stolen) / ticks,
            possible: possible / ticks,
        })
    }

    /// Returns how many cores other programs left free between two moments.
    pub(crate) fn cores_left(self, now: &Self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let possible = now.possible - self.possible;
        if possible <= 0.0 {
            return usize::MAX;
        }
        let others = now.others - self.others;
        // Half a core that others use is no reason to stop a thread, which yields to them anyway.
        (cores * (1.0 - others / possible)).round().max(0.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_system_says() {
        let meminfo = "MemTotal:       24640408 kB\nMemFree:        18123456 kB\n";
        assert_eq!(total(meminfo), Some(24_640_408 << 10));
        assert_eq!(total("MemFree: 1 kB"), None);
        let groups = "3:memory:/a\n2:cpu,cpuacct:/x\n0::/user.slice/b\n";
        let files = [
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/user.slice/b/memory.max",
            "/sys/fs/cgroup/user.slice/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(limit_files(groups), files);
        let bytes = memory().expect("/proc is there");
        assert!((32 << 20..1 << 50).contains(&bytes), "{bytes}");
    }

    #[test]
    fn work_of_others_is_what_is_not_ones_own() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let ticks = rustix::param::clock_ticks_per_second();
        let at = |others: u64, niced: u64, idle: u64| {
            let (others, niced, idle) = (others * ticks, niced * ticks, idle * ticks);
            Work::of(&format!("cpu  {others} {niced} 0 {idle} 0 0 0 0 0 0\n")).unwrap()
        };
        let before = at(100, 5, 100);
        assert_eq!(before.cores_left(&at(100, 15, 100)), cores);
        assert_eq!(before.cores_left(&at(110, 5, 100)), 0);
        assert_eq!(before.cores_left(&at(101, 9, 105)), cores);
        assert_eq!(before.cores_left(&before), usize::MAX);
        assert_eq!(Work::of("intr 1\n"), None);
        assert!(Work::now().is_some() || !cfg!(target_os = "linux"));
    }

    #[test]
    fn a_battery_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let supply = |name: &str, values: &[(&str, &str)]| {
            let supply_folder = folder.path().join(name);
            fs_err::create_dir_all(&supply_folder).unwrap();
            for (file, value) in values {
                fs_err::write(supply_folder.join(file), format!("{value}\n")).unwrap();
            }
        };
        assert_eq!(Power::of(&folder.path().join("none")), Power::Mains);
        supply(
            "mouse",
            &[
                ("type", "Battery"),
                ("scope", "Device"),
                ("status", "Discharging"),
            ],
        );
        assert_eq!(Power::of(folder.path()), Power::Mains);
        supply("BAT0", &[("type", "Battery"), ("status", "Discharging")]);
        assert_eq!(Power::of(folder.path()), Power::Battery);
        supply("AC", &[("type", "Mains"), ("online", "0")]);
        assert_eq!(Power::of(folder.path()), Power::Battery);
        supply("AC", &[("type", "Mains"), ("online", "1")]);
        assert_eq!(Power::of(folder.path()), Power::Mains);
    }
}
