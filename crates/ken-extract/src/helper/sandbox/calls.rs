//! The system calls of a helper. Nobody knows all that an interpreter calls, so this is a list of what may not be called:
//! what no file reader needs, and what reaches other processes, other files or the system.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// Bit that marks system calls of programs for the x32 ABI, which are otherwise the same.
const X32_BIT: i64 = 0x4000_0000;

/// Flags of `clone` that create namespaces.
const NEW_NAMESPACES: u64 = 0x7e02_0000;

/// Requests of `ioctl` that may be made. All others fail: some change a file that is open for reading, type into a
/// terminal or reach a device, and nobody knows all of them.
const REQUESTS: [u64; 12] = [
    // The state of a descriptor: TCGETS, TCGETS2, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
    0x5401,
    0x802c_542a,
    0x5413,
    0x540f,
    0x541b,
    0x5421,
    0x5450,
    0x5451,
    // Where a file's content is, its attributes, and copies of it: FS_IOC_FIEMAP, FS_IOC_GETFLAGS, FICLONE, FICLONERANGE.
    0xc020_660b,
    0x8008_6601,
    0x4004_9409,
    0x4020_940d,
];

/// Calls that the table of `libc` lacks, on some machines. Their numbers are those of all architectures that the filter
/// knows.
mod new {
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) const KEXEC_FILE_LOAD: i64 = 294;
    #[cfg(target_arch = "x86_64")]
    pub(super) const KEXEC_FILE_LOAD: i64 = libc::SYS_kexec_file_load;
    pub(super) const QUOTACTL_FD: i64 = 443;
    pub(super) const MEMFD_SECRET: i64 = 447;
    pub(super) const PROCESS_MRELEASE: i64 = 448;
    pub(super) const FCHMODAT2: i64 = 452;
    pub(super) const STATMOUNT: i64 = 457;
    pub(super) const LISTMOUNT: i64 = 458;
    pub(super) const SETXATTRAT: i64 = 463;
    pub(super) const GETXATTRAT: i64 = 464;
    pub(super) const LISTXATTRAT: i64 = 465;
    pub(super) const REMOVEXATTRAT: i64 = 466;
    pub(super) const OPEN_TREE_ATTR: i64 = 467;
    pub(super) const FILE_SETATTR: i64 = 469;
}

/// Calls that change modes, owners and times. They seem to succeed and do nothing: programs that unpack files make them
/// for their own files and complain when they fail, and no filter sees which file is meant.
const PRETENDED: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    new::FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Extended attributes, as on a file system that has none. Those of an open file may be read. Most requests of `ioctl`
/// are treated the same.
const UNSUPPORTED: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    new::SETXATTRAT,
    new::GETXATTRAT,
    new::LISTXATTRAT,
    new::REMOVEXATTRAT,
    new::FILE_SETATTR,
];

/// Calls without which programs get on, as on a kernel that does not have them.
const ABSENT: &[i64] = &[
    // Its flags are in memory, which no filter sees; libraries fall back to `clone`.
    libc::SYS_clone3,
    // Programs in memory, which no list of files allows or forbids.
    libc::SYS_memfd_create,
    new::MEMFD_SECRET,
    libc::SYS_execveat,
    // Memory, messages and locks that all processes of a user share.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What happens to files elsewhere.
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    new::STATMOUNT,
    new::LISTMOUNT,
];

/// Calls that are refused.
const REFUSED: &[i64] = &[
    // The network.
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Leaving the process group, by which all processes of a helper are killed.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    new::PROCESS_MRELEASE,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Scheduling.
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    // Clocks.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    new::OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    // The system.
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
    libc::SYS_quotactl,
    new::QUOTACTL_FD,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    new::KEXEC_FILE_LOAD,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Calls that send a signal to the process in their first argument.
const SIGNALS: [i64; 5] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

/// Takes the calls from this process and all that it starts. Unless Landlock confines signals, a helper sends them only to
/// itself and its process group, and what it starts only to the group.
pub(super) fn restrict(has_signal_scope: bool) -> Result<(), seccompiler::Error> {
    let mut refused = always(REFUSED);
    if !has_signal_scope {
        let own = u64::from(std::process::id());
        for call in SIGNALS {
            let others = [0, own].map(|process| {
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, process)
            });
            let others = others.into_iter().collect::<Result<_, _>>()?;
            refused.insert(call, vec![SeccompRule::new(others)?]);
        }
    }
    // Namespaces; testing which flags are set takes one rule for each.
    let flags = (0..32)
        .map(|bit| 1 << bit)
        .filter(|flag| NEW_NAMESPACES & flag != 0);
    let rules = flags.map(|flag| only_if(0, SeccompCmpOp::MaskedEq(flag), flag));
    refused.insert(libc::SYS_clone, rules.collect::<Result<_, _>>()?);
    // Limits, processors and priorities of other processes.
    for (call, argument) in [
        (libc::SYS_prlimit64, 0),
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_setpriority, 0),
        (libc::SYS_setpriority, 1),
    ] {
        let rule = only_if(argument, SeccompCmpOp::Ne, 0)?;
        refused.entry(call).or_default().push(rule);
    }
    install(refused, libc::EPERM)?;
    let mut unsupported = always(UNSUPPORTED);
    let others = REQUESTS.map(|request| {
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, request)
    });
    let others = others.into_iter().collect::<Result<_, _>>()?;
    unsupported.insert(libc::SYS_ioctl, vec![SeccompRule::new(others)?]);
    install(unsupported, libc::EOPNOTSUPP)?;
    install(always(PRETENDED), 0)?;
    install(always(ABSENT), libc::ENOSYS)
}

fn always(calls: &[i64]) -> BTreeMap<i64, Vec<SeccompRule>> {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn only_if(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let length = SeccompCmpArgLen::Dword;
    let condition = SeccompCondition::new(argument, length, operator, value)?;
    SeccompRule::new(vec![condition])
}

fn install(
    mut calls: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<(), seccompiler::Error> {
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> = calls
            .iter()
            .map(|(call, rules)| (call | X32_BIT, rules.clone()))
            .collect();
        calls.extend(twins);
    }
    let filter = SeccompFilter::new(
        calls,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}
