"""Hands HTTP requests at a port of this machine to a Unix socket: mcp-bridge.py SOCKET ADDRESS

It changes nothing but the address, and ends each connection after one answer. It prints its port. Only for
scripts/mcp-conformance.
"""

import re
import socket
import sys
import threading


def copy(source, target):
    """Copies bytes until the source ends."""
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def answer(client, path, address):
    """Hands one request on, and the answer back."""
    head = b""
    while b"\r\n\r\n" not in head:
        chunk = client.recv(65536)
        if not chunk:
            return
        head += chunk
    line, rest = head.split(b"\r\n", 1)
    method, _, version = line.split(b" ")
    rest = re.sub(rb"(?im)^connection:[^\r]*\r\n", b"", rest)
    with client, socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        server.sendall(b"%s %s %s\r\nConnection: close\r\n%s" % (method, address, version, rest))
        threading.Thread(target=copy, args=(client, server), daemon=True).start()
        copy(server, client)


def main():
    """Accepts connections until the process is killed."""
    path, address = sys.argv[1], sys.argv[2].encode()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=answer, args=(client, path, address), daemon=True).start()


main()
