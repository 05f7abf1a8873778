//! What a helper that wants to do harm can do: nothing outside its own folder, whatever it tries.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::needs;
use crate::world::{Run, World};

/// Tries what a helper must not do, and prints what worked. `ROOT` stands for a folder with files of the user.
const EVIL: &str = r#"
import ctypes, fcntl, os, resource, socket, termios, time
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in arguments]
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno(), 'refused')

def attempt(name, action):
    try:
        action()
        print('did', name)
    except (OSError, ValueError):
        pass

secret, victim, parent = 'ROOT/secret.txt', 'ROOT/victim.txt', os.getppid()
attempt('read', lambda: open(secret))
attempt('write', lambda: open('ROOT/new', 'w'))
attempt('truncate', lambda: os.truncate(victim, 0))
attempt('rename', lambda: os.rename(victim, 'ROOT/moved'))
attempt('link', lambda: os.link(secret, 'tmp/linked'))
attempt('remove', lambda: os.remove(victim))
# These may seem to work; the test looks at the file.
for action in [lambda: os.chmod(secret, 0o777), lambda: os.chown(secret, 65534, 65534), lambda: os.utime(secret, (1, 1))]:
    try: action()
    except OSError: pass
attempt('setxattr', lambda: os.setxattr(secret, 'user.evil', b'1'))
attempt('listxattr', lambda: os.listxattr(secret))
attempt('environment of another', lambda: open(f'/proc/{parent}/environ'))
attempt('descriptors of another', lambda: os.listdir(f'/proc/{parent}/fd'))
attempt('socket', lambda: socket.socket(socket.AF_UNIX))
attempt('kill', lambda: os.kill(parent, 0))
attempt('session', os.setsid)
attempt('group', lambda: os.setpgid(0, 0))
attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, parent, 5))
attempt('affinity', lambda: os.sched_setaffinity(parent, {0}))
attempt('scheduler', lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
attempt('limits', lambda: resource.prlimit(parent, resource.RLIMIT_CORE))
attempt('memory', lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2))
# EXT4_IOC_SETVERSION, FS_IOC_SETFLAGS.
for request in (0x40086604, 0x40086602):
    attempt('ioctl', lambda: fcntl.ioctl(open(__file__), request, bytes(8)))
pipe = os.pipe()
fcntl.ioctl(pipe[0], termios.FIONREAD, bytes(4))
attempt('memfd', lambda: os.memfd_create('x'))
def own_program():
    with open('/bin/true', 'rb') as program, open('tmp/x', 'wb') as copy:
        copy.write(program.read())
    os.chmod('tmp/x', 0o755)
    child = os.fork()
    if child == 0:
        try: os.execv('tmp/x', ['x'])
        except OSError: os._exit(9)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError
attempt('own program', own_program)
attempt('device', lambda: os.mknod('tmp/d', 0o20600, os.makedev(1, 3)))
attempt('terminal', lambda: open('/dev/tty', 'w'))
attempt('shared folder', lambda: open('/dev/shm/x', 'w'))
attempt('temporary folder', lambda: open('/tmp/ken-evil', 'w'))
if os.uname().machine == 'x86_64':
    for name, number, arguments in [
        ('shmget', 29, (0, 4096, 0o1600)), ('semget', 64, (0, 1, 0o1600)), ('msgget', 68, (0, 0o1600)),
        ('mq_open', 240, (b'evil', 0o102, 0o600, 0)), ('ptrace', 101, (16, parent, 0, 0)),
        ('unshare', 272, (0x10000000,)), ('mount', 165, (b'a', b'tmp', b'tmpfs', 0, 0)),
        ('fsopen', 430, (b'tmpfs', 0)), ('open_tree', 428, (-100, b'/', 1)), ('sethostname', 170, (b'evil', 4)),
        ('settimeofday', 164, (0, 0)), ('inotify', 294, (0,)), ('fanotify', 300, (0, 0)),
        ('memfd_secret', 447, (0,)), ('pidfd_open', 434, (parent, 0)), ('bpf', 321, (0, 0, 0)),
        ('keyctl', 250, (0, 0)), ('io_uring', 425, (8, 0)), ('swapon', 167, (b'/x', 0)), ('chroot', 161, (b'tmp',)),
        ('syslog', 103, (2, 0, 0)), ('ioprio_set', 251, (1, parent, 0x6000)),
        ('fchmodat2', 452, (-100, b'ROOT/victim.txt', 0o777, 0)),
    ]:
        if name != 'fchmodat2': attempt(name, lambda: call(number, *arguments))
        else: call(number, *arguments)
# What exists: only a part of the sandbox that needs user namespaces hides it.
for name, action in [('stat', lambda: os.stat(secret)), ('folder', lambda: os.stat('ROOT')), ('readlink', lambda: os.readlink('ROOT/link')),
                     ('chdir', lambda: os.chdir('ROOT')), ('statvfs', lambda: os.statvfs('ROOT'))]:
    try:
        action()
        print('saw', name)
    except OSError: pass
# Leave something behind.
if os.fork() == 0:
    if os.fork() == 0:
        for descriptor in (0, 1, 2): os.close(descriptor)
        time.sleep(1000.77)
    os._exit(0)
print('tried everything')
"#;

