//! Helpers that read many files, one after the other, in Recoll's protocol.

use std::collections::HashSet;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::thread::{self, ThreadId};

use ken_core::{Crash, Setting};

use super::content::{self, Content};
use super::fault::Fault;
use super::handler::Handler;
use super::process::Process;
use super::protocol::{Answer, read_answer, request};
use super::{Helpers, lock};
use crate::output::Output;
use crate::{Error, Input, Limits, Member, text};

/// A helper is replaced after this many files, to free what it accumulated.
const MAX_FILES: u32 = 500;
/// Maximum number of helpers that wait for their next file; each takes some megabytes.
const MAX_IDLE: usize = 16;

/// A helper that speaks the protocol.
pub(super) struct Speaker {
    /// Index of its handler.
    handler: usize,
    /// Thread that started it. The kernel ends the helper with that thread, so it serves no other.
    thread: ThreadId,
    process: BufReader<Process>,
    n_files: u32,
}

impl Helpers {
    pub(super) fn execm(
        &self,
        index: usize,
        handler: &Handler,
        input: &Input<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let failed = |fault: Fault, speaker: Option<&mut Speaker>| {
            let complaint = speaker.map(|speaker| speaker.process.get_mut().complaint());
            fault.into_error(&handler.name, &complaint.unwrap_or_default())
        };
        let limits = output.limits();
        let mut is_reused = true;
        loop {
            let mut speaker = match self.take_idle(index).filter(|_| is_reused) {
                Some(speaker) => speaker,
                None => {
                    is_reused = false;
                    let speaker = self.new_speaker(index, handler, limits);
                    speaker.map_err(|fault| failed(fault, None))?
                }
            };
            let first = self.ask_first(handler, &mut speaker, input, limits)?;
            return match first {
                // It may have ended while it waited, which says nothing about this file.
                Err(Fault::Crashed(Crash::Ended)) if is_reused => {
                    is_reused = false;
                    continue;
                }
                Err(fault) => Err(failed(fault, Some(&mut speaker))),
                Ok(first) => match self.take_all(handler, &mut speaker, first, output) {
                    Ok(result) => {
                        self.give_back(speaker);
                        result
                    }
                    Err(fault) => Err(failed(fault, Some(&mut speaker))),
                },
            };
        }
    }

    fn new_speaker(
        &self,
        index: usize,
        handler: &Handler,
        limits: &Limits,
    ) -> Result<Speaker, Fault> {
        let work = self.work_folder()?;
        let process = self.start(handler, work, None, Stdio::piped(), limits)?;
        Ok(Speaker {
            handler: index,
            thread: thread::current().id(),
            process: BufReader::new(process),
            n_files: 0,
        })
    }

    fn take_idle(&self, index: usize) -> Option<Speaker> {
        let mut idle = lock(&self.idle);
        let thread = thread::current().id();
        let is_it = |speaker: &Speaker| speaker.handler == index && speaker.thread == thread;
        let at = idle.iter().position(is_it)?;
        Some(idle.remove(at))
    }

    fn give_back(&self, mut speaker: Speaker) {
        speaker.n_files += 1;
        if speaker.n_files >= MAX_FILES {
            return;
        }
        let oldest = {
            let mut idle = lock(&self.idle);
            idle.push(speaker);
            (idle.len() > MAX_IDLE).then(|| idle.remove(0))
        };
        // Ended without holding the lock.
        drop(oldest);
    }

    /// Sends the name of the file and returns the first answer.
    fn ask_first(
        &self,
        handler: &Handler,
        speaker: &mut Speaker,
        input: &Input<'_>,
        limits: &Limits,
    ) -> Result<Result<Answer, Fault>, Error> {
        let path = speaker.process.get_ref().work.put(input)?;
        Ok(self.ask(handler, speaker, path.as_os_str().as_bytes(), limits))
    }

