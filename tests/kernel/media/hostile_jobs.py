"""Jobs that imitate a decoder which a hostile file has taken over."""

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

Job = Callable[[Mapping[str, Any], IO[bytes], Sequence[IO[bytes]]], dict[str, Any]]


def crash(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Read through a null pointer."""
    return {"read": ctypes.string_at(0)}


def spin(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Compute in an endless loop."""
    while True:
        pass


def linger(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Sleep for a long time."""
    time.sleep(1000)
    return {}


def hog(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Allocate all memory."""
    return {"taken": [bytearray(64 * 1024 * 1024) for _block in range(1000)]}


def fill(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Write until the disk is full."""
    for _block in range(10_000):
        outputs[0].write(bytes(1024 * 1024))
    return {}


def trespass(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Try every way out of the process, and return the result of each attempt."""
    path = parameters["path"]
    attempts: dict[str, Callable[[], Any]] = {
        "read": lambda: os.open(__file__, os.O_RDONLY),
        "write": lambda: os.open(path, os.O_WRONLY | os.O_CREAT),
        "make": lambda: os.mkdir(path),
        "remove": lambda: os.unlink(__file__),
        "link": lambda: os.symlink("/etc/passwd", path),
        "list": lambda: os.listdir("/"),
        "connect": lambda: socket.create_connection(("127.0.0.1", parameters["port"]), 1),
        "listen": lambda: socket.socket(),
        "run": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "fork": os.fork,
        "kill": lambda: os.kill(os.getppid(), 0),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
            found[name] = "done"
        except OSError as error:
            found[name] = type(error).__name__
    return found
