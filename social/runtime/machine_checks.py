"""The doctor's checks of the machine: folders, free space, open files, decoding."""

import errno
import io
import os
import shutil
import stat
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Literal

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from social.kernel import descriptors
from social.kernel.media import storage as media_storage
from social.kernel.media.decoder import DecodingFailed, decoder
from social.kernel.media.decoding import jobs
from social.pages.web_client import INDEX, find_file
from social.runtime.datadir import running_supervisor
from social.runtime.postgres import Postgres
from social.settings import env

State = Literal["ok", "warning", "failed"]

#: Seconds within which a stored file must be served.
_READER_SECONDS = 10
# A GIF of one pixel.
_PIXEL = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
#: Open files that a web process needs for 2,048 connections: two each (its socket, and a body or file), and some for other
#: uses.
LEAST_OPEN_FILES = 2 * 2048 + 256
LEAST_FREE, LOW_FREE = 256 << 20, 2 << 30
_FREE_SPACE = (
    f"Remove what is largest: backups in {env.DATA_DIR / 'backups'}, logs (journalctl --vacuum-size=500M), copies of files of "
    f"other servers ({env.manage_command('media remove')}; {env.manage_command('media usage')} says what files take)"
)
RUN_SETUP = f"Run {env.manage_command('setup')}"