    /// Requests a document; an empty name requests the next one of the same file. Each request has
    /// the full time.
    fn ask(
        &self,
        handler: &Handler,
        speaker: &mut Speaker,
        name: &[u8],
        limits: &Limits,
    ) -> Result<Answer, Fault> {
        let process = speaker.process.get_mut();
        process.set_deadline(self.time_of(handler));
        process.send(&request(&[
            ("filename", name),
            ("mimetype", handler.media_type.as_bytes()),
        ]))?;
        read_answer(&mut speaker.process, limits.limit(Setting::MaxMemberBytes))
    }

    /// Takes all documents of a file. The inner error concerns the file only, so the helper may
    /// read others.
    fn take_all(
        &self,
        handler: &Handler,
        speaker: &mut Speaker,
        first: Answer,
        output: &mut Output<'_>,
    ) -> Result<Result<(), Error>, Fault> {
        let mut answer = first;
        let mut taken = Taken::default();
        let mut result = Ok(());
        for _ in 0..=output.limits().max_members {
            if answer.file_failed {
                // Many helpers report this at the end.
                if taken.is_nothing() {
                    result = Err(Fault::Refused.into_error(&handler.name, ""));
                }
                return Ok(result);
            }
            if answer.is_over {
                if taken.is_nothing() && answer.document_failed {
                    result = Err(Fault::Refused.into_error(&handler.name, ""));
                }
                return Ok(result);
            }
            let is_last = answer.is_last;
            let took = match answer.document_failed {
                true => Err(Fault::Refused.into_error(&handler.name, "")),
                false => taken.take(handler, answer, output),
            };
            if let Err(error) = took {
                let ends = error.is_limit() || matches!(error, Error::Cancelled);
                result = result.and(Err(error));
                if ends {
                    // It may have more output for this file, so it is not used again.
                    speaker.n_files = MAX_FILES;
                    return Ok(result);
                }
            }
            if is_last {
                return Ok(result);
            }
            answer = self.ask(handler, speaker, b"", output.limits())?;
        }
        Err(Fault::nonsense("it has no end"))
    }
}

/// What was taken from a file.
#[derive(Default)]
struct Taken {
    has_own: bool,
    ipaths: HashSet<String>,
}

impl Taken {
    fn is_nothing(&self) -> bool {
        !self.has_own && self.ipaths.is_empty()
    }

    fn take(
        &mut self,
        handler: &Handler,
        answer: Answer,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let charset = answer.charset.or_else(|| handler.charset.clone());
        let data = answer.document.unwrap_or_default();
        if answer.ipath.is_empty() {
            if std::mem::replace(&mut self.has_own, true) {
                return Ok(());
            }
            output.own().fields.extend(content::fields(&answer.fields));
            let media_type = answer.media_type.as_deref().or(handler.output.as_deref());
            return Content {
                name: "",
                media_type,
                charset: charset.as_deref(),
                data,
            }
            .take_place(output);
        }
        if !self.ipaths.insert(answer.ipath.clone()) {
            return Ok(());
        }
        let mut fields = content::fields(&answer.fields);
        let said = answer.fields.iter().find(|(name, _)| name == "filename");
        let last = answer.ipath.rsplit('/').next().unwrap_or_default();
        let name = said.map_or(last, |(_, name)| name.as_str()).to_owned();
        // A member has no charset, so its text is converted to UTF-8.
        let bytes = match (answer.media_type.as_deref(), charset) {
            (Some("text/plain"), Some(charset)) => {
                text::decode_owned(data, Some(&charset)).into_bytes()
            }
            _ => data,
        };
        let modified = fields
            .iter()
            .position(|(field, _)| *field == ken_core::Field::Modified);
        let modified = modified
            .map(|at| fields.remove(at).1)
            .and_then(|value| match value {
                ken_core::Value::Number(seconds) => Some(seconds),
                ken_core::Value::Text(_) => None,
            });
        output.member(Member {
            ipath: output.child_ipath(&answer.ipath),
            name,
            declared_type: answer.media_type,
            modified,
            bytes,
            fields,
            ..Member::default()
        })
    }
}
