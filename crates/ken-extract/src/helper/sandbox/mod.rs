//! The sandbox of a helper.
//!
//! ken gives a helper no more rights than its work needs. The helper may read itself, its
//! interpreter and the libraries of the system, and write into its work folder. It has no network,
//! sees no other file ([`view`]), changes no modes, owners or times ([`calls`]), and can neither
//! leave its process group nor touch other processes. Since a helper is foreign code, its process
//! loses these rights before the helper starts: ken starts itself with [`ARGUMENT`], enters the
//! sandbox, and becomes the helper. Doing that between `fork` and `exec` of the parent would make
//! each start copy the page tables of a large process.

mod calls;
mod view;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal};

/// The first argument that makes ken the sandbox of a helper.
pub const ARGUMENT: &str = "sandbox-exec";

/// The argument after [`ARGUMENT`] that asks whether the system has views.
const PROBE: &str = "probe";

/// Files of the system that programs need, on any distribution.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/nix/store",
    "/gnu/store",
    "/home/linuxbrew/.linuxbrew",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/groff",
    "/etc/ghostscript",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/mime.types",
    "/etc/magic",
    "/etc/papersize",
    "/etc/perl",
    "/etc/python3",
    "/etc/texmf",
    "/var/lib/texmf",
    "/var/lib/ghostscript",
    "/var/cache/fontconfig",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/filesystems",
    "/proc/self",
    "/sys/devices/system/cpu",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

/// Maximum number of descriptors that a helper may have open.
const MAX_DESCRIPTORS: u64 = 256;
/// Maximum number of processes and threads of a helper, where it has a user namespace. Elsewhere the kernel counts all
/// processes of the user. It never counts those of root.
const MAX_PROCESSES: u64 = 256;

/// The rights of a helper.
#[derive(Clone, Debug)]
pub(super) struct Rights<'r> {
    /// The folder that the helper may write into.
    pub(super) work: &'r Path,
    /// Files and folders that the helper may read, besides those of the system.
    pub(super) read: Vec<PathBuf>,
    /// Memory of each process, in bytes.
    pub(super) memory: u64,
    /// Maximum size of each file that the helper writes.
    pub(super) file_bytes: u64,
    /// Whether the helper does not start if the system lacks a part of the sandbox.
    pub(super) is_required: bool,
}

impl Rights<'_> {
    /// Returns whether everything below a folder may be read.
    pub(super) fn may_read(&self, folder: &Path) -> bool {
        let real = fs_err::canonicalize(folder);
        let folder = real.as_deref().unwrap_or(folder);
        is_in_system(folder) || self.read.iter().any(|read| folder.starts_with(read))
    }

    /// Returns the arguments that start a helper with these rights.
    pub(super) fn arguments(&self, program: &Path, arguments: Vec<OsString>) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![
            ARGUMENT.into(),
            self.memory.to_string().into(),
            self.file_bytes.to_string().into(),
            u64::from(self.is_required).to_string().into(),
            self.work.into(),
        ];
        all.extend(self.read.iter().map(OsString::from));
        all.push("--".into());
        all.push(program.into());
        all.extend(arguments);
        all
    }
}

/// Returns whether a path is part of the system, which every helper may read.
pub(super) fn is_in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Returns the parts of the sandbox that the system lacks; `program` is the one that enters it.
#[must_use]
pub fn missing(program: &Path) -> Vec<&'static str> {
    let landlock = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    let seccomp = fs_err::exists("/proc/sys/kernel/seccomp/actions_avail").unwrap_or(false);
    let mut probe = Command::new(program);
    probe.args([ARGUMENT, PROBE]);
    probe.stdin(Stdio::null()).stderr(Stdio::null());
    let view = probe.status().is_ok_and(|status| status.success());
    let parts = [
        ("Landlock", landlock.is_ok()),
        ("seccomp", seccomp),
        ("user namespaces", view),
    ];
    let missing = parts.into_iter().filter(|(_, is_there)| !is_there);
    missing.map(|(name, _)| name).collect()
}

/// Enters the sandbox and becomes the helper; `arguments` are those after [`ARGUMENT`].
///
/// # Errors
/// Fails if the sandbox cannot be entered or the helper not be started. Returns otherwise only if it
/// was asked whether the system has views, and it has.
pub fn exec(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == PROBE) {
        return view::probe();
    }
    let mut program = enter(first.into_iter().chain(arguments))?;
    Err(program.exec())
}

fn enter(mut arguments: impl Iterator<Item = OsString>) -> io::Result<Command> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "wrong arguments");
    let mut number = || {
        let number = arguments
            .next()
            .and_then(|number| number.into_string().ok());
        number
            .and_then(|number| number.parse().ok())
            .ok_or_else(wrong)
    };
    let (memory, file_bytes, is_required) = (number()?, number()?, number()? == 1);
    let work = PathBuf::from(arguments.next().ok_or_else(wrong)?);
    let read: Vec<PathBuf> = arguments
        .by_ref()
        .take_while(|argument| argument != "--")
        .map(PathBuf::from)
        .collect();
    let mut program = Command::new(arguments.next().ok_or_else(wrong)?);
    program.args(arguments);

    // Descriptors that ken inherited must not reach a helper.
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    rustix::thread::set_no_new_privs(true)?;
    let seen = SYSTEM.iter().map(Path::new);
    let seen = seen.chain(read.iter().map(PathBuf::as_path));
    // Where the system lacks a part, the others still apply, unless all are required.
    let is_separate = view::enter(&work, seen).is_ok();
    // A helper must not outlive the process that started it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    for (resource, most) in [
        (Resource::As, memory),
        (Resource::Fsize, file_bytes),
        (Resource::Nofile, MAX_DESCRIPTORS),
        (Resource::Core, 0),
    ] {
        limit(resource, most)?;
    }
    if is_separate {
        limit(Resource::Nproc, MAX_PROCESSES)?;
    }
    let has_files = restrict_files(&work, &read).unwrap_or(false);
    let has_calls = calls::restrict(has_signal_scope()).is_ok();
    if is_required && !(has_files && has_calls && is_separate) {
        let message = "the system lacks a part of its sandbox, which helpers.sandbox requires";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    Ok(program)
}

/// Returns whether Landlock can keep signals within the sandbox (from Linux 6.12 on).
fn has_signal_scope() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)
        .and_then(Ruleset::create);
    rules.is_ok()
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let known = rustix::process::getrlimit(resource);
    let most = known.maximum.map_or(most, |maximum| maximum.min(most));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

/// Takes all rights to files but these; returns whether the kernel can.
fn restrict_files(work: &Path, read: &[PathBuf]) -> Result<bool, landlock::RulesetError> {
    let all = AccessFs::from_all(ABI::V6);
    let reading = AccessFs::from_read(ABI::V6);
    let working = all
        & !(AccessFs::Execute
            | AccessFs::MakeChar
            | AccessFs::MakeBlock
            | AccessFs::MakeSock
            | AccessFs::IoctlDev);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    let system = SYSTEM.iter().map(Path::new);
    for path in system.chain(read.iter().map(PathBuf::as_path)) {
        rules = allow(rules, path, reading)?;
    }
    rules = allow(rules, work, working)?;
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    rules = allow(rules, Path::new("/dev/null"), device)?;
    let status = rules.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Allows access to a path; a missing path needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    match PathFd::new(path) {
        Ok(opened) if path.is_dir() => rules.add_rule(PathBeneath::new(opened, access)),
        Ok(opened) => {
            let access = access & AccessFs::from_file(ABI::V6);
            rules.add_rule(PathBeneath::new(opened, access))
        }
        Err(_) => Ok(rules),
    }
}
