"""Client of the decoding process: starts it when needed, sends it jobs, and waits for their answers.

A file from outside is never decoded in a process that holds secrets or a connection (security row 1). A crash, too much
memory or an endless loop affects only the job in which it happens.
"""

import contextlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from django.conf import settings

from social.kernel.errors import KernelError
from social.kernel.media.decoding import jobs

logger = logging.getLogger("social.media")

_ATTEMPTS: Final = 3
# Seconds, in addition to the time limit of a job, that a loaded machine may need to start the process.
_ANSWER_SECONDS: Final = 20.0


class DecodingFailed(KernelError):
    """The process of the job ended without an answer: a crash, or more time or memory than a job may use."""


@dataclass(frozen=True)
class Found:
    """Result of a job and the files it wrote, which are closed and deleted at the end of the block of `decode`."""

    facts: dict[str, Any]
    files: tuple[IO[bytes], ...]


class Decoder:
    """Decoding process with its socket, shared by all threads of this process; a forked child starts its own. `is_confined`
    becomes False when a job has run without a system call filter.
    """

    def __init__(self, program: str = "social.kernel.media.decoding") -> None:
        self._program = program
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.is_confined = True
        self._turns = threading.BoundedSemaphore(settings.IMAGE_WORKERS)

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def close(self) -> None:
        with self._lock:
            self._stop()

    @contextlib.contextmanager
    def decode(self, job: str, source: IO[bytes], parameters: dict[str, Any]) -> Iterator[Found]:
        """Run a job; yield its result, whose files can be read inside the block. The position in the source does not change.

        At most settings.IMAGE_WORKERS short jobs run at a time, and others wait. Raises jobs.Refused for a file that is not
        accepted, DecodingFailed, and OSError when there is no room for the files that are written.
        """
        turn = self._turns if job != jobs.CONVERTED else contextlib.nullcontext()
        with contextlib.ExitStack() as files:
            outputs = tuple(files.enter_context(_temporary()) for _output in range(jobs.OUTPUTS))
            given = files.enter_context(_with_descriptor(source))
            position = given.tell()
            try:
                with turn:
                    facts = self._ask(job, parameters, [given.fileno(), *(output.fileno() for output in outputs)])
            finally:
                # The processes share one position in the file, and the job has moved it. The first `seek` discards this
                # process's buffer. Without that, the second `seek` would only move within the buffer, and reading would
                # continue where the job stopped.
                given.seek(0, os.SEEK_END)
                given.seek(position)
            if not facts.pop(jobs.CONFINED) and self.is_confined:
                self.is_confined = False
                logger.warning("files are decoded without a filter of system calls: this system has none")
            refused = facts.pop(jobs.REFUSED, None)
            if refused is not None:
                logger.info("%s%s", jobs.MEANINGS[refused], f" ({facts})" if facts else "")
                raise jobs.Refused(refused, **facts)
            for output in outputs:
                output.seek(0)
            yield Found(facts, outputs)

    def _ask(self, job: str, parameters: dict[str, Any], files: list[int]) -> dict[str, Any]:
        message = json.dumps({"job": job, "parameters": parameters}).encode()
        for _attempt in range(_ATTEMPTS):
            ours, theirs = socket.socketpair()
            with ours:
                with theirs:
                    control = self._send(message, [theirs.fileno(), *files])
                ours.settimeout(jobs.LIMITS[job].seconds + _ANSWER_SECONDS)
                answer = _read(ours)
            if answer.startswith(jobs.STARTED):
                return _facts(job, answer[len(jobs.STARTED) :])
            # The process had ended before it accepted the job: it was idle, or was killed.
            self._replace(control)
        raise DecodingFailed(f"{job}: the decoding process could not be started")

    def _send(self, message: bytes, files: list[int]) -> socket.socket:
        with self._lock:
            if self._control is None:
                self._start()
            assert self._control is not None
            with contextlib.suppress(OSError):
                socket.send_fds(self._control, [message], files)
            return self._control

    def _replace(self, control: socket.socket) -> None:
        """Stop the process behind a socket, unless another thread has done so."""
        with self._lock:
            if self._control is control:
                self._stop()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._program, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=settings.BASE_DIR,
                # The environment has none of this server's secrets, and allows malloc only two arenas, because each counts
                # against the memory limit of a job.
                env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"},
            )
        self._control = ours

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            # The process ends by itself when its socket is closed; jobs that are still running are lost.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self._process = None


def _read(answer: socket.socket) -> bytes:
    received = bytearray()
    try:
        while chunk := answer.recv(65536):
            received += chunk
    except OSError:
        # The job took too long, or the connection broke: an incomplete answer counts as a failure.
        logger.warning("a decoding process did not answer")
    return bytes(received)


def _facts(job: str, answer: bytes) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(answer)
    except ValueError:
        raise DecodingFailed(f"{job}: the process of the job has ended") from None
    return facts


def _temporary() -> IO[bytes]:
    """Return a file without a name, which is deleted when no process has it open any more, however this process ends."""
    return tempfile.TemporaryFile(dir=settings.DATA_DIR)


@contextlib.contextmanager
def _with_descriptor(source: IO[bytes]) -> Iterator[IO[bytes]]:
    """Return the source itself or, if it is in memory only, a copy that another process can read."""
    try:
        source.fileno()
    except (AttributeError, OSError):
        with _temporary() as copy:
            source.seek(0)
            shutil.copyfileobj(source, copy)
            copy.flush()
            yield copy
    else:
        yield source


decoder: Final = Decoder()
