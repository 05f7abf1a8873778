//! The worker's side: receives files from its parent, one after the other, and answers with
//! documents.
//!
//! Its standard input is a socket to the parent. The worker ends when the parent closes the socket.
//! Depending on its memory and age, it asks the parent to replace it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use ken_core::{Document, Ipath};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};

use super::protocol::{
    Broken, Decoder, Encoder, MAX_HEAD_BYTES, Message, PREFIX_BYTES, Prefix, Whole,
};
use super::{drawn, protocol, sandbox};
use crate::draw::draw;
use crate::picture::Order;
use crate::{Error, Expansion, Input, Limits, Member, Sink};

/// Answers are buffered up to this size before they are sent.
const BUFFER_BYTES: usize = 64 << 10;
/// A worker is replaced after this many files, in case a parser leaks.
const MAX_FILES: u64 = 20_000;
/// A worker that still holds more than this after its work is replaced.
const MAX_IDLE_BYTES: u64 = 128 << 20;

/// The function that reads an input in the worker: [`crate::extract`], or something worse in tests.
pub type Extract = fn(&mut Input<'_>, &Limits, &mut dyn Sink);

/// Serves the parent at the other end of this socket until the parent closes it.
///
/// # Errors
/// Fails if the descriptor is not a socket, or the parent breaks the protocol.
pub fn serve(socket: OwnedFd, extract: Extract) -> io::Result<()> {
    let socket = UnixStream::from(socket);
    socket.peer_addr()?;
    let mut requests = BufReader::with_capacity(BUFFER_BYTES, Requests::new(&socket));
    let Some((Message::Limits, head, _)) = read_message(&mut requests)? else {
        return Err(io::Error::other("the parent does not begin with limits"));
    };
    let limits = Decoder(&head).limits().map_err(io::Error::other)?;
    let memory = Memory::open();
    let sandbox = sandbox::enter(limits.worker_memory);
    let mut answers = BufWriter::with_capacity(BUFFER_BYTES, &socket);
    let mut head = Encoder::default();
    head.number(sandbox.to_number());
    protocol::write(&mut answers, Message::Ready, &head.0, &[])?;
    let mut n_files = 0;
    while let Some((Message::Extract, head, blob)) = read_message(&mut requests)? {
        let files = std::mem::take(&mut requests.get_mut().descriptors);
        let files: Vec<_> = files.into_iter().map(File::from).collect();
        let request = Request::read(&head).map_err(io::Error::other)?;
        n_files += 1;
        let retire = || n_files >= MAX_FILES || memory.bytes() > MAX_IDLE_BYTES;
        let mut input = request.input(&files, blob, &limits);
        if let Some(order) = request.order {
            let result = draw(&mut input, order, &limits);
            let (head, blob) = drawn::write(&result, retire());
            protocol::write(&mut answers, Message::Drawn, &head.0, &blob)?;
        } else {
            let mut sink = Answers::new(&mut answers, &request.ipath);
            request.extract(extract, &mut input, &limits, &mut sink);
            sink.finish(&request, retire())?;
        }
        answers.flush()?;
    }
    Ok(())
}

/// Returns the next message; none when the parent has closed the socket.
fn read_message(requests: &mut BufReader<Requests<'_>>) -> io::Result<Option<Whole>> {
    let mut prefix = [0; PREFIX_BYTES];
    match requests.read_exact(&mut prefix) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let prefix = Prefix::read(prefix, usize::MAX).map_err(io::Error::other)?;
    let mut head = vec![0; prefix.n_head];
    requests.read_exact(&mut head)?;
    let mut blob = vec![0; prefix.n_blob];
    requests.read_exact(&mut blob)?;
    Ok(Some((prefix.message, head, blob)))
}

/// The parent's end of the socket, with the latest descriptors.
struct Requests<'s> {
    socket: &'s UnixStream,
    descriptors: Vec<OwnedFd>,
}

impl<'s> Requests<'s> {
    fn new(socket: &'s UnixStream) -> Self {
        Self {
            socket,
            descriptors: Vec::new(),
        }
    }
}

impl Read for Requests<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(buffer)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(self.socket.as_fd(), &mut parts, &mut ancillary, flags)?;
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(io::Error::other("more descriptors than a request has"));
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors = descriptors.collect();
            }
        }
        Ok(received.bytes)
    }
}

/// The file of a request, and the write-ahead log next to it.
pub(super) const MAX_DESCRIPTORS: usize = 2;

/// A request to a worker, without the content.
pub(super) struct Request {
    pub(super) ipath: Ipath,
    pub(super) name: String,
    pub(super) declared_type: Option<String>,
    pub(super) modified: Option<i64>,
    pub(super) is_attachment: bool,
    pub(super) is_outermost_file: bool,
    /// Size of the file whose descriptor is sent along; none if the blob is the content.
    pub(super) file_size: Option<u64>,
    /// Size of the write-ahead log next to the file, whose descriptor comes second.
    pub(super) log_size: Option<u64>,
    /// State of the account of the outermost file.
    pub(super) spent: u64,
    pub(super) max_bytes: u64,
    /// What is to be drawn, instead of extraction.
    pub(super) order: Option<Order>,
}

impl Request {
    pub(super) fn write(&self) -> Encoder {
        let mut head = Encoder::default();
        head.text(self.ipath.as_str());
        head.text(&self.name);
        head.optional_text(self.declared_type.as_deref());
        head.optional_number(self.modified);
        head.flag(self.is_attachment);
        head.flag(self.is_outermost_file);
        head.optional_number(self.file_size.map(|size| size as i64));
        head.optional_number(self.log_size.map(|size| size as i64));
        head.number(self.spent);
        head.number(self.max_bytes);
        for number in self.order.map_or([0; 3], Order::to_numbers) {
            head.number(number.into());
        }
        head
    }

