//! `ken completions`, `ken man` and the pages of `ken help TOPIC`, generated from the definition of the command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs, TopicArgs};
use crate::commands::grep::flags;
use crate::failure::{Failure, Kind};
use crate::manual::{self, TOPICS, Topic};

/// Describes the command line, including what clap cannot parse.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("grep", |command| flags::describe(&command))
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    #[cfg(feature = "tui")]
    if args.keys {
        return keys(args.shell);
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "ken", &mut script);
    crate::output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the key binding for a shell.
#[cfg(feature = "tui")]
fn keys(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    use clap_complete::Shell;
    let script = match shell {
        Shell::Bash => include_str!("keys/bash.sh"),
        Shell::Zsh => include_str!("keys/zsh.sh"),
        Shell::Fish => include_str!("keys/fish.fish"),
        _ => {
            let message = format!("there is no key binding for {shell}");
            return Err(Failure::new(Kind::Usage, message).hint("bash, zsh and fish have one"));
        }
    };
    crate::output::print(script.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    fs_err::create_dir_all(&args.folder)?;
    let mut command = command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, "ken", &args.folder)?;
    for (section, name, page) in TOPICS.iter().map(Topic::man_page) {
        let folder = folder_of(section, &args.folder);
        fs_err::create_dir_all(&folder)?;
        fs_err::write(folder.join(name), page)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and of its subcommands.
fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> Result<(), Failure> {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        write_pages(below, &format!("{name} {}", below.get_name()), folder)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    page.extend(manual::sections(command, name).into_bytes());
    fs_err::write(folder.join(man.get_filename()), page)?;
    Ok(())
}

/// Returns the folder of another section of the manual: next to a folder called `man1`, else the same folder.
fn folder_of(section: u8, commands: &Path) -> PathBuf {
    match commands.file_name() == Some("man1".as_ref()) {
        true => commands.with_file_name(format!("man{section}")),
        false => commands.to_owned(),
    }
}

/// Prints a page of reference.
pub(crate) fn topic(args: &TopicArgs) -> Result<ExitCode, Failure> {
    let topic = manual::topic(&args.name).ok_or_else(|| {
        let message = format!("there is no page \"{}\"", args.name);
        let names: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
        Failure::new(Kind::Usage, message).hint(&format!("one of {}", names.join(", ")))
    })?;
    crate::output::print(manual::plain(topic).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
