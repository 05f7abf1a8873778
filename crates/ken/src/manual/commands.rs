//! The last sections of each command's man page: exit status, files, examples, and other pages.

use super::{TOPICS, roff};

/// Example command lines by command, each with an explanation.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "ken",
        &[
            ("ken index ~/Documents ~/Mail", "Index two folders."),
            ("ken search budget 2026", "Find documents with both words."),
            ("ken help query", "Show the query language."),
        ],
    ),
    (
        "ken index",
        &[
            (
                "ken index ~/Documents",
                "Add a folder, and read everything that changed below all folders.",
            ),
            ("ken index", "Bring the index up to date."),
            (
                "ken index --forget ~/old",
                "Remove a folder from the index.",
            ),
            (
                "ken index --ocr --set ocr.languages=eng+deu",
                "Read the text of pictures and scanned pages, too.",
            ),
        ],
    ),
    (
        "ken search",
        &[
            ("ken search budget 2026", "Find documents with both words."),
            (
                "ken search '\"annual report\" -draft'",
                "Find a phrase in documents without a word.",
            ),
            (
                "ken search author:knuth ext:pdf --sort date",
                "Order the PDFs of one author by date.",
            ),
            (
                "ken search -l0 otter | xargs -0 ls -l",
                "Hand the files on to another program.",
            ),
        ],
    ),
    (
        "ken config",
        &[
            (
                "ken config list --changed",
                "List the settings that are not the default.",
            ),
            (
                "ken config set ocr.enabled true",
                "Read the text of pictures and scanned pages, too.",
            ),
            (
                "ken config check",
                "Check all settings, and the files and programs that they name.",
            ),
        ],
    ),
    (
        "ken config list",
        &[
            (
                "ken config list ocr",
                "List the settings of reading text in pictures.",
            ),
            (
                "ken config list --changed",
                "List the settings that are not the default.",
            ),
        ],
    ),
    (
        "ken config get",
        &[("ken config get memory", "Print the value of a setting.")],
    ),
    (
        "ken config set",
        &[
            ("ken config set memory 2G", "Set the memory for indexing."),
            (
                "ken config set mail.addresses '[\"anna@example.org\"]'",
                "Set a list.",
            ),
        ],
    ),
    (
        "ken config unset",
        &[("ken config unset memory", "Have the default again.")],
    ),
    (
        "ken config check",
        &[(
            "ken config check",
            "Check all settings, and the files and programs that they name.",
        )],
    ),
    (
        "ken exclude",
        &[
            (
                "ken exclude ~/Downloads/videos",
                "Leave a folder out of the index.",
            ),
            ("ken exclude", "List what is left out."),
        ],
    ),
    (
        "ken grep",
        &[
            (
                "ken grep -i 'invoice no' ~/Documents",
                "Print the lines that match.",
            ),
            (
                "ken grep --documents 'total: [0-9]+'",
                "Search the text of PDFs, office files and mail, too.",
            ),
        ],
    ),
    (
        "ken show",
        &[
            ("ken show 1", "Read the first hit of the last list."),
            (
                "ken show --page 3-5 report.pdf",
                "Read some pages of a document.",
            ),
            (
                "ken show --around termination --budget 2000 lease.pdf",
                "Read what a contract says of something, in few bytes.",
            ),
        ],
    ),
    (
        "ken open",
        &[
            ("ken open 1", "Open the first hit of the last list."),
            ("ken open --folder 1", "Open its folder."),
            (
                "ken open --with evince report.pdf",
                "Open a document with a program.",
            ),
        ],
    ),
    (
        "ken mail",
        &[
            ("ken mail list is:unread", "List unread messages."),
            ("ken mail show from:anna subject:survey", "Read messages."),
        ],
    ),
    (
        "ken mail show",
        &[(
            "ken mail show --thread subject:survey",
            "Show whole threads.",
        )],
    ),
    (
        "ken mail list",
        &[(
            "ken mail list -n 20 from:anna date:2026-03",
            "List messages of a month.",
        )],
    ),
    (
        "ken mail threads",
        &[(
            "ken mail threads --tree subject:survey",
            "Draw threads with their messages.",
        )],
    ),
    (
        "ken tag",
        &[
            (
                "ken tag +tax dir:receipts date:2026",
                "Tag documents; ken search tag:tax finds them.",
            ),
            (
                "ken tag -tax 3",
                "Remove a tag from the third hit of the last list.",
            ),
            ("ken tag --list", "List all tags."),
        ],
    ),
    (
        "ken mail tag",
        &[
            (
                "ken mail tag +todo -inbox from:anna is:unread",
                "Change the tags of messages.",
            ),
            ("ken mail tag --list", "List all tags."),
        ],
    ),
    (
        "ken mail contacts",
        &[(
            "ken mail contacts --format csv anna",
            "Write people as a table.",
        )],
    ),
    (
        "ken mail save",
        &[(
            "ken mail save --to ~/invoices --name '[.]pdf$' subject:invoice",
            "Save attachments.",
        )],
    ),
    (
        "ken mail verify",
        &[(
            "ken mail verify from:anna",
            "Check the signatures of messages.",
        )],
    ),
    (
        "ken terms",
        &[
            ("ken terms ott", "List the terms that begin so."),
            (
                "ken terms -f author --sort documents",
                "List the most frequent words of a field.",
            ),
        ],
    ),
    (
        "ken recollq",
        &[("ken recollq -n 5 -t budget", "Answer as recollq does.")],
    ),
    ("ken ag", &[("ken ag -l otter", "Answer as ag does.")]),
    ("ken mu", &[("ken mu find from:anna", "Answer as mu does.")]),
    (
        "ken serve",
        &[("ken serve", "Keep the index up to date until Ctrl-C.")],
    ),
    (
        "ken mcp",
        &[
            (
                "ken mcp --install claude",
                "Print what makes Claude Code start the server.",
            ),
            (
                "ken mcp --in ~/Documents --mail",
                "Answer an agent about a folder, with mail.",
            ),
        ],
    ),
    (
        "ken web",
        &[
            ("ken web", "Open the page of ken serve in a browser."),
            ("ken web budget 2026", "Open it with this search."),
            ("ken web --print", "Print its address with the token."),
        ],
    ),
    (
        "ken tui",
        &[
            ("ken tui", "Search on the whole terminal."),
            (
                "ken tui --choose invoice | xargs -d '\\n' ls -l",
                "Choose files that have a word, and list them.",
            ),
        ],
    ),
    (
        "ken rg",
        &[("ken rg -n TODO src", "Search as ripgrep does.")],
    ),
    (
        "ken service",
        &[
            (
                "ken service install",
                "Start ken serve now and with each login.",
            ),
            ("ken service status", "Show whether it runs."),
        ],
    ),
    (
        "ken service install",
        &[
            (
                "ken service install",
                "Start ken serve now and with each login.",
            ),
            ("ken service install --print", "Show the units of systemd."),
        ],
    ),
    (
        "ken service remove",
        &[(
            "ken service remove",
            "Stop ken serve, and remove its units.",
        )],
    ),
    (
        "ken service status",
        &[("ken service status", "Show whether ken serve runs.")],
    ),
    (
        "ken status",
        &[
            ("ken status", "Show what is indexed."),
            ("ken status --failed", "List files that could not be read."),
            (
                "ken status --why report.pdf",
                "Show what is known of a file.",
            ),
        ],
    ),
    (
        "ken check",
        &[(
            "ken check --repair",
            "Verify the index, and repair what is damaged.",
        )],
    ),
    (
        "ken extract",
        &[("ken extract report.pdf", "Print the text of a file.")],
    ),
    (
        "ken walk",
        &[(
            "ken walk --explain ~/Documents",
            "Show why paths are left out.",
        )],
    ),
    (
        "ken completions",
        &[(
            "ken completions bash > ~/.local/share/bash-completion/completions/ken",
            "Complete ken in Bash.",
        )],
    ),
    (
        "ken man",
        &[("ken man ~/.local/share/man/man1", "Install the man pages.")],
    ),
];

