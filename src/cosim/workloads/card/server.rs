//! Runs a host's program to its end, with a card behind a Unix socket.

use super::device::Card;
use super::error::CardError;
use super::message::Request;
use super::patient::Patient;
use crate::tools::child::terminate;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;
use tempfile::TempDir;

/// Variable of the environment that names the socket to the stand-in for XRT.
pub const SOCKET: &str = "MESHKV_CARD_SOCKET";

/// Time between two looks at a program that has not opened the card.
const PAUSE: Duration = Duration::from_millis(2);

/// A socket at which hosts find a card.
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    /// Removed with the socket at the end.
    _folder: TempDir,
}

impl Server {
    /// Opens a socket in a temporary folder.
    ///
    /// # Errors
    /// When the system refuses, or the path of temporary files is too long for a socket.
    pub fn new() -> Result<Server, CardError> {
        let open = || -> io::Result<Server> {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("card");
            let listener = UnixListener::bind(&path)?;
            listener.set_nonblocking(true)?;
            Ok(Server { listener, path, _folder: folder })
        };
        open().map_err(CardError::Socket)
    }

    /// The socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a program to its end, and answers it and its children: one host at a time, and a next one when the first has
    /// closed the card. Once `stop` returns true, the program is ended.
    ///
    /// # Errors
    /// If the program does not start, or the card does not go on; then the program is ended.
    pub fn run(
        &self,
        card: &mut Card,
        command: &mut Command,
        stop: &dyn Fn() -> bool,
    ) -> Result<ExitStatus, CardError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.env(SOCKET, &self.path).spawn();
        let mut child = child.map_err(|source| CardError::Program { program, source })?;
        let ended = self.until_end(card, &mut child, stop);
        if ended.is_err() {
            terminate(&mut child);
        }
        ended
    }

    fn until_end(
        &self,
        card: &mut Card,
        child: &mut Child,
        stop: &dyn Fn() -> bool,
    ) -> Result<ExitStatus, CardError> {
        loop {
            let ended = child.try_wait().map_err(CardError::Socket)?;
            // A program may have written to the card and ended since the last look.
            match self.listener.accept() {
                Ok((host, _)) => answer(card, &host, child, stop)?,
                Err(why) if why.kind() == ErrorKind::WouldBlock => match ended {
                    _ if stop() => return Err(CardError::Stopped),
                    Some(status) => return Ok(status),
                    None => std::thread::sleep(PAUSE),
                },
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(CardError::Socket(why)),
            }
        }
    }
}

/// Answers a host until it closes its end, or has ended.
fn answer(
    card: &mut Card,
    mut host: &UnixStream,
    child: &mut Child,
    stop: &dyn Fn() -> bool,
) -> Result<(), CardError> {
    card.release();
    let child = RefCell::new(child);
    let mut gone = || stop() || !matches!(child.borrow_mut().try_wait(), Ok(None));
    let mut requests = Patient::new(host, &mut gone).map_err(CardError::Socket)?;
    loop {
        if stop() {
            return Err(CardError::Stopped);
        }
        let request = match Request::read(&mut requests) {
            Ok(Some(request)) => request,
            // A host that is ended may leave a part of a request.
            Ok(None) => return Ok(()),
            Err(why) if why.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(why) => return Err(CardError::Socket(why)),
        };
        match card.answer(request)?.write(&mut host) {
            Err(why) if matches!(why.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                return Ok(())
            }
            done => done.map_err(CardError::Socket)?,
        }
    }
}
