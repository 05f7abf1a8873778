//! Flags that choose the files to search.

use ken_grep::walk::TypeChange;
use ken_grep::worker::Binary;

use super::Flag;
use super::values::{number, path, size, text};
use crate::commands::grep::typed::{Action, Typed};

pub(super) const FLAGS: &[Flag] = &[
    Flag::value(
        "glob",
        "GLOB",
        "Search only files that match this glob; with ! before it, only files that do not",
        |typed, value| {
            typed.globs.push(text(value)?.to_owned());
            Ok(())
        },
    )
    .short('g'),
    Flag::value("iglob", "GLOB", "As -g, in any case", |typed, value| {
        typed.iglobs.push(text(value)?.to_owned());
        Ok(())
    }),
    Flag::switch(
        "glob-case-insensitive",
        "Match the globs of -g without regard to case",
        |typed, yes| {
            typed.globs_any_case = yes;
            Ok(())
        },
    )
    .negation("no-glob-case-insensitive"),
    Flag::value(
        "type",
        "TYPE",
        "Search only files of this type; all stands for every type",
        |typed, value| {
            let name = text(value)?.to_owned();
            typed.types.push(TypeChange::Select(name));
            Ok(())
        },
    )
    .short('t'),
    Flag::value(
        "type-not",
        "TYPE",
        "Search no files of this type",
        |typed, value| {
            let name = text(value)?.to_owned();
            typed.types.push(TypeChange::Negate(name));
            Ok(())
        },
    )
    .short('T'),
    Flag::value(
        "type-add",
        "TYPESPEC",
        "Extend a type for this search: name:*.glob or name:include:other,another",
        |typed, value| {
            let definition = text(value)?.to_owned();
            typed.types.push(TypeChange::Add(definition));
            Ok(())
        },
    ),
    Flag::value(
        "type-clear",
        "TYPE",
        "Clear the definition of a type for this search",
        |typed, value| {
            let name = text(value)?.to_owned();
            typed.types.push(TypeChange::Clear(name));
            Ok(())
        },
    ),
    Flag::switch("type-list", "List the types", |typed, _| {
        typed.action = Action::Types;
        Ok(())
    }),
    Flag::switch(
        "files",
        "List the files that would be searched",
        |typed, _| {
            typed.action = Action::Files;
            Ok(())
        },
    ),
    Flag::switch("hidden", "Search hidden files too", |typed, yes| {
        typed.hidden = yes;
        Ok(())
    })
    .short('.')
    .negation("no-hidden"),
    Flag::switch(
        "binary",
        "Search binary files too, without printing their lines",
        |typed, yes| {
            typed.binary = if yes { Binary::Search } else { Binary::Usual };
            Ok(())
        },
    )
    .negation("no-binary"),
    Flag::switch("follow", "Follow symbolic links", |typed, yes| {
        typed.follow = yes;
        Ok(())
    })
    .short('L')
    .negation("no-follow"),
    Flag::switch(
        "no-ignore",
        "Respect no ignore files except those of --ignore-file",
        no_ignore,
    )
    .negation("ignore"),
    Flag::switch(
        "no-ignore-dot",
        "Do not respect .ignore and .rgignore",
        |typed, yes| {
            typed.no_ignore_dot = yes;
            Ok(())
        },
    )
    .negation("ignore-dot"),
    Flag::switch(
        "no-ignore-exclude",
        "Do not respect .git/info/exclude",
        |typed, yes| {
            typed.no_ignore_exclude = yes;
            Ok(())
        },
    )
    .negation("ignore-exclude"),
    Flag::switch(
        "no-ignore-files",
        "Do not respect the files of --ignore-file",
        |typed, yes| {
            typed.no_ignore_files = yes;
            Ok(())
        },
    )
    .negation("ignore-files"),
    Flag::switch(
        "no-ignore-global",
        "Do not respect git's global ignore file",
        |typed, yes| {
            typed.no_ignore_global = yes;
            Ok(())
        },
    )
    .negation("ignore-global"),
    Flag::switch(
        "no-ignore-parent",
        "Do not respect ignore files in parent folders",
        |typed, yes| {
            typed.no_ignore_parent = yes;
            Ok(())
        },
    )
    .negation("ignore-parent"),
    Flag::switch(
        "no-ignore-vcs",
        "Do not respect .gitignore and git's other ignore files",
        |typed, yes| {
            typed.no_ignore_vcs = yes;
            Ok(())
        },
    )
    .negation("ignore-vcs"),
    Flag::switch(
        "no-require-git",
        "Respect .gitignore outside of git repositories too",
        |typed, yes| {
            typed.no_require_git = yes;
            Ok(())
        },
    )
    .negation("require-git"),
    Flag::value(
        "ignore-file",
        "PATH",
        "Respect this ignore file too; ignore files found in folders take precedence",
        |typed, value| {
            typed.ignore_files.push(path(value)?);
            Ok(())
        },
    ),
    Flag::switch(
        "ignore-file-case-insensitive",
        "Match the rules of ignore files without regard to case",
        |typed, yes| {
            typed.ignore_files_any_case = yes;
            Ok(())
        },
    )
    .negation("no-ignore-file-case-insensitive"),
    Flag::value(
        "max-depth",
        "NUM",
        "Descend at most this many folders",
        |typed, value| {
            typed.max_depth = Some(number(value)?);
            Ok(())
        },
    )
    .short('d')
    .alias("maxdepth"),
    Flag::value(
        "max-filesize",
        "NUM+SUFFIX?",
        "Skip files larger than this: 500, 10K, 2M, 1G",
        |typed, value| {
            typed.max_filesize = Some(size(value)?);
            Ok(())
        },
    ),
    Flag::switch(
        "one-file-system",
        "Do not cross into other file systems",
        |typed, yes| {
            typed.one_file_system = yes;
            Ok(())
        },
    )
    .negation("no-one-file-system"),
    Flag::switch(
        "unrestricted",
        "Search more: -u is --no-ignore, -uu adds --hidden, -uuu adds --binary",
        |typed, _| {
            typed.unrestricted = typed.unrestricted.saturating_add(1);
            match typed.unrestricted {
                1 => no_ignore(typed, true)?,
                2 => typed.hidden = true,
                3 => typed.binary = Binary::Search,
                _ => return Err("flag can only be repeated up to 3 times".to_owned()),
            }
            Ok(())
        },
    )
    .short('u'),
];

fn no_ignore(typed: &mut Typed, yes: bool) -> Result<(), String> {
    typed.no_ignore_dot = yes;
    typed.no_ignore_exclude = yes;
    typed.no_ignore_global = yes;
    typed.no_ignore_parent = yes;
    typed.no_ignore_vcs = yes;
    Ok(())
}
