//! The rights that a worker drops before it reads the first foreign byte.
//!
//! The sandbox limits memory, files and processes; it takes all rights to files and network by
//! Landlock; and it allows only the system calls that computing and answering need: any other kills
//! the process. Where the kernel lacks one of these means, the others still apply, and `ken status`
//! reports it.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};
use rustix::process::{Resource, Rlimit, Signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// How much of Landlock the kernel supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landlock {
    /// No right to files, network or other processes.
    Full,
    /// An older kernel: no right to files, but only some of the rest.
    Partial,
    /// The kernel has no Landlock.
    Missing,
}

/// The state of a worker's sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// No right to any file.
    pub landlock: Landlock,
    /// System calls are limited to what computing needs.
    pub seccomp: bool,
    /// Memory is limited.
    pub memory_limit: bool,
}

/// Maximum number of descriptors that a worker may have open.
const MAX_DESCRIPTORS: u64 = 32;

/// Enters the sandbox; there is no way out.
pub(super) fn enter(memory_bytes: u64) -> Sandbox {
    // A worker must not outlive its parent, even while it computes.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let _ = rustix::thread::set_no_new_privs(true);
    let memory_limit = limit(Resource::As, memory_bytes).is_ok();
    // No file can be created or grow. Standard error is a pipe, because a file would kill the
    // process that writes to it.
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, MAX_DESCRIPTORS),
    ] {
        let _ = limit(resource, most);
    }
    Sandbox {
        landlock: landlock(),
        seccomp: seccomp().is_ok(),
        memory_limit,
    }
}

fn limit(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let known = rustix::process::getrlimit(resource);
    let most = known.maximum.map_or(most, |maximum| maximum.min(most));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    rustix::process::setrlimit(resource, limit)
}

fn landlock() -> Landlock {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    match restrict().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Landlock::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Landlock::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Landlock::Missing,
    }
}

/// System calls that read the received files, answer, take memory and end.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// System calls that fail, since the standard library can do without them: `statx` takes paths.
const REFUSED: &[libc::c_long] = &[libc::SYS_statx];

fn seccomp() -> Result<(), seccompiler::Error> {
    let arch = std::env::consts::ARCH.try_into()?;
    let mut allowed: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in ALLOWED.iter().chain(REFUSED) {
        allowed.insert(*call, Vec::new());
    }
    // Executable memory is never needed.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
        allowed.insert(call, only_if(2, SeccompCmpOp::MaskedEq(executable), 0)?);
    }
    // The standard library checks whether a descriptor is open before it closes it.
    let get_flags = u64::from(libc::F_GETFD.unsigned_abs());
    allowed.insert(libc::SYS_fcntl, only_if(1, SeccompCmpOp::Eq, get_flags)?);
    // abort() sends a signal to its own process.
    let own = u64::from(std::process::id());
    allowed.insert(libc::SYS_tgkill, only_if(0, SeccompCmpOp::Eq, own)?);
    let allow = SeccompFilter::new(
        allowed,
        SeccompAction::KillProcess,
        SeccompAction::Allow,
        arch,
    )?;
    let refuse = SeccompFilter::new(
        REFUSED.iter().map(|call| (*call, Vec::new())).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
        arch,
    )?;
    // With two filters, the stricter answer counts. The first one still allows the installation of
    // the second.
    for filter in [refuse, allow] {
        let program: BpfProgram = filter.try_into()?;
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

/// Returns the rule that a call is made only if one of its arguments passes a comparison.
fn only_if(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    Ok(vec![SeccompRule::new(vec![condition])?])
}

impl Landlock {
    const ALL: [Self; 3] = [Self::Full, Self::Partial, Self::Missing];

    /// Returns the name for output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::Missing => "missing",
        }
    }
}

impl Sandbox {
    /// Returns the state as a number, for a worker's first message.
    pub(super) fn to_number(self) -> u64 {
        self.landlock as u64 | u64::from(self.seccomp) << 2 | u64::from(self.memory_limit) << 3
    }

    /// Reads what [`Sandbox::to_number`] wrote.
    pub(super) fn from_number(number: u64) -> Option<Self> {
        Some(Self {
            landlock: *Landlock::ALL.get((number & 3) as usize)?,
            seccomp: number & 4 != 0,
            memory_limit: number & 8 != 0,
        })
    }

    /// Returns what the kernel lacks, in words for people.
    pub fn missing(self) -> Vec<&'static str> {
        let landlock = match self.landlock {
            Landlock::Full => None,
            Landlock::Partial => Some("parts of Landlock (Linux 6.12 has all)"),
            Landlock::Missing => Some("Landlock"),
        };
        let seccomp = (!self.seccomp).then_some("seccomp");
        let memory = (!self.memory_limit).then_some("a limit on memory");
        [landlock, seccomp, memory].into_iter().flatten().collect()
    }
}
