//! A pseudo-terminal for the commands of tests.

use std::process::Output;

use crate::world::World;

/// Runs a program on a terminal of so many columns and prints what the terminal gets.
const SCRIPT: &str = "
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        got = os.read(terminal, 65536)
    except OSError:
        break
    os.write(1, got)
os.waitpid(pid, 0)
";

/// Runs a command on a terminal of so many columns. Standard output of the result is what the terminal got.
pub(crate) fn on_a_terminal(
    world: &World,
    columns: usize,
    environment: &[(&str, &str)],
    command: &[&str],
) -> Output {
    let mut python = world.around("python3");
    python.envs(environment.iter().copied());
    python.args(["-c", SCRIPT, &columns.to_string()]);
    let output = python.args(command).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
