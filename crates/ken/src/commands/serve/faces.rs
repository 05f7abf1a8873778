//! Where `ken serve` answers: at its socket, and at a port of loopback once somebody asked for it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ken_api::{Client, Guard, Program, Secret};
use ken_extract::Pictures;
use ken_mcp::Mcp;
use ken_search::scope::Scope;
use ken_web::{Advice, Opener, ReadMember, Setup, Web};

use super::answers::Answers;
use super::audit::Audit;
#[cfg(feature = "desktop")]
use super::bus::Bus;
use super::listening::Listening;
use super::news::News;
use super::people::People;
use super::port::Port;
use crate::cli::Global;
use crate::commands::agents::setup as mcp_setup;
use crate::commands::{access, context::context, desktop, original::Reader, own_program};
use crate::config::Settings;
use crate::failure::Failure;
use crate::output;

/// The disk space for pictures of pages.
const PICTURE_BYTES: u64 = 64 << 20;

/// What a server answers at.
pub(super) struct Faces {
    data: PathBuf,
    listening: Listening,
    answers: Arc<Answers>,
    secret: Arc<OnceLock<Secret>>,
    program: Program,
    global: Global,
    /// The port, once it is open.
    port: Option<Port>,
    #[cfg(feature = "desktop")]
    bus: Bus,
}

impl Faces {
    /// Answers at the socket, and at the port if somebody asked for it before.
    pub(super) fn start(
        global: &Global,
        data: &Path,
        settings: &Settings,
        news: &Arc<News>,
    ) -> Result<Self, Failure> {
        let listening = Listening::start(global, data)?;
        let secret = Arc::default();
        let program = own_program(global, data)?;
        let web = web(data, settings, listening.path(), &secret, &program)?;
        let mcp = mcp(global, data, settings, listening.path())?;
        let people = People::new(&settings.access)?;
        let audit = settings.access.audit().map(|file| Audit::open(&file));
        let answers = Answers::new(Arc::clone(news), (web, mcp), people, audit.transpose()?);
        let answers = Arc::new(answers);
        let of_socket = Arc::clone(&answers);
        let mut listening = listening.serve(move |request, door, reply| {
            of_socket.take(request, door, reply);
        })?;
        if let Some(shared) = settings.access.shared_socket()? {
            let answers = Arc::clone(&answers);
            listening.share(&shared, move |uid| answers.is_proxy(uid))?;
        }
        #[cfg(feature = "desktop")]
        let bus = Bus::start(access(data, settings, context())?, program.clone());
        let mut faces = Self {
            data: data.to_path_buf(),
            listening,
            answers,
            secret,
            program,
            global: global.clone(),
            port: None,
            #[cfg(feature = "desktop")]
            bus,
        };
        let opened =
            Port::known(data).and_then(|port| port.map(|port| faces.open(port)).transpose());
        if let Err(error) = opened {
            output::warn(&format!("browsers cannot reach this server: {error}"));
        }
        if let Some(address) = settings.web.address
            && let Err(error) = faces.open_outer(address, &settings.web.names)
        {
            output::warn(&format!("other machines cannot reach {address}: {error}"));
        }
        Ok(faces)
    }

    /// Answers at an address that other machines reach.
    fn open_outer(&mut self, address: SocketAddr, names: &[String]) -> io::Result<()> {
        // The secret is that of the port of loopback.
        self.address()?;
        let listener = TcpListener::bind(address)?;
        let number = listener.local_addr()?.port();
        if let Some(secret) = self.secret.get() {
            let guard = Guard::outer(secret.clone(), number, names.to_vec());
            self.answers.guard_outer(number, guard);
        }
        self.listening.listen(listener)?;
        output::warn(&format!(
            "browsers on other machines reach this server at {} with the password. The connection is not \
             encrypted: use a proxy with TLS, or ssh -L",
            match address.ip().is_unspecified() {
                true => format!("port {number}"),
                false => format!("http://{}/", SocketAddr::new(address.ip(), number)),
            }
        ));
        Ok(())
    }

    /// Returns the path of the socket.
    pub(super) fn socket(&self) -> &Path {
        self.listening.path()
    }

    /// Returns where a browser finds ken. The port is opened if it is not open yet.
    pub(super) fn address(&mut self) -> io::Result<String> {
        if self.port.is_none() {
            let known = Port::known(&self.data)?;
            self.open(known.map_or_else(Port::new, Ok)?)?;
        }
        let port = self.port.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(port.address())
    }

    fn open(&mut self, mut port: Port) -> io::Result<()> {
        let listener = port.open(&self.data)?;
        self.listening.listen(listener)?;
        // Requests that come before this are told to ask again.
        let _ = self.secret.set(port.secret.clone());
        self.answers
            .guard(Guard::new(port.secret.clone(), port.number()));
        self.port = Some(port);
        Ok(())
    }

    /// Answers by other settings from now on.
    pub(super) fn renew(&self, settings: &Settings) -> Result<(), Failure> {
        let web = web(
            &self.data,
            settings,
            self.socket(),
            &self.secret,
            &self.program,
        )?;
        let mcp = mcp(&self.global, &self.data, settings, self.socket())?;
        let audit = settings.access.audit().map(|file| Audit::open(&file));
        let people = People::new(&settings.access)?;
        self.answers.renew(web, mcp, people, audit.transpose()?);
        #[cfg(feature = "desktop")]
        self.bus.renew(access(&self.data, settings, context())?);
        Ok(())
    }
}

/// Returns what answers agents, by the settings. Nothing is visible until a request names folders.
fn mcp(global: &Global, data: &Path, settings: &Settings, socket: &Path) -> Result<Mcp, Failure> {
    let mut context = context();
    // A client at the socket is in no folder of this process.
    context.cwd = PathBuf::from("/");
    let client = Some(Client::new(socket));
    let setup = mcp_setup(global, data, settings, context, client)?;
    Ok(Mcp::new(setup, Scope::default()))
}

/// Returns what reads members of files, by the settings.
fn read_member(settings: Settings) -> ReadMember {
    Box::new(move |snapshot, location, file| {
        let file = fs_err::File::from_parts(file, &location.path);
        let bytes = settings
            .extraction()
            .and_then(|options| Reader::new(snapshot, options).read_from(file, location));
        bytes.map_err(|failure| failure.message().to_owned())
    })
}

/// Returns what opens files on the desktop of the session, if there is one.
fn opener() -> Option<Opener> {
    desktop::is_there().then(|| {
        let open: Opener = Box::new(|path, folder| {
            desktop::open(path, folder).map_err(|failure| failure.message().to_owned())
        });
        open
    })
}

/// Returns what answers requests, by the settings.
fn web(
    data: &Path,
    settings: &Settings,
    socket: &Path,
    secret: &Arc<OnceLock<Secret>>,
    program: &Program,
) -> Result<Web, Failure> {
    Ok(Web::new(Setup {
        access: access(data, settings, context())?,
        server: Client::new(socket),
        program: program.clone(),
        read_member: read_member(settings.clone()),
        pictures: Pictures::new(settings.extraction()?)
            .with_cache(data.join("pictures"), PICTURE_BYTES),
        advice: Advice {
            remedy: output::remedy,
            install: output::install,
        },
        password: settings.web.password()?,
        opener: opener(),
        secret: Arc::clone(secret),
    }))
}
