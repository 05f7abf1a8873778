//! How a helper reads one format: a row of Recoll's `mimeconf`, or a helper from the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::conf;

/// Placeholder in a command for the path of the file.
pub(super) const PATH: &str = "{path}";
/// Placeholder in a command for an empty folder that the helper may write into.
pub(super) const FOLDER: &str = "{folder}";

/// The user's own helper for some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomHelper {
    /// Name of the helper in messages.
    pub name: String,
    /// Extensions of the files that the helper reads, without the dot.
    pub extensions: Vec<String>,
    /// Media types of the files that the helper reads.
    pub media_types: Vec<String>,
    /// The program and its arguments. `{path}` stands for the file, `{folder}` for an empty folder;
    /// without `{path}`, the program gets the file on its standard input.
    pub command: Vec<String>,
    /// Media type of the output; if it is empty, the type is detected.
    pub output: String,
    /// Seconds that a file may take; `None` for the common limit.
    pub seconds: Option<u64>,
}

/// How ken communicates with a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One process for each file, which prints the text.
    Exec,
    /// One process for many files, which speaks Recoll's protocol.
    Execm,
    /// One process for each file, which writes the content into a folder and prints its name.
    Uncompress,
}

/// How a helper reads one format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Handler {
    /// The command's name for people: the first word of the row, or the name from the settings.
    pub(super) name: String,
    /// The media type by which the helper knows the files.
    pub(super) media_type: String,
    pub(super) method: Method,
    /// The program, if it was found.
    pub(super) program: Option<PathBuf>,
    /// Its arguments, with [`PATH`] and [`FOLDER`] in place.
    pub(super) arguments: Vec<String>,
    /// Media type of the output; `None` if it must be detected.
    pub(super) output: Option<String>,
    pub(super) charset: Option<String>,
    pub(super) max_time: Option<Duration>,
}

/// Where programs are looked up, in this order.
#[derive(Clone, Copy)]
pub(super) struct SearchPath<'p> {
    pub(super) filters: &'p [PathBuf],
    pub(super) path: &'p [PathBuf],
}

impl SearchPath<'_> {
    /// Returns the path of a program; a name with a slash is taken as a path.
    pub(super) fn find(self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            let path = PathBuf::from(name);
            return is_program(&path).then_some(path);
        }
        let folders = self.filters.iter().chain(self.path);
        folders
            .map(|folder| folder.join(name))
            .find(|path| is_program(path))
    }

    /// Returns the path of a script for an interpreter.
    fn find_script(self, name: &str) -> Option<PathBuf> {
        let mut paths = self.filters.iter().map(|folder| folder.join(name));
        paths.find(|path| path.is_file())
    }
}

fn is_program(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    path.is_absolute() && path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

impl Handler {
    /// Parses the value of a row of `mimeconf`; returns none for files that Recoll itself reads.
    pub(super) fn parse(
        media_type: &str,
        value: &str,
        search_path: SearchPath<'_>,
    ) -> Option<Self> {
        let (command, attributes) = conf::attributes(value);
        let mut words = conf::words(command).into_iter();
        let method = match &*words.next()? {
            "exec" => Method::Exec,
            "execm" => Method::Execm,
            "uncompress" => Method::Uncompress,
            _ => return None,
        };
        let name = words.next()?;
        let mut arguments: Vec<String> = words.collect();
        match method {
            Method::Exec => arguments.push(PATH.to_owned()),
            Method::Execm => {}
            Method::Uncompress => arguments.iter_mut().for_each(|argument| {
                *argument = argument.replace("%f", PATH).replace("%t", FOLDER);
            }),
        }
        if is_interpreter(&name)
            && let Some(script) = arguments.first_mut()
            && let Some(path) = search_path.find_script(script)
        {
            *script = path.to_string_lossy().into_owned();
        }
        let attribute = |wanted: &str| {
            let mut found = attributes.iter().filter(|(name, _)| name == wanted);
            found.next().map(|(_, value)| value.clone())
        };
        // The output of a Recoll filter is HTML unless the row says otherwise.
        let html = || "text/html".to_owned();
        let seconds = attribute("maxseconds").and_then(|seconds| seconds.parse().ok());
        Some(Self {
            program: search_path.find(&name),
            name,
            media_type: media_type.to_owned(),
            method,
            arguments,
            output: Some(attribute("mimetype").unwrap_or_else(html)),
            charset: attribute("charset").filter(|charset| charset != "default"),
            max_time: seconds.map(Duration::from_secs),
        })
    }

    /// Returns the handler of a helper from the settings; `media_type` is assigned to its files.
    pub(super) fn custom(
        helper: &CustomHelper,
        media_type: &str,
        search_path: SearchPath<'_>,
    ) -> Self {
        let program = helper
            .command
            .first()
            .and_then(|name| search_path.find(name));
        Self {
            name: match helper.name.is_empty() {
                true => helper.command.first().cloned().unwrap_or_default(),
                false => helper.name.clone(),
            },
            media_type: media_type.to_owned(),
            method: Method::Exec,
            program,
            arguments: helper.command.iter().skip(1).cloned().collect(),
            output: (!helper.output.is_empty()).then(|| helper.output.clone()),
            charset: None,
            max_time: helper.seconds.map(Duration::from_secs),
        }
    }

    /// Returns the files that the command names: a script for its interpreter, a style sheet.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let paths = self.arguments.iter().map(Path::new);
        paths.filter(|path| path.is_absolute() && path.is_file())
    }

    /// Returns whether the program reads the file from its standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        let names_file = |argument: &String| argument.contains(PATH);
        self.method == Method::Exec && !self.arguments.iter().any(names_file)
    }
}

fn is_interpreter(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    ["python", "perl", "sh", "bash"]
        .iter()
        .any(|interpreter| base.trim_end_matches(|c: char| c.is_ascii_digit()) == *interpreter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Option<Handler> {
        let path = [PathBuf::from("/bin")];
        let search_path = SearchPath {
            filters: &[],
            path: &path,
        };
        Handler::parse("a/b", value, search_path)
    }

    #[test]
    fn rows_of_mimeconf() {
        let exec = parse("exec cat -v ; mimetype = text/plain; maxseconds=30").unwrap();
        assert_eq!(exec.program.as_deref(), Some(Path::new("/bin/cat")));
        assert_eq!(exec.arguments, ["-v", PATH]);
        assert_eq!(exec.output.as_deref(), Some("text/plain"));
        assert_eq!(exec.max_time, Some(Duration::from_secs(30)));
        let execm = parse("execm no-such.py;charset=default").unwrap();
        assert_eq!((execm.method, execm.program), (Method::Execm, None));
        assert_eq!((execm.charset, execm.arguments.len()), (None, 0));
        let uncompress = parse(r#"uncompress rcluncomp "a -b" %f %t"#).unwrap();
        assert_eq!(uncompress.arguments, ["a -b", PATH, FOLDER]);
        for internal in ["internal text/plain", "internal", "", "exec"] {
            assert_eq!(parse(internal), None, "{internal}");
        }
    }

    #[test]
    fn a_custom_helper_without_path_reads_standard_input() {
        let helper = CustomHelper {
            command: vec!["cat".into(), "-v".into()],
            ..CustomHelper::default()
        };
        let path = [PathBuf::from("/bin")];
        let search_path = SearchPath {
            filters: &[],
            path: &path,
        };
        let handler = Handler::custom(&helper, "a/b", search_path);
        assert!(handler.reads_stdin() && handler.program.is_some());
        assert!(!parse("exec cat").unwrap().reads_stdin());
        assert!(!parse("execm cat").unwrap().reads_stdin());
    }
}
