//! What a program does to the files below a folder, in order, as `strace` sees it.
//!
//! The program is the one that users run. `strace` sees everything that it does, so the program needs no code for
//! this.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The system calls that are of interest.
const CALLS: &str = "trace=openat,write,writev,pwrite64,pwritev,lseek,rename,renameat,renameat2,unlink,\
    unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,fsync,fdatasync,sync_file_range,ftruncate,truncate,\
    fallocate,copy_file_range,sendfile";

/// An open file. Writes through it go to the file that was opened, even if it has another name later.
pub(super) type Handle = usize;

/// One successful change of files or folders, or one successful sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Opens a file for reading or writing; creates it if the flags say so and it is missing.
    Open {
        path: PathBuf,
        handle: Handle,
        makes: bool,
        empties: bool,
    },
    Write {
        handle: Handle,
        at: usize,
        bytes: Vec<u8>,
    },
    /// Truncates a file, or extends it with zeros.
    Resize {
        handle: Handle,
        length: usize,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    Sync {
        handle: Handle,
    },
}

/// Returns whether this machine can trace programs.
pub(super) fn is_possible() -> bool {
    let run = Command::new("strace").args(["-f", "true"]).output();
    run.is_ok_and(|output| output.status.success())
}

/// Runs a command to its end and returns what it did below a folder.
pub(super) fn run(command: &Command, below: &Path) -> (Output, Vec<Step>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new("strace");
    traced
        .args([
            "-f",
            "-y",
            "-xx",
            "-s",
            "1000000000",
            "-e",
            CALLS,
            "-e",
            "signal=none",
            "-o",
        ])
        .arg(log.path())
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(command.get_current_dir().unwrap());
    let output = traced.output().unwrap();
    let text = fs_err::read_to_string(log.path()).unwrap();
    (output, Reader::new(below).steps(&text))
}

/// A system call as `strace` prints it.
struct Call<'l> {
    name: &'l str,
    arguments: Vec<&'l str>,
    result: &'l str,
}

impl<'l> Call<'l> {
    /// Reads `name(arguments) = result`; nothing if the call failed.
    fn read(line: &'l str) -> Option<Self> {
        let (call, result) = line.rsplit_once(" = ")?;
        let (name, rest) = call.split_once('(')?;
        let inside = rest.trim_end().strip_suffix(')')?;
        (!result.starts_with('-') && !result.starts_with('?')).then(|| Self {
            name,
            // Texts and paths are printed as hexadecimal numbers, so they contain no comma.
            arguments: inside.split(", ").collect(),
            result,
        })
    }

    /// Returns the number that a result or an argument begins with.
    fn number(text: &str) -> usize {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        text[..end]
            .parse()
            .unwrap_or_else(|_| panic!("no number: {text}"))
    }

    /// Returns the path that an argument names: relative to the folder in the argument before, if any.
    fn path(&self, at: usize) -> PathBuf {
        let own = path(&unquoted(self.arguments[at]));
        match at.checked_sub(1) {
            Some(before) if own.is_relative() => of_handle(self.arguments[before]).join(own),
            _ => own,
        }
    }
}

/// Returns the bytes of `"\x41…"`.
fn unquoted(argument: &str) -> Vec<u8> {
    let inside = argument
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let inside = inside.unwrap_or_else(|| panic!("no text: {argument}"));
    let mut bytes = Vec::with_capacity(inside.len() / 4);
    for number in inside.split("\\x").skip(1) {
        bytes.push(u8::from_str_radix(number, 16).unwrap());
    }
    assert_eq!(bytes.len() * 4, inside.len(), "strace printed it otherwise");
    bytes
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Returns the path of `5</some/file>`, which is printed as text or as numbers.
fn of_handle(argument: &str) -> PathBuf {
    let inside = argument
        .split_once('<')
        .and_then(|(_, rest)| rest.rsplit_once('>'));
    let inside = inside.map_or("", |(inside, _)| inside);
    match inside.starts_with("\\x") {
        true => path(&unquoted(&format!("\"{inside}\""))),
        false => PathBuf::from(inside),
    }
}

/// Reads the lines of a trace.
struct Reader<'b> {
    below: &'b Path,
    /// The open file of each descriptor, and the offset of the next bytes.
    open: HashMap<usize, (Handle, usize)>,
    next: Handle,
    steps: Vec<Step>,
}

