//! Where is the socket, and who may reach it?

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest path of a socket, without the NUL at its end (`sun_path` in unix(7)).
const MAX_PATH: usize = 107;

/// Returns the path of the socket for an index: in the user's folder for such things (`$XDG_RUNTIME_DIR`), or in the
/// data folder. Each index but the usual one has a `name` of its own.
pub fn socket_path(runtime: Option<&Path>, data: &Path, name: Option<&str>) -> PathBuf {
    let name = name.unwrap_or("ken");
    match runtime {
        Some(runtime) => runtime.join("ken").join(format!("{name}.sock")),
        None => data.join("ken.sock"),
    }
}

/// Listens on a socket that only the user can reach. A socket of a process that ended is replaced, so the caller must
/// know that no other process serves it.
///
/// # Errors
/// Fails if the path is too long for a socket, or the socket cannot be made.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    let fail = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("socket `{}`: {error}", path.display()),
        )
    };
    if path.as_os_str().len() > MAX_PATH {
        let message = format!("its path is longer than {MAX_PATH} bytes; set XDG_RUNTIME_DIR");
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, message)));
    }
    if let Some(folder) = path.parent() {
        ken_private::create_folder(folder)?;
        ken_private::close(folder)?;
    }
    if let Err(error) = fs_err::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    // The folder is private, so nobody connects before the mode is set.
    let listener = UnixListener::bind(path).map_err(fail)?;
    fs_err::set_permissions(path, PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

/// Listens on a socket in a folder that exists, and lets those connect whom a group and a mode admit. A socket of a process
/// that ended is replaced; anything else at the path is not.
///
/// # Errors
/// Fails if the socket cannot be made, or its group cannot be set.
pub fn bind_shared(path: &Path, group: Option<u32>, mode: u32) -> io::Result<UnixListener> {
    let fail = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("socket \"{}\": {error}", path.display()),
        )
    };
    if let Ok(known) = fs_err::symlink_metadata(path) {
        if !known.file_type().is_socket() {
            return Err(fail(io::ErrorKind::AlreadyExists.into()));
        }
        // Those who ask a server that lives would ask this one.
        if UnixStream::connect(path).is_ok() {
            return Err(fail(io::ErrorKind::AddrInUse.into()));
        }
        fs_err::remove_file(path)?;
    }
    let listener = UnixListener::bind(path).map_err(fail)?;
    // Until then others may not write, which connecting takes (umask(2), unix(7)).
    if let Some(group) = group {
        fs_err::os::unix::fs::chown(path, None, Some(group))?;
    }
    fs_err::set_permissions(path, PermissionsExt::from_mode(mode))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_socket_is_not_taken_from_a_living_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.sock");
        let living = bind_shared(&path, None, 0o666).unwrap();
        let error = bind_shared(&path, None, 0o666).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        drop(living);
        bind_shared(&path, None, 0o666).unwrap();
    }

    #[test]
    fn a_socket_is_private_and_takes_the_place_of_a_dead_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(Some(folder.path()), Path::new("/data"), None);
        assert_eq!(path, folder.path().join("ken/ken.sock"));
        drop(bind(&path).unwrap());
        let _listener = bind(&path).unwrap();
        for (path, mode) in [(path.as_path(), 0o600), (path.parent().unwrap(), 0o700)] {
            let metadata = fs_err::metadata(path).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, mode);
        }
        let long = folder.path().join("x".repeat(MAX_PATH));
        let error = bind(&long).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
