"""Fetches blocklists by conditional requests, with limits on size and time, from addresses to which this server may connect."""

import base64
from collections.abc import Coroutine, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.services.block_files import UnreadableFile
from moderation.blocklists.models import Blocklist, BlocklistFetch, ListFormat
from moderation.blocklists.policies import is_same_origin
from moderation.blocklists.services.reading import BYTES_LIMIT, ReadList, read_list
from moderation.blocklists.services.taking import note_failure, note_unchanged, store_list
from social.kernel.crypto import UnreadableSecret, decrypt
from social.kernel.errors import NotFound
from social.kernel.http.client import FetchError, Request, Response, fetch_async, run
from social.kernel.runner import Failed, Job, Steps, Work

#: Time-out of a request with its redirects, in seconds.
DEADLINE: Final = 20.0
_UNCHANGED_STATUS: Final = 304
_ACCEPT: Final = {
    ListFormat.CSV: "text/csv, application/ld+json, application/json, text/plain;q=0.9, */*;q=0.5",
    ListFormat.JSON: "application/json, application/ld+json, text/csv;q=0.9, text/plain;q=0.9, */*;q=0.5",
    ListFormat.PLAIN: "text/plain, text/csv;q=0.9, application/ld+json;q=0.9, application/json;q=0.9, */*;q=0.5",
}


class ListError(Exception):
    """Error with its reason: a list could not be fetched, or is invalid. `is_host` means that the list's server failed."""

    def __init__(self, reason: str, *, is_host: bool) -> None:
        super().__init__(reason)
        self.is_host = is_host


@dataclass(frozen=True)
class Fetched:
    """A fetched list, with the header values that make the next request conditional."""

    read: ReadList
    body: bytes
    etag: str = ""
    last_modified: str = ""


_Requests = Generator[Coroutine[Any, Any, Response], Any, Fetched | None]


def ask_for_list(blocklist: Blocklist, *, etag: str = "", last_modified: str = "") -> _Requests:
    """Fetch and return a list; return None if it has not changed. This generator yields awaitable requests, and the caller
    sends the responses back. If the response is a FIRES dataset, the snapshot that the dataset names is fetched as well. The
    username and password of the list are not sent to another origin. Raises ListError.
    """
    accept = {"Accept": _ACCEPT[ListFormat(blocklist.content_type)]}
    access = accept | _access_of(blocklist)
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified, **access}
    response = yield from _ask(blocklist.url, {name: value for name, value in headers.items() if value})
    if response.status == _UNCHANGED_STATUS and (etag or last_modified):
        return None
    read = _read(response)
    if not read.snapshot:
        values = response.headers
        return Fetched(read, response.body, values.get("ETag", ""), values.get("Last-Modified", ""))
    response = yield from _ask(read.snapshot, access if is_same_origin(blocklist.url, read.snapshot) else accept)
    read = _read(response)
    if read.snapshot:
        raise ListError("the snapshot names another snapshot", is_host=False)
    return Fetched(read, response.body)


def fetch_list_now(blocklist: Blocklist) -> Fetched:
    """Fetch a list and wait for the responses; the subscription may be unsaved. Raises ListError."""
    requests = ask_for_list(blocklist)
    try:
        request = next(requests)
        while True:
            try:
                response = run(request)
            except (FetchError, ValueError) as error:
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as end:
        fetched: Fetched = end.value
        return fetched


def _access_of(blocklist: Blocklist) -> dict[str, str]:
    if not blocklist.username:
        return {}
    try:
        password = decrypt(blocklist.password) if blocklist.password else ""
    except UnreadableSecret as error:
        raise ListError(f"the password cannot be decrypted: {error}", is_host=False) from None
    pair = f"{blocklist.username}:{password}".encode()
    return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _ask(url: str, headers: dict[str, str]) -> Generator[Coroutine[Any, Any, Response], Any, Response]:
    request = Request(url, headers=headers, max_bytes=BYTES_LIMIT, deadline=DEADLINE)
    try:
        response: Response = yield fetch_async(request)
    except (FetchError, ValueError) as error:
        raise ListError(f"{type(error).__name__}: {error}", is_host=True) from None
    return response


def _read(response: Response) -> ReadList:
    if not 200 <= response.status < 300:
        raise ListError(f"the server answers {response.status}", is_host=response.status >= 500)
    try:
        return read_list(response.body)
    except UnreadableFile as error:
        raise ListError(error.message, is_host=False) from None


def _begin(jobs: Sequence[Job[BlocklistFetch]]) -> Iterator[Steps]:
    if not jobs:
        return
    ids = [job.row.blocklist_id for job in jobs]
    lists = Blocklist.objects.filter(id__one_of=ids, enabled=True).in_bulk()
    for job in jobs:
        yield _fetch(job, lists.get(job.row.blocklist_id))


def _fetch(job: Job[BlocklistFetch], blocklist: Blocklist | None) -> Steps:
    """Fetch a list, and store its entries or the reason for the failure. A list that was removed meanwhile is skipped."""
    if blocklist is None:
        return
    try:
        fetched = yield from ask_for_list(blocklist, etag=blocklist.etag, last_modified=blocklist.last_modified)
        keep(blocklist, fetched)
    except ListError as error:
        reason = str(error)
        job.answers[job.row.host] = reason if error.is_host else ""
        try:
            note_failure(blocklist, reason)
        except NotFound:
            return
        raise Failed(reason) from None
    except NotFound:
        return
    job.answers[job.row.host] = ""


def keep(blocklist: Blocklist, fetched: Fetched | None) -> None:
    """Store the result of a fetch; `fetched` is None if the list has not changed. Raises NotFound for a removed list."""
    if fetched is None:
        note_unchanged(blocklist)
    else:
        store_list(blocklist, fetched.read, body=fetched.body, etag=fetched.etag, last_modified=fetched.last_modified)


FETCHES: Final = Work(BlocklistFetch, _begin)
"""The queue of blocklist fetches."""