@dataclass(frozen=True)
class Check:
    """Result of a check. The doctor succeeds if there are only warnings; a failure names its remedy."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def secrets() -> Iterator[Check]:
    """Check that other users cannot read the file of the secrets."""
    path = env.DATA_DIR / "secrets.json"
    if not path.exists():
        yield Check("secrets", "ok", "from the environment")
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        yield Check("secrets", "failed", f"{path} has mode {mode:04o}", f"Others can read it: chmod 600 {path}")
        return
    yield Check("secrets", "ok", f"{path}, mode {mode:04o}; keep a copy of it with the backups")


def storage() -> Iterator[Check]:
    """Check that the folders, and the bucket or the shared folder of files, are writable, and that files are served."""
    for name in ("", "media", "mail", "run"):
        folder = env.DATA_DIR / name
        if not folder.is_dir():
            yield Check("storage", "failed", f"{folder} is missing", RUN_SETUP)
            return
        if not os.access(folder, os.W_OK | os.X_OK):
            yield Check(
                "storage", "failed", f"{folder} cannot be written", f"Give it to user {os.geteuid()} (chown -R)."
            )
            return
    if env.MEDIA_STORAGE is not None:
        bucket = env.MEDIA_STORAGE["OPTIONS"]["bucket_name"]
        yield _check_file_is_served(
            f"the bucket {bucket}", "Check MEDIA_STORAGE: address, keys, bucket, and that it exists."
        )
        return
    if not Postgres(env.DATA_DIR).cluster.exists():
        detail = f"{env.DATA_DIR} is writable; every machine must see the same {env.DATA_DIR / 'media'}"
        yield Check("storage", "ok", f"{detail} (a shared folder), and have the same secrets")
    else:
        yield Check("storage", "ok", f"{env.DATA_DIR} is writable")
    if "//" in settings.MEDIA_URL:
        yield _check_file_is_served(f"files of {env.DATA_DIR / 'media'}", "Check owner, mode and free space.")


def _check_file_is_served(what: str, remedy: str) -> Check:
    """Check that a small file can be stored, is served, and can be removed; `remedy` is for a storage that fails."""
    try:
        fault = _reading_fault()
    except Exception as error:
        return Check("storage", "failed", f"{what} cannot be used ({first_line(error.__cause__ or error)})", remedy)
    if not fault:
        return Check("storage", "ok", f"{what}: readers get them from {settings.MEDIA_URL}")
    remedy = "Let everybody read the bucket (a policy of the bucket, or &acl=public-read in MEDIA_STORAGE)"
    remedy = f"{remedy}, and check MEDIA_BASE_URL." if env.MEDIA_STORAGE else "Check MEDIA_BASE_URL."
    return Check("storage", "failed", f"{what}: a file was stored, and {settings.MEDIA_URL} {fault}", remedy)


def _reading_fault() -> str:
    """Return the fault in the answer to a request for a file that is stored for this check; empty if it is served.

    Raises errors of the storage.
    """
    path = default_storage.save(f"doctor/{token_hex(16)}.gif", ContentFile(_PIXEL))
    address = media_storage.url(path)
    try:
        with urllib.request.urlopen(address, timeout=_READER_SECONDS) as answer:  # noqa: S310 (ours)
            fault = "" if answer.read(len(_PIXEL) + 1) == _PIXEL else "answers something else"
    except urllib.error.HTTPError as error:
        with error:
            fault = f"answers {error.code}"
    except (OSError, ValueError) as error:
        fault = f"does not answer ({first_line(error)})"
    finally:
        default_storage.delete(path)
    return fault


def web_client() -> Iterator[Check]:
    """Check that the folder of the web client, if one is named, has the page that `/app/` shows."""
    if not settings.WEB_CLIENT:
        return
    if find_file(INDEX) is None:
        detail = f"WEB_CLIENT={settings.WEB_CLIENT} has no {INDEX} that can be read"
        yield Check("web client", "warning", detail, f"Name the folder of the built client, in which {INDEX} is.")
    else:
        yield Check("web client", "ok", f"{settings.WEB_CLIENT} is served at {settings.BASE_URL}/app/")


def decoding() -> Iterator[Check]:
    try:
        with decoder.decode(jobs.PICTURE, io.BytesIO(_PIXEL), {}):
            pass
    except (DecodingFailed, jobs.Refused, OSError) as error:
        remedy = "Uploads fail: install the requirements again, and see that there is memory."
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            remedy = f"Uploads fail for want of room at {tempfile.gettempdir()}. {_FREE_SPACE}."
        yield Check("decoding", "failed", f"a picture could not be decoded ({first_line(error)})", remedy)
    else:
        shut = "shut in by a filter of system calls" if decoder.is_confined else "without a filter of system calls"
        yield Check("decoding", "ok", f"files are decoded in a process of their own, {shut}")


def disk() -> Iterator[Check]:
    """Check the free space on the disks of the data directory, of uploaded files and of temporary files."""
    free = shutil.disk_usage(env.DATA_DIR).free
    detail = f"{free / (1 << 30):.1f} GB free at {env.DATA_DIR}"
    if free < LEAST_FREE:
        yield Check("disk", "failed", detail, f"{_FREE_SPACE}, before PostgreSQL stops for want of room.")
    elif free < LOW_FREE:
        yield Check("disk", "warning", detail, f"{_FREE_SPACE}, or move DATA_DIR to a larger disk.")
    else:
        yield Check("disk", "ok", detail)
    for place in (env.DATA_DIR / "media", Path(tempfile.gettempdir())):
        if place.is_dir() and env.DATA_DIR.is_dir() and place.stat().st_dev != env.DATA_DIR.stat().st_dev:
            left = shutil.disk_usage(place).free
            if left < LEAST_FREE:
                yield Check("disk", "failed", f"{left >> 20} MB free at {place}: uploads fail", f"{_FREE_SPACE}.")


def open_files() -> Iterator[Check]:
    """Check the limit of open files of the running server, or of this process if no server runs (security row 52)."""
    try:
        soft, hard = descriptors.limits(int(running_supervisor(env.DATA_DIR) or os.getpid()))
    except (OSError, ValueError):
        soft, hard = descriptors.limits(os.getpid())
    detail = (
        f"at most {hard} for a process (soft limit {soft}, which web and streaming processes raise to the hard one)"
    )
    if hard < LEAST_OPEN_FILES:
        remedy = "Raise the hard limit of whoever starts the server: LimitNOFILE=65536 in a unit of systemd, --ulimit "
        remedy += "nofile=65536 for a container, `ulimit -Hn 65536` as root in a shell."
        needed = f"a web process needs {LEAST_OPEN_FILES}, a streaming process one for each client"
        yield Check("open files", "failed", f"{detail}; {needed}", remedy)
    else:
        yield Check("open files", "ok", detail)
