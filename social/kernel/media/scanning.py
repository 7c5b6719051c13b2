"""Asks the operator's scanner whether a file may be shown (MEDIA_SCANNER): a service over HTTP, or a program.

A service gets the file as the body of a POST, with its Content-Type and its digest in `X-Content-SHA256`; it answers 200 with
`{"verdict": "clean"}` or `{"verdict": "quarantine", "reason": "..."}`. A program gets the file as its standard input; it ends
with 0 for clean and with 1 for quarantine, as `clamdscan --no-summary -` does, and its first line is the reason. Any other
answer counts as a failure, and the file is not shown until a later scan succeeds.
"""

import hashlib
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any, Final

import orjson
from django.conf import settings

from social.kernel.errors import Unavailable
from social.kernel.http import client as http

COMMAND_PREFIX: Final = "command:"
SCAN_SECONDS: Final = 60.0  # time that a scanner may take for one file, in seconds

REASON_LIMIT: Final = 500
_ANSWER_BYTES: Final = 64 * 1024
_CHUNK: Final = 1 << 20
_CLEAN_CODE: Final = 0
_QUARANTINE_CODE: Final = 1


@dataclass(frozen=True)
class ScanResult:
    """Result of a scan; `reason` says what the scanner found."""

    clean: bool
    reason: str = ""


def is_on() -> bool:
    return bool(settings.MEDIA_SCANNER)


def digest_of(file: IO[bytes]) -> str:
    """Return the SHA-256 of a whole open file, in hexadecimal digits."""
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def scan(file: IO[bytes], content_type: str, sha256: str, *, seconds: float = SCAN_SECONDS) -> ScanResult:
    """Send a whole open file to the scanner; return its result.

    Raises Unavailable if there is no valid answer within `seconds`.
    """
    scanner: str = settings.MEDIA_SCANNER
    file.seek(0)
    if scanner.startswith(COMMAND_PREFIX):
        return _run(shlex.split(scanner.removeprefix(COMMAND_PREFIX)), file, seconds)
    return _ask(scanner, file, content_type, sha256, seconds)


def _ask(url: str, file: IO[bytes], content_type: str, sha256: str, seconds: float) -> ScanResult:
    headers = {
        "Content-Type": content_type or "application/octet-stream",
        "X-Content-SHA256": sha256,
        "Accept": "application/json",
    }
    answer = http.ask_service(
        url,
        file=file,
        headers=headers,
        max_bytes=_ANSWER_BYTES,
        deadline=seconds,
        loopback=settings.MEDIA_SCANNER_LOOPBACK,
    )
    if answer.status != 200:
        raise Unavailable(f"the scanner answered {answer.status}")
    try:
        said: Any = orjson.loads(answer.body)
        verdict, reason = said["verdict"], str(said.get("reason") or "")
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Unavailable("the scanner's answer cannot be understood") from None
    if verdict not in ("clean", "quarantine"):
        raise Unavailable("the scanner's answer has no verdict")
    return ScanResult(verdict == "clean", _printable(reason))


def _run(command: list[str], file: IO[bytes], seconds: float) -> ScanResult:
    # The program gets neither this server's secrets in its environment nor its working folder.
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    # The program reads a temporary file, because a pipe would have to be written at the same time as the program's output is
    # read.
    with TemporaryFile() as given:
        shutil.copyfileobj(file, given, _CHUNK)
        given.seek(0)
        try:
            program = subprocess.run(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable("the scanner took too long") from None
        except OSError as error:
            raise Unavailable(f"the scanner cannot be run: {error}") from None
    output, code = program.stdout, program.returncode
    if code not in (_CLEAN_CODE, _QUARANTINE_CODE):
        raise Unavailable(f"the scanner ended with {code}")
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return ScanResult(code == _CLEAN_CODE, _printable(lines[0] if lines else ""))


def _printable(reason: str) -> str:
    return "".join(letter for letter in reason if letter.isprintable())[:REASON_LIMIT]
