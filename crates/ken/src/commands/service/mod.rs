//! `ken service`: starts `ken serve` with the user's session, by systemd.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::json;

use crate::cli::{Global, ServiceArgs, ServiceCommand};
use crate::config::config_home;
use crate::failure::{Failure, Kind};
use crate::output;

/// The names of the units.
const UNITS: [&str; 2] = ["ken.socket", "ken.service"];
/// The variables that say where folders of the user are.
const FOLDERS: [&str; 4] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

pub(crate) fn run(global: &Global, args: &ServiceArgs) -> Result<ExitCode, Failure> {
    match args.command {
        ServiceCommand::Install { print: true, .. } => {
            for (name, text) in units(global)? {
                output::print(format!("# {name}\n{text}\n").as_bytes())?;
            }
            Ok(ExitCode::SUCCESS)
        }
        ServiceCommand::Install { no_start, .. } => install(global, !no_start),
        ServiceCommand::Remove => remove(),
        ServiceCommand::Status { json } => status(json),
    }
}

fn install(global: &Global, starts: bool) -> Result<ExitCode, Failure> {
    let mut folder = folder()?;
    match packaged().filter(|_| is_usual(global)) {
        Some(packaged) => {
            // They would hide those of the package.
            remove_units(&folder)?;
            folder = packaged;
        }
        None => {
            fs_err::create_dir_all(&folder)?;
            for (name, text) in units(global)? {
                // Settings of the command line may be secret.
                ken_private::write(&folder.join(name), text.as_bytes())?;
            }
        }
    }
    systemctl(&["daemon-reload"])?;
    systemctl(&[&["enable"][..], &UNITS].concat())?;
    if starts {
        // One that ran before has the old program.
        systemctl(&[&["restart"][..], &UNITS].concat())?;
    }
    let shown = folder.display().to_string();
    let text = match starts {
        true => "ken serve is running, and starts at each login",
        false => "ken serve starts at the next login",
    };
    let text = format!("{text}; its units are in {}\n", output::clean(&shown));
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn remove() -> Result<ExitCode, Failure> {
    let folder = folder()?;
    let is_there = UNITS.iter().any(|name| folder.join(name).is_file());
    if !is_there && packaged().is_none() {
        output::warn("the service is not installed");
        return Ok(ExitCode::from(1));
    }
    // Without systemd the units go all the same.
    let stopped = systemctl(&[&["disable", "--now"][..], &UNITS].concat());
    remove_units(&folder)?;
    let reloaded = stopped.and_then(|()| systemctl(&["daemon-reload"]));
    reloaded.map_err(|failure| {
        failure.hint("the units are removed; a ken serve that runs ends at the end of the session")
    })?;
    Ok(ExitCode::SUCCESS)
}

fn remove_units(folder: &Path) -> Result<(), Failure> {
    for name in UNITS {
        match fs_err::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Prints whether the service is installed and runs; ends with 1 if it does not run.
fn status(as_json: bool) -> Result<ExitCode, Failure> {
    let own = folder()?;
    let folder = match packaged() {
        Some(packaged) if !own.join("ken.service").is_file() => packaged,
        _ => own,
    };
    let is_installed = folder.join("ken.service").is_file();
    let state = state_of("is-active");
    let starts = state_of("is-enabled");
    let is_active = state.as_deref() == Some("active");
    if as_json {
        let object = json!({
            "v": output::SCHEMA,
            "installed": is_installed,
            "active": state,
            "enabled": starts,
            "units": folder.to_string_lossy(),
        });
        output::print(&output::json_line(&object))?;
    } else {
        let shown = folder.display().to_string();
        let installed = match is_installed {
            true => format!("yes, in {}", output::clean(&shown)),
            false => "no (ken service install)".to_owned(),
        };
        let word = |state: Option<String>| {
            state.unwrap_or_else(|| "unknown: systemd does not answer".to_owned())
        };
        let (state, starts) = (word(state), word(starts));
        let text = format!("installed  {installed}\nactive     {state}\nat login   {starts}\n");
        output::print(text.as_bytes())?;
    }
    Ok(ExitCode::from(u8::from(!is_active)))
}

/// Returns what systemd says of the service in a word.
fn state_of(question: &str) -> Option<String> {
    let output = Command::new("systemctl")
        .args(["--user", question, "ken.service"])
        .output()
        .ok()?;
    let word = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let is_word = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_word.then_some(word)
}

fn systemctl(arguments: &[&str]) -> Result<(), Failure> {
    let hint = "without systemd, start ken serve in another way, such as from the session's autostart or cron's @reboot";
    let output = Command::new("systemctl")
        .arg("--user")
        .args(arguments)
        .output();
    let output = output
        .map_err(|error| Failure::new(Kind::Input, format!("systemctl: {error}")).hint(hint))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let command = arguments.join(" ");
    let message = format!("systemctl --user {command}: {}", output::clean(&said));
    Err(Failure::new(Kind::Input, message).hint(hint))
}

/// Returns the folder of the user's own units.
fn folder() -> Result<PathBuf, Failure> {
    let config = config_home().ok_or_else(|| {
        Failure::new(
            Kind::Usage,
            "there is no home folder to keep the units in".to_owned(),
        )
    })?;
    Ok(config.join("systemd/user"))
}

/// Returns the folder of the units that came with this program, if it is that of a package: `lib/systemd/user` beside the
/// folder `bin` of the program.
fn packaged() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.parent()?.join("lib/systemd/user");
    folder.join("ken.service").is_file().then_some(folder)
}

/// Returns whether the command line and the environment say nothing that the units of a package lack.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn is_usual(global: &Global) -> bool {
    global.data.is_none()
        && global.config.is_none()
        && global.set.is_empty()
        && FOLDERS.iter().all(|name| std::env::var_os(name).is_none())
}

/// Returns the units, each with its name.
fn units(global: &Global) -> Result<[(&'static str, String); 2], Failure> {
    let program = std::env::current_exe()?;
    let mut command = argument(program.as_os_str())?;
    let options = [("--data", &global.data), ("--config", &global.config)];
    for (option, path) in options {
        if let Some(path) = path {
            let path = std::path::absolute(path)?;
            command.push_str(&format!(" {option} {}", argument(path.as_os_str())?));
        }
    }
    for set in &global.set {
        command.push_str(&format!(" --set {}", argument(OsStr::new(set))?));
    }
    let environment = environment()?;
    let socket = include_str!("ken.socket").to_owned();
    let service = include_str!("ken.service")
        .replace("@COMMAND@", &command)
        .replace("@ENVIRONMENT@\n", &environment);
    Ok([(UNITS[0], socket), (UNITS[1], service)])
}

/// Returns lines that give the service the variables that ken reads, which systemd does not take from a shell.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn environment() -> Result<String, Failure> {
    let mut lines = String::new();
    for name in ["PATH"].iter().chain(&FOLDERS) {
        if let Some(value) = std::env::var_os(name) {
            let mut assignment = std::ffi::OsString::from(format!("{name}="));
            assignment.push(value);
            lines.push_str(&format!("Environment={}\n", quoted(&assignment)?));
        }
    }
    Ok(lines)
}

/// Returns an argument of a command as a unit writes it (systemd.service(5)): `$` begins a variable there.
fn argument(argument: &OsStr) -> Result<String, Failure> {
    Ok(quoted(argument)?.replace('$', "$$"))
}

/// Returns a value as a unit writes it (systemd.syntax(7), systemd.unit(5)).
fn quoted(argument: &OsStr) -> Result<String, Failure> {
    let text = argument
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    let Some(text) = text else {
        let shown = Path::new(argument).display();
        let message = format!("\"{shown}\" cannot be written into a unit of systemd");
        return Err(Failure::new(Kind::Usage, message));
    };
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.extend([c, c]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_as_systemd_reads_them() {
        for (argument, expected) in [
            ("/usr/bin/ken", r#""/usr/bin/ken""#),
            ("/home/an na/100%", r#""/home/an na/100%%""#),
            (r#"a"b\c$d"#, r#""a\"b\\c$$d""#),
        ] {
            assert_eq!(super::argument(OsStr::new(argument)).unwrap(), expected);
        }
        assert!(quoted(OsStr::new("a\nb")).is_err());
    }
}
