//! A socket that is read in the knowledge that its other end may never write again.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Interval at which a reader looks whether to go on.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A reader that ends when `gone` returns true while there is nothing to read.
pub(super) struct Patient<'a> {
    stream: &'a UnixStream,
    gone: &'a mut dyn FnMut() -> bool,
}

impl<'a> Patient<'a> {
    /// Reads this socket.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn new(stream: &'a UnixStream, gone: &'a mut dyn FnMut() -> bool) -> io::Result<Patient<'a>> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LOOK_EVERY))?;
        Ok(Patient { stream, gone })
    }
}

impl Read for Patient<'_> {
    /// Reads what there is; no byte at the end of the stream, and when its writer is gone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if (self.gone)() {
                        return Ok(0);
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                // A host that died with an answer unread.
                Err(why) if why.kind() == io::ErrorKind::ConnectionReset => return Ok(0),
                done => return done,
            }
        }
    }
}