/// Commands that exit with 1 if there is nothing to show.
const SHOWS: [&str; 11] = [
    "ken tag",
    "ken search",
    "ken grep",
    "ken terms",
    "ken walk",
    "ken status",
    "ken mail list",
    "ken mail threads",
    "ken mail show",
    "ken mail contacts",
    "ken mail tag",
];

/// Returns the sections for a command with its full name, such as `ken mail list`.
pub(crate) fn sections(command: &clap::Command, name: &str) -> String {
    let mut out = roff::section("exit status");
    for (code, meaning) in exit_codes(name) {
        out.push_str(&roff::entry(code, meaning));
    }
    out.push_str(&roff::section("files"));
    out.push_str(&roff::entry(
        "~/.config/ken/config.toml",
        "Settings; see `ken-config(5)`.",
    ));
    out.push_str(&roff::entry(
        "~/.local/share/ken/",
        "The index, tags, and recognised text of pictures.",
    ));
    out.push_str(&roff::section("examples"));
    for (typed, explanation) in examples(name) {
        out.push_str(&roff::entry(&format!("`{typed}`"), explanation));
    }
    out + &roff::see_also(&references(command, name))
}

fn examples(name: &str) -> &'static [(&'static str, &'static str)] {
    let found = EXAMPLES.iter().find(|(command, _)| *command == name);
    found.map_or(&[], |(_, examples)| examples)
}

