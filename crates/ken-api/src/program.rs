//! Runs ken's own commands, for what only the command line knows how to do.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The program, and how it is told which index and settings it works with.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of ken.
    pub path: PathBuf,
    /// The arguments before a command.
    pub arguments: Vec<OsString>,
}

/// The largest output that is read as a whole.
const MAX_OUTPUT: u64 = 64 << 20;
/// The most that is kept of the errors of a command.
const MAX_ERRORS: u64 = 64 << 10;

/// Bytes of output that are handed on at once.
const PIECE: usize = 16 << 10;
/// The longest line that is handed on, in bytes; a file without line ends is a line. Longer ones are passed over.
const MAX_LINE: usize = 16 << 20;
/// How often it is looked whether the client is gone.
const TICK: Duration = Duration::from_millis(20);

/// Takes what a command prints line by line.
pub trait TakeLine {
    /// Takes a line with its end, if it has one.
    ///
    /// # Errors
    /// The command is stopped then.
    fn take(&mut self, line: &[u8]) -> io::Result<()>;

    /// Is told of a line that is too long, and not taken.
    fn pass_over(&mut self) {}

    /// Hands on what was taken: the command has printed no more for now.
    ///
    /// # Errors
    /// The command is stopped then.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How a command ended.
pub struct Ended {
    /// The exit code; 2 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub output: Vec<u8>,
    /// What it wrote to standard error.
    pub errors: String,
}

impl Program {
    /// Returns a command with these arguments.
    fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// Fails if the command cannot be started or read.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<Ended> {
        let mut output = Vec::new();
        let (code, errors) = self.read(arguments, &|| false, &mut |from| {
            from.take(MAX_OUTPUT).read_to_end(&mut output).map(drop)
        })?;
        Ok(Ended {
            code,
            output,
            errors,
        })
    }

    /// Writes the output of a command as it comes, and returns how it ended. The command is stopped if writing fails, or
    /// when nobody waits for it any more.
    ///
    /// # Errors
    /// Fails if the command cannot be started, or if writing fails.
    pub fn write<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        is_gone: &(dyn Fn() -> bool + Sync),
        to: &mut dyn Write,
    ) -> io::Result<(i32, String)> {
        self.read(arguments, is_gone, &mut |from| {
            let mut piece = vec![0; PIECE];
            loop {
                match from.read(&mut piece)? {
                    0 => return Ok(()),
                    n_bytes => to.write_all(&piece[..n_bytes])?,
                }
                to.flush()?;
            }
        })
    }

    /// Hands the output of a command to `to` line by line as it comes, and returns how it ended, as [`Program::write`] does.
    ///
    /// # Errors
    /// Fails if the command cannot be started, or as `to` does.
    pub fn write_lines<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        is_gone: &(dyn Fn() -> bool + Sync),
        to: &mut dyn TakeLine,
    ) -> io::Result<(i32, String)> {
        self.read(arguments, is_gone, &mut |from| lines(from, to))
    }

    /// Hands the output of a command to `take`, and returns the exit code (2 if a signal ended it) and the errors. The
    /// command is stopped if `take` fails, or when nobody waits for it any more.
    ///
    /// # Errors
    /// Fails if the command cannot be started, or as `take` does.
    pub fn read<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        is_gone: &(dyn Fn() -> bool + Sync),
        take: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
    ) -> io::Result<(i32, String)> {
        let mut running = Running(self.command(arguments).spawn()?);
        let errors = running.0.stderr.take();
        // Otherwise a command with many errors would wait for ever.
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut errors) = errors {
                let _ = errors.by_ref().take(MAX_ERRORS).read_to_end(&mut text);
                let _ = io::copy(&mut errors, &mut io::sink());
            }
            String::from_utf8_lossy(&text).trim().to_owned()
        });
        if let Some(mut output) = running.0.stdout.take() {
            let child = Mutex::new(&mut running.0);
            let is_over = AtomicBool::new(false);
            let taken = std::thread::scope(|scope| {
                let watch = scope.spawn(|| stop_if(is_gone, &is_over, &child));
                let taken = take(&mut output);
                is_over.store(true, Ordering::Relaxed);
                watch.thread().unpark();
                taken
            });
            taken?;
        }
        let status = running.0.wait()?;
        Ok((
            status.code().unwrap_or(2),
            errors.join().unwrap_or_default(),
        ))
    }
}

fn lines(from: &mut dyn Read, to: &mut dyn TakeLine) -> io::Result<()> {
    let mut from = BufReader::with_capacity(PIECE, from);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut from)
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return to.flush();
        }
        if line.len() == MAX_LINE && !line.ends_with(b"\n") {
            from.skip_until(b'\n')?;
            to.pass_over();
        } else {
            to.take(&line)?;
        }
        if !from.buffer().contains(&b'\n') {
            to.flush()?;
        }
    }
}

/// Stops a command when its client is gone, unless it is over before.
fn stop_if(is_gone: &dyn Fn() -> bool, is_over: &AtomicBool, child: &Mutex<&mut Child>) {
    while !is_over.load(Ordering::Relaxed) {
        if is_gone() {
            // It may have ended just now.
            let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
            return;
        }
        std::thread::park_timeout(TICK);
    }
}

/// A command that is stopped when nobody waits for it any more.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, most often.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Taken(Vec<Vec<u8>>, usize, usize);

    impl TakeLine for Taken {
        fn take(&mut self, line: &[u8]) -> io::Result<()> {
            self.0.push(line.to_vec());
            Ok(())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.1 += 1;
            Ok(())
        }

        fn pass_over(&mut self) {
            self.2 += 1;
        }
    }

    fn of_shell(script: &str) -> (io::Result<(i32, String)>, Taken) {
        let shell = Program {
            path: "/bin/sh".into(),
            arguments: vec!["-c".into()],
        };
        let mut taken = Taken::default();
        let ended = shell.write_lines([script], &|| false, &mut taken);
        (ended, taken)
    }

    #[test]
    fn lines_are_taken_whole_and_handed_on_before_the_command_ends() {
        let (ended, taken) = of_shell("printf 'a\\nb'; sleep 0.1; printf 'c\\n\\nd'; exit 1");
        assert_eq!(ended.unwrap().0, 1);
        assert_eq!(taken.0, [&b"a\n"[..], b"bc\n", b"\n", b"d"]);
        // After "a", before the pause, and at the end.
        assert!(taken.1 >= 3, "{}", taken.1);
    }

    #[test]
    fn a_very_long_line_is_passed_over() {
        let (ended, taken) = of_shell("yes | tr -d '\\n' | head -c 17000000; printf '\\nb\\n'");
        assert_eq!(ended.unwrap().0, 0);
        assert_eq!((&*taken.0, taken.2), (&[b"b\n".to_vec()][..], 1));
    }
}
