//! The home folder of a user in a temporary folder, and the binary that runs in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

/// A home folder with a folder `docs` for files, and ken's own folders next to it.
pub(crate) struct World {
    home: PathBuf,
    _folder: TempDir,
}

/// The output and exit code of a run of the binary.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// Returns a home folder below this folder instead of the temporary one.
    pub(crate) fn below(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let world = Self {
            // ken stores roots without symbolic links, and the temporary folder may be one.
            home: fs_err::canonicalize(folder.path()).unwrap(),
            _folder: folder,
        };
        fs_err::create_dir(world.docs()).unwrap();
        world
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the folder that tests fill and index.
    pub(crate) fn docs(&self) -> PathBuf {
        self.home.join("docs")
    }

    /// Returns ken's data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.join("data/ken")
    }

    /// Writes a file below `docs` and returns its path.
    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.docs().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, content).unwrap();
        path
    }

    /// Writes the configuration file.
    pub(crate) fn configure(&self, text: &str) {
        let folder = self.home.join("config/ken");
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("config.toml"), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs_err::remove_file(self.docs().join(name)).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let to = self.docs().join(to);
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        fs_err::rename(self.docs().join(from), to).unwrap();
    }

    /// Sets the modification time of a file below `docs`, in seconds since 1970.
    pub(crate) fn set_modified(&self, name: &str, seconds: u64) {
        let file = fs_err::File::options()
            .append(true)
            .open(self.docs().join(name))
            .unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.file().set_modified(time).unwrap();
    }

    /// Returns a command that runs the binary here, without the tester's environment.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ken"));
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("XDG_DATA_HOME", self.home.join("data"))
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .env("TZ", "UTC")
            .env("XDG_STATE_HOME", self.home.join("state"))
            // A pager waits for keys.
            .env("PAGER", "cat")
            // Other programs of the tests do not take precedence.
            .env("KEN_FAST", "1")
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .args(args);
        command
    }

    /// Returns a command of another program in the same environment, which finds the binary in `$ken`.
    pub(crate) fn around(&self, program: &str) -> Command {
        let ken = self.command([""; 0]);
        let variables = ken.get_envs();
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("ken", ken.get_program())
            .current_dir(&self.home)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary under `strace` with these options, its own output left out.
    pub(crate) fn traced(&self, options: &[&str], args: &[&str]) -> Run {
        let ken = self.command(args);
        let mut traced = self.around("strace");
        traced
            .args(["-f", "-o", "/dev/null"])
            .args(options)
            .arg(ken.get_program())
            .args(ken.get_args());
        Run::of(traced.output().unwrap())
    }

    /// Runs the binary to its end.
    pub(crate) fn ken<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// Starts the binary; its output is kept for [`Run::of_child`].
    pub(crate) fn spawn<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Child {
        self.command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs `ken index --json` with more arguments, expects success and returns the summary.
    pub(crate) fn index(&self, args: &[&str]) -> Value {
        let run = self.ken(["index", "--json"].iter().chain(args));
        assert_eq!(run.code, 0, "{}", run.err);
        run.summary()
    }

    /// Indexes `docs` and returns the summary.
    pub(crate) fn index_docs(&self) -> Value {
        self.index(&["docs"])
    }

    /// Returns all hits of a query.
    pub(crate) fn hits(&self, query: &str) -> Vec<Value> {
        let run = self.ken(["search", "--json", "--limit", "0", "--", query]);
        assert!(run.code < 2, "{query}: {}", run.err);
        let mut hits = run.objects();
        hits.retain(|object| object["path"].is_string());
        assert_eq!(run.code == 1, hits.is_empty(), "{query}");
        hits
    }

    /// Returns the only hit of a query.
    pub(crate) fn hit(&self, query: &str) -> Value {
        let mut hits = self.hits(query);
        assert_eq!(hits.len(), 1, "{query}: {hits:#?}");
        hits.remove(0)
    }

    /// Returns the locations of the hits of a query, as `path|ipath` below `docs`, sorted.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let mut found: Vec<_> = self
            .hits(query)
            .iter()
            .map(|hit| self.location(hit))
            .collect();
        found.sort();
        found
    }

    /// Returns the location of a hit: `path|ipath` below `docs`.
    pub(crate) fn location(&self, hit: &Value) -> String {
        let path = hit["path"].as_str().unwrap();
        let docs = self.docs();
        let below = path.strip_prefix(docs.to_str().unwrap()).unwrap_or(path);
        let below = below.trim_start_matches('/');
        match hit["ipath"].as_str().unwrap() {
            "" => below.to_owned(),
            ipath => format!("{below}|{ipath}"),
        }
    }

    /// Returns the failures: location and reason.
    pub(crate) fn failed(&self) -> BTreeMap<String, String> {
        let run = self.ken(["status", "--failed", "--json"]);
        assert!(run.code < 2, "{}", run.err);
        let reason = |object: &Value| object["reason"].as_str().unwrap().to_owned();
        let objects = run.objects();
        objects
            .iter()
            .map(|object| (self.location(object), reason(object)))
            .collect()
    }

    /// Returns the last commit without its checksum. If it is written back without one, ken accepts it.
    pub(crate) fn commit_text(&self) -> String {
        let text = fs_err::read_to_string(self.data().join("index/meta.json")).unwrap();
        text.split("\n#crc32 ").next().unwrap().to_owned()
    }

    /// Returns the names, sizes and times of all files in the data folder.
    pub(crate) fn data_files(&self) -> BTreeMap<PathBuf, (u64, SystemTime)> {
        let files = self.files_below(self.data()).into_iter();
        let stamp = |metadata: Metadata| (metadata.len(), metadata.modified().unwrap());
        files
            .map(|(path, metadata)| (path, stamp(metadata)))
            .collect()
    }

    /// Returns the files below a folder, in the home folder if its path is relative.
    pub(crate) fn files_below(&self, folder: impl AsRef<Path>) -> Vec<(PathBuf, Metadata)> {
        let mut files = Vec::new();
        let mut folders = vec![self.home.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                match entry.metadata() {
                    Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                    Ok(metadata) => files.push((entry.path(), metadata)),
                    // A running program may delete the file.
                    Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
                }
            }
        }
        files
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            // The exit code that a shell reports for a program that a signal ended.
            code: output.status.code().unwrap_or(128),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Waits for a program that [`World::spawn`] started.
    pub(crate) fn of_child(child: Child) -> Self {
        Self::of(child.wait_with_output().unwrap())
    }

    /// Returns what was printed, which must be UTF-8.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }

    /// Returns what was printed, one JSON object a line.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let object = |line: &str| -> Value {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(value["v"], 1, "{line}");
            value
        };
        self.text().lines().map(object).collect()
    }

    /// Returns the summary of `ken index --json`, its last line.
    pub(crate) fn summary(&self) -> Value {
        let last = self.objects().pop().unwrap();
        assert_eq!(last["event"], "summary");
        last
    }
}

/// Asserts the figures of a summary: those named here, and zero for all others.
#[track_caller]
pub(crate) fn assert_counts(summary: &Value, expected: &[(&str, u64)]) {
    for name in ["added", "changed", "moved", "gone", "unchanged", "kept"] {
        let wanted = expected.iter().find(|(known, _)| *known == name);
        let wanted = wanted.map_or(0, |(_, count)| *count);
        assert_eq!(summary[name], wanted, "{name} in {summary:#}");
    }
}