    fn read(head: &[u8]) -> Result<Self, Broken> {
        let mut head = Decoder(head);
        Ok(Self {
            ipath: Ipath::from_joined(head.text()?),
            name: head.text()?.to_owned(),
            declared_type: head.optional_text()?.map(str::to_owned),
            modified: head.optional_number()?,
            is_attachment: head.flag()?,
            is_outermost_file: head.flag()?,
            file_size: head.optional_number()?.map(|size| size as u64),
            log_size: head.optional_number()?.map(|size| size as u64),
            spent: head.number()?,
            max_bytes: head.number()?,
            order: Order::from_numbers([head.small()?, head.small()?, head.small()?]),
        })
    }

    /// Returns the input that is to be read.
    fn input<'f>(&self, files: &'f [File], blob: Vec<u8>, limits: &Limits) -> Input<'f> {
        let mut input = match files.first().zip(self.file_size) {
            Some((file, size)) => Input::file(self.name.clone(), file, size),
            None => Input::member(Member {
                bytes: blob,
                name: self.name.clone(),
                ..Member::default()
            }),
        };
        if let Some((log, size)) = files.get(1).zip(self.log_size) {
            input = input.with_log(Input::file("", log, size));
        }
        input.ipath = self.ipath.clone();
        input.declared_type.clone_from(&self.declared_type);
        input.modified = self.modified;
        input.is_attachment = self.is_attachment;
        input.is_outermost_file = self.is_outermost_file;
        input.expansion = Some(Expansion::resume(self.spent, self.max_bytes, limits));
        input
    }

    fn extract(
        &self,
        extract: Extract,
        input: &mut Input<'_>,
        limits: &Limits,
        sink: &mut Answers<'_, '_>,
    ) {
        extract(input, limits, sink);
        // The parent counts members itself.
        let spent = input.account(limits).spent().saturating_sub(self.spent);
        sink.n_unpacked = spent.saturating_sub(sink.n_member_bytes);
    }
}

/// Sends what is found to the parent.
struct Answers<'a, 's> {
    out: &'a mut BufWriter<&'s UnixStream>,
    ipath: &'a Ipath,
    own: Option<Document>,
    n_member_bytes: u64,
    n_unpacked: u64,
    lost: Option<io::Error>,
}

impl<'a, 's> Answers<'a, 's> {
    fn new(out: &'a mut BufWriter<&'s UnixStream>, ipath: &'a Ipath) -> Self {
        Self {
            out,
            ipath,
            own: None,
            n_member_bytes: 0,
            n_unpacked: 0,
            lost: None,
        }
    }

    fn send(&mut self, message: Message, head: &[u8], blob: &[u8]) {
        if self.lost.is_none() {
            self.lost = protocol::write(self.out, message, head, blob).err();
        }
    }

    /// Sends the own document, which ends the answer.
    fn finish(mut self, request: &Request, retire: bool) -> io::Result<()> {
        let unknown = || Document::new(request.ipath.clone(), "", ken_core::Kind::Other);
        let mut own = self.own.take().unwrap_or_else(unknown);
        fit(&mut own);
        let mut head = Encoder::default();
        head.flag(retire);
        head.number(self.n_unpacked);
        head.document(&own);
        self.send(Message::Own, &head.0, own.body.as_bytes());
        self.lost.map_or(Ok(()), Err)
    }
}

impl Sink for Answers<'_, '_> {
    fn document(&mut self, mut document: Document) {
        if document.ipath == *self.ipath {
            self.own = Some(document);
            return;
        }
        fit(&mut document);
        let mut head = Encoder::default();
        head.document(&document);
        self.send(Message::Part, &head.0, document.body.as_bytes());
    }

    fn member(&mut self, member: Member) {
        self.n_member_bytes += member.bytes.len() as u64;
        let mut head = Encoder::default();
        head.member(&member);
        self.send(Message::Member, &head.0, &member.bytes);
    }

    fn content(&mut self, content: Member) {
        let mut head = Encoder::default();
        head.member(&content);
        self.send(Message::Content, &head.0, &content.bytes);
    }

    fn is_cancelled(&self) -> bool {
        self.lost.is_some()
    }
}

/// Removes metadata that would not fit into a message.
fn fit(document: &mut Document) {
    let most = MAX_HEAD_BYTES / 2;
    if document.memory_bytes() - document.body.capacity() <= most {
        return;
    }
    let mut n_bytes = 0;
    document.fields.retain(|(_, value)| {
        n_bytes += match value {
            ken_core::Value::Text(text) => text.len() + 32,
            ken_core::Value::Number(_) => 32,
        };
        n_bytes <= most
    });
    let failure = Error::built_in(format!("metadata beyond {most} bytes is left out"));
    document.failure.get_or_insert(failure.into());
}

/// The worker's own memory, as the kernel reports it. The file is opened before the sandbox is
/// entered.
struct Memory(Option<File>);

impl Memory {
    fn open() -> Self {
        Self(fs_err::File::open("/proc/self/statm").ok().map(Into::into))
    }

    /// Returns the resident bytes; 0 if that is not known.
    fn bytes(&self) -> u64 {
        let mut text = [0; 64];
        let read = self
            .0
            .as_ref()
            .and_then(|file| file.read_at(&mut text, 0).ok());
        let text = std::str::from_utf8(&text[..read.unwrap_or(0)]).unwrap_or_default();
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0_u64) * 4096
    }
}
