"""Server of decoding jobs: each runs in a fork of this process, which has all modules loaded and no files open.

A message on the socket holds the name and the parameters of a job in JSON, and passes open files: one for the answer, then
the source and the outputs. The process ends when the other end of the socket is closed, or when it has been idle for a
while; forks that still run end with it.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Final

from social.kernel.media.decoding import jobs
from social.kernel.media.decoding.confinement import confine

_MESSAGE: Final = 64 * 1024
#: Seconds after which an idle process ends to free its memory; the next job starts another process.
IDLE_SECONDS: Final = 30.0
#: The modules that do the jobs; each job is a function of the same name.
MODULES: Final = {
    jobs.PICTURE: "social.kernel.media.decoding.pictures",
    jobs.SHAPED: "social.kernel.media.decoding.pictures",
    jobs.COVER: "social.kernel.media.decoding.recordings",
    jobs.EXAMINED: "social.kernel.media.decoding.recordings",
    jobs.CONVERTED: "social.kernel.media.decoding.recordings",
    jobs.HASHED: "social.kernel.media.decoding.pdq",
    jobs.HASHED_FRAME: "social.kernel.media.decoding.recordings",
}
# Python imports these only when a file names them, but a confined process can import nothing.
_CODECS: Final = ("latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "ascii", "unicode_escape", "idna")

Work = Callable[[Mapping[str, Any], IO[bytes], Sequence[IO[bytes]]], dict[str, Any]]


def serve(control: socket.socket) -> None:
    """Run jobs until the socket is closed, or no job has come for IDLE_SECONDS."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _CODECS:
        "".encode(name)
    control.settimeout(IDLE_SECONDS)
    while True:
        try:
            message, files, _flags, _address = socket.recv_fds(control, _MESSAGE, 2 + jobs.OUTPUTS)
        except TimeoutError:
            if _is_busy():
                continue
            return
        if not message:
            return
        _start(control, json.loads(message), files)
        for file in files:
            os.close(file)
        _is_busy()


def _is_busy() -> bool:
    """Tell whether a fork is still running, and reap the forks that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _start(control: socket.socket, message: Mapping[str, Any], files: Sequence[int]) -> None:
    work = _work(message["job"])
    gc.freeze()
    if os.fork() == 0:
        status = 1
        with contextlib.suppress(BaseException):
            control.close()
            _run(work, message, files)
            status = 0
        os._exit(status)


def _work(job: str) -> Work:
    # The libraries that a job needs are loaded once, before the fork; libraries for video are loaded when the first video
    # arrives.
    module = importlib.import_module(MODULES[job])
    work: Work = getattr(module, job)
    return work


def _run(work: Work, message: Mapping[str, Any], files: Sequence[int]) -> None:
    answer, source, *outputs = files
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for standard in range(3):
            os.dup2(nothing.fileno(), standard)
    os.write(answer, jobs.STARTED)
    shut = confine(jobs.LIMITS[message["job"]])
    try:
        os.lseek(source, 0, os.SEEK_SET)
        with os.fdopen(source, "rb") as file:
            written = [os.fdopen(output, "w+b") for output in outputs]
            found = work(message["parameters"], file, written)
            for output in written:
                output.flush()
    except jobs.Refused as refused:
        found = {jobs.REFUSED: refused.code, **refused.values}
    except MemoryError:
        found = {jobs.REFUSED: "memory"}
    except Exception as error:
        # The exceptions that decoders raise on broken files are not documented, and differ between formats.
        found = {jobs.REFUSED: jobs.UNIDENTIFIED, "detail": f"{type(error).__name__}: {error}"[:500]}
    reply = memoryview(json.dumps({**found, jobs.CONFINED: shut}).encode())
    while reply:
        reply = reply[os.write(answer, reply) :]


def main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)