impl<'b> Reader<'b> {
    fn new(below: &'b Path) -> Self {
        Self {
            below,
            open: HashMap::new(),
            next: 0,
            steps: Vec::new(),
        }
    }

    fn steps(mut self, text: &str) -> Vec<Step> {
        // Unfinished calls by process: the call of another thread came between.
        let mut begun: HashMap<&str, &str> = HashMap::new();
        for line in text.lines() {
            let (process, line) = line.split_once(' ').unwrap();
            let line = line.trim_start();
            if let Some(start) = line.strip_suffix(" <unfinished ...>") {
                begun.insert(process, start);
            } else if let Some((_, end)) = line.split_once(" resumed>") {
                let whole = format!("{}{end}", begun.remove(process).unwrap());
                self.take(&whole);
            } else {
                self.take(line);
            }
        }
        self.steps
    }

    /// This includes the parent of the folder of interest, which holds its name.
    fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(self.below) || self.below.parent() == Some(path)
    }

    fn take(&mut self, line: &str) {
        let Some(call) = Call::read(line) else {
            return;
        };
        match call.name {
            "openat" => self.open(&call),
            "rename" => self.rename(call.path(0), call.path(1)),
            "renameat" | "renameat2" => self.rename(call.path(1), call.path(3)),
            "unlink" | "rmdir" => self.remove(call.path(0)),
            "unlinkat" => self.remove(call.path(1)),
            "mkdir" => self.make_folder(call.path(0)),
            "mkdirat" => self.make_folder(call.path(1)),
            "link" | "symlink" | "truncate" => assert!(!self.is_ours(&call.path(0)), "{line}"),
            "linkat" => assert!(!self.is_ours(&call.path(1)), "{line}"),
            _ => self.on_handle(&call),
        }
    }

    fn open(&mut self, call: &Call<'_>) {
        let path = call.path(1);
        if !self.is_ours(&path) {
            return;
        }
        let flags = call.arguments[2];
        assert!(
            !flags.contains("O_APPEND") && !flags.contains("O_TMPFILE"),
            "{flags}"
        );
        let handle = self.next;
        self.next += 1;
        self.open.insert(Call::number(call.result), (handle, 0));
        self.steps.push(Step::Open {
            path,
            handle,
            makes: flags.contains("O_CREAT"),
            empties: flags.contains("O_TRUNC"),
        });
    }

    fn rename(&mut self, from: PathBuf, to: PathBuf) {
        assert_eq!(self.is_ours(&from), self.is_ours(&to));
        if self.is_ours(&from) {
            self.steps.push(Step::Rename { from, to });
        }
    }

    fn remove(&mut self, path: PathBuf) {
        if self.is_ours(&path) {
            self.steps.push(Step::Remove { path });
        }
    }

    fn make_folder(&mut self, path: PathBuf) {
        if self.is_ours(&path) {
            self.steps.push(Step::MakeFolder { path });
        }
    }

    /// Takes a call on an open file.
    fn on_handle(&mut self, call: &Call<'_>) {
        if !self.is_ours(&of_handle(call.arguments[0])) {
            return;
        }
        let (handle, at) = self.open.get_mut(&Call::number(call.arguments[0])).unwrap();
        let handle = *handle;
        let step = match call.name {
            "lseek" => {
                *at = Call::number(call.result);
                return;
            }
            "write" => {
                let mut bytes = unquoted(call.arguments[1]);
                bytes.truncate(Call::number(call.result));
                *at += bytes.len();
                let at = *at - bytes.len();
                Step::Write { handle, at, bytes }
            }
            "fsync" | "fdatasync" => Step::Sync { handle },
            "ftruncate" => Step::Resize {
                handle,
                length: Call::number(call.arguments[1]),
            },
            other => panic!("what {other} writes is not known here"),
        };
        self.steps.push(step);
    }
}