fn exit_codes(name: &str) -> Vec<(&'static str, &'static str)> {
    if ["ken recollq", "ken ag", "ken mu"].contains(&name) {
        return vec![("", "As the program whose place the command takes.")];
    }
    let mut codes = vec![("0", "The command is done.")];
    if SHOWS.contains(&name) {
        codes.push(("1", "There is nothing to show."));
    }
    if name == "ken check" {
        codes.push((
            "1",
            "Something is damaged, or has changed since the last run.",
        ));
    }
    codes.push(("2", "An error, which is on standard error."));
    if name == "ken index" {
        codes.push((
            "130",
            "The run was interrupted; what was done is committed.",
        ));
    }
    codes
}

/// Returns the pages related to a command: those above and below it, and those of its input and output.
fn references(command: &clap::Command, name: &str) -> Vec<String> {
    let page = |name: &str| format!("{}(1)", name.replace(' ', "-"));
    let mut references: Vec<_> = name
        .rsplit_once(' ')
        .iter()
        .map(|(above, _)| page(above))
        .collect();
    if references.first().is_some_and(|above| above != "ken(1)") {
        references.insert(0, "ken(1)".to_owned());
    }
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    references.extend(below.map(|below| page(&format!("{name} {}", below.get_name()))));
    let takes = |wanted: &str| {
        command
            .get_arguments()
            .any(|argument| argument.get_id() == wanted)
    };
    for topic in &TOPICS {
        let belongs = match topic.name {
            "config" => true,
            argument => name == "ken" || takes(argument),
        };
        if belongs {
            references.push(topic.reference());
        }
    }
    references
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn names(command: &clap::Command, name: &str, all: &mut Vec<String>) {
        all.push(name.to_owned());
        for below in command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
        {
            names(below, &format!("{name} {}", below.get_name()), all);
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let mut all = Vec::new();
        names(&command, "ken", &mut all);
        let known: Vec<_> = EXAMPLES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        let (mut expected, mut found) = (all.clone(), known);
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        assert!(SHOWS.iter().all(|name| all.contains(&(*name).to_owned())));
        for (name, examples) in EXAMPLES {
            for (typed, _) in *examples {
                let typed = typed.split(['|', '>']).next().unwrap_or_default();
                assert!(typed.starts_with(name), "{typed}");
                let words = typed.replace(['\'', '"'], "");
                let words = words.split_whitespace().map(OsString::from);
                assert!(Cli::read(words).is_ok(), "{typed}");
            }
        }
    }
}
