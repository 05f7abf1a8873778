//! One server for several people: each finds what they may read, by every question that the server answers.
//!
//! A test's own user may be a proxy that names others, so most of this needs no rights. What takes files of several users,
//! or clients that run as others, needs root.

mod audit;
#[cfg(feature = "cluster")]
mod cluster;
mod faces;
mod parts;
mod people;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

/// The longest time without an answer; a machine that runs other tests is slow.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A person that every system knows, and who may read only what all may.
const READER: &str = "nobody";

/// Returns a world that others may enter, whose server answers them.
fn world(more: &str) -> World {
    let world = World::new();
    for folder in [world.home().to_path_buf(), world.docs()] {
        set(&folder, 0o755);
    }
    world.configure(&(settings(&world) + more));
    world
}

/// Returns settings with which a world's server answers others.
fn settings(world: &World) -> String {
    let me = name_of(nix::unistd::geteuid().as_raw());
    format!(
        "[access]\nenforce = true\nsocket = \"{}\"\nmode = \"0666\"\nheader = \"X-Person\"\nproxies = [\"{me}\"]\n",
        socket(world).display()
    )
}

fn name_of(uid: u32) -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(uid));
    user.unwrap().unwrap().name
}

fn socket(world: &World) -> PathBuf {
    world.home().join("shared.sock")
}

fn set(path: &Path, mode: u32) {
    fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Writes a file with a mode below `docs`; the folders of its way stay open.
fn write(world: &World, name: &str, mode: u32, content: &str) -> PathBuf {
    let path = world.write(name, content);
    for folder in path
        .ancestors()
        .skip(1)
        .take_while(|of| of.starts_with(world.docs()))
    {
        set(folder, 0o755);
    }
    set(&path, mode);
    path
}

/// Sends a request to a socket, and returns the status and the body of the answer.
fn send(socket: &Path, method: &str, path: &str, headers: &[String], body: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: ken\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

/// Asks as a person whom a proxy names.
fn ask(world: &World, person: &str, path: &str) -> (u16, String) {
    send(
        &socket(world),
        "GET",
        path,
        &[format!("X-Person: {person}")],
        "",
    )
}

/// Asks as the user of the server.
fn ask_as_owner(world: &World, path: &str) -> (u16, String) {
    send(&world.data().join("ken.sock"), "GET", path, &[], "")
}

/// Returns the names of the files that a person finds.
fn found_by(world: &World, person: &str, query: &str) -> Vec<String> {
    let (status, body) = ask(
        world,
        person,
        &format!("/api/v1/search?q={query}&sort=path"),
    );
    assert_eq!(status, 200, "{body}");
    names(&body)
}

fn names(body: &str) -> Vec<String> {
    let found: Value = serde_json::from_str(body).unwrap();
    let hits = found["hits"].as_array().unwrap();
    let names: Vec<String> = hits
        .iter()
        .map(|hit| {
            hit["path"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(found["total"], names.len(), "{body}");
    names
}

fn fresh(server: &Server<'_>, world: &World) {
    let run = world.ken(["search", "--fresh", "-c", "size:0.."]);
    assert!(run.code < 2, "{}", run.err);
    let _ = server;
}
