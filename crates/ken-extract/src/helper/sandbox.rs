//! The sandbox of a helper.
//!
//! ken gives a helper no more rights than its work needs. The helper may read itself, its
//! interpreter and the libraries of the system, and write into its work folder. It has no network,
//! sees no other file, and can neither leave its process group nor touch other processes. Since a
//! helper is foreign code, its process loses these rights before the helper starts: ken starts
//! itself with [`ARGUMENT`], enters the sandbox, and becomes the helper. Doing that between `fork`
//! and `exec` of the parent would make each start copy the page tables of a large process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::process::{Resource, Rlimit, Signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// The first argument that makes ken the sandbox of a helper.
pub const ARGUMENT: &str = "sandbox-exec";

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
/// Bit that marks system calls of programs for the x32 ABI, which are otherwise the same.
const X32_BIT: i64 = 0x4000_0000;
/// Flags of `clone` that create namespaces.
const NEW_NAMESPACES: u64 = 0x7e02_0000;

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

/// Enters the sandbox and becomes the helper; `arguments` are those after [`ARGUMENT`]. Returns
/// only on failure.
pub fn exec(arguments: impl Iterator<Item = OsString>) -> io::Error {
    match enter(arguments) {
        Ok(mut program) => program.exec(),
        Err(error) => error,
    }
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
    let (memory, file_bytes) = (number()?, number()?);
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
    // A helper must not outlive the process that started it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::thread::set_no_new_privs(true)?;
    for (resource, most) in [
        (Resource::As, memory),
        (Resource::Fsize, file_bytes),
        (Resource::Nofile, MAX_DESCRIPTORS),
        (Resource::Core, 0),
    ] {
        limit(resource, most)?;
    }
    // Where the kernel lacks one of these, the others still apply; `ken status` reports it.
    let _ = restrict_files(&work, &read);
    let _ = restrict_calls();
    Ok(program)
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

fn restrict_files(work: &Path, read: &[PathBuf]) -> Result<(), landlock::RulesetError> {
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
    rules.restrict_self().map(|_| ())
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

/// System calls that no file reader needs, and that reach other processes or rarely used parts of
/// the kernel.
const REFUSED: &[libc::c_long] = &[
    // The network.
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    // Leaving the process group, by which all processes of a helper are killed.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
];

fn restrict_calls() -> Result<(), seccompiler::Error> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        refused.insert(*call, Vec::new());
    }
    let only_if = |argument, operator, value| -> Result<_, seccompiler::BackendError> {
        let length = SeccompCmpArgLen::Dword;
        let condition = SeccompCondition::new(argument, length, operator, value)?;
        SeccompRule::new(vec![condition])
    };
    // Namespaces; testing which flags are set takes one rule for each.
    let flags = (0..32)
        .map(|bit| 1 << bit)
        .filter(|flag| NEW_NAMESPACES & flag != 0);
    let rules = flags.map(|flag| only_if(0, SeccompCmpOp::MaskedEq(flag), flag));
    refused.insert(libc::SYS_clone, rules.collect::<Result<_, _>>()?);
    // Limits of other processes.
    refused.insert(libc::SYS_prlimit64, vec![only_if(0, SeccompCmpOp::Ne, 0)?]);
    install(refused, libc::EPERM)?;
    // The flags of `clone3` are in memory, which no filter sees; libraries fall back to `clone`.
    install(
        BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
        libc::ENOSYS,
    )
}

fn install(
    mut refused: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<(), seccompiler::Error> {
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> = refused
            .iter()
            .map(|(call, rules)| (call | X32_BIT, rules.clone()))
            .collect();
        refused.extend(twins);
    }
    let filter = SeccompFilter::new(
        refused,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}