fn evil(settings: &str) -> World {
    let world = World::new();
    let root = world.home().join("private");
    fs_err::create_dir(&root).unwrap();
    for name in ["secret.txt", "victim.txt"] {
        fs_err::write(root.join(name), "of the user").unwrap();
    }
    fs_err::os::unix::fs::symlink("secret.txt", root.join("link")).unwrap();
    let script = world.home().join("evil.py");
    fs_err::write(&script, EVIL.replace("ROOT", root.to_str().unwrap())).unwrap();
    world.configure(&format!(
        "[helpers]\nmimeconf = []\n{settings}\n[[adapter]]\nname = \"evil\"\nextensions = [\"evil\"]\n\
         command = [\"/usr/bin/python3\", \"{}\", \"{{path}}\"]\n",
        script.display()
    ));
    world.write("x.evil", "x");
    world
}

/// Returns whether this machine gives a process a view of the file system of its own.
fn has_views() -> bool {
    let run = Command::new("unshare").args(["-rm", "true"]).output();
    run.is_ok_and(|output| output.status.success())
}

#[test]
fn a_helper_can_do_no_harm_and_see_nothing() {
    let world = evil("");
    let root = world.home().join("private");
    let facts = || {
        ["secret.txt", "victim.txt"].map(|name| {
            let metadata = fs_err::metadata(root.join(name)).unwrap();
            let text = fs_err::read_to_string(root.join(name)).unwrap();
            let times = (metadata.mtime(), metadata.ctime(), metadata.ctime_nsec());
            (text, metadata.mode(), metadata.uid(), times)
        })
    };
    let script = fs_err::read(world.home().join("evil.py")).unwrap();
    let before = facts();
    let run = world.ken(["extract", "docs/x.evil"]);
    let text = run.text();
    assert!(text.contains("tried everything"), "{text} {}", run.err);
    assert!(!text.contains("did "), "{text}");
    assert_eq!(facts(), before);
    assert_eq!(
        fs_err::read(world.home().join("evil.py")).unwrap(),
        script,
        "what it may read stays as it is"
    );
    assert_eq!(fs_err::read_dir(&root).unwrap().count(), 3);
    if needs::met("views", has_views()) {
        assert!(!text.contains("saw "), "{text}");
    }
    let left = Command::new("pgrep").args(["-f", "sleep.1000.77"]).output();
    assert!(left.is_ok_and(|left| left.stdout.is_empty()));
    let folders = fs_err::read_dir(world.data().join("tmp")).unwrap();
    assert_eq!(folders.count(), 0, "its folders are gone");
}

#[test]
fn a_helper_that_fills_the_disk_or_forks_is_ended() {
    let world = evil("");
    let script = world.home().join("evil.py");
    for text in [
        "open('tmp/a', 'wb').write(bytes(3 << 20)); open('tmp/b', 'wb').write(bytes(3 << 20)); import time; time.sleep(1000)",
        "import os\nos.makedirs('tmp/' + '/'.join('d' * 200 for _ in range(15)))\n\
         while True: os.mkdir('d'); os.chdir('d')",
    ] {
        fs_err::write(&script, text).unwrap();
        let run = world.ken([
            "--set",
            "extract.max_member_bytes=1048576",
            "extract",
            "docs/x.evil",
        ]);
        assert!(
            run.err.contains("max_member_bytes") || run.text().contains("max_member_bytes"),
            "{text}: {} {}",
            run.text(),
            run.err
        );
        assert_eq!(
            fs_err::read_dir(world.data().join("tmp")).unwrap().count(),
            0
        );
    }
}

/// Indexes `docs` on a kernel that seems to lack a system call.
fn without(call: &str, world: &World) -> Run {
    let (trace, inject) = (
        format!("trace={call}"),
        format!("inject={call}:error=ENOSYS"),
    );
    world.traced(&["-e", &trace, "-e", &inject], &["index", "docs"])
}

#[test]
fn a_sandbox_that_the_kernel_lacks_is_named_and_can_be_required() {
    let traced = Command::new("strace").args(["-f", "true"]).output();
    if !needs::met("ptrace", traced.is_ok_and(|output| output.status.success()))
        || !needs::met("views", has_views())
    {
        return;
    }
    let harmless = "print('okapi')";
    for (call, part, is_required) in [
        ("landlock_create_ruleset", "Landlock", false),
        ("landlock_create_ruleset", "Landlock", true),
        ("unshare", "user namespaces", false),
        ("unshare", "user namespaces", true),
    ] {
        let (settings, found, said) = match is_required {
            false => ("", 1, "helpers ran without"),
            true => ("sandbox = \"require\"", 0, "no helper ran"),
        };
        let world = evil(settings);
        fs_err::write(world.home().join("evil.py"), harmless).unwrap();
        let run = without(call, &world);
        let said = format!("this system lacks {part}: {said}");
        assert!(run.err.contains(&said), "{}", run.err);
        assert_eq!(world.found("okapi").len(), found);
        let here = world.ken(["index", "--retry-failed"]);
        assert!(!here.err.contains("lacks"), "{}", here.err);
        assert_eq!(world.found("okapi").len(), 1);
    }
    let wrong = evil("sandbox = \"perhaps\"").ken(["index", "docs"]);
    assert!(
        wrong.err.contains("expected true, false or"),
        "{}",
        wrong.err
    );
}
