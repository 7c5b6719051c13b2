"""Recognises the kind of an archive, and reads every kind as ActivityPub documents. Kinds: the archives of Mastodon, Pleroma,
Akkoma and similar software (`outbox.json`), or their list of posts alone; the notes of Misskey and its forks; the archive of X
(`data/tweets.js`). GoToSocial exports only tables (CSV), whose lines are reported as entries that are not imported here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, Final
from urllib.parse import urlsplit

from accounts.transfers.past import POSTS_LIMIT, Reason, UnreadableArchive
from accounts.transfers.services.portable_lists import ADDRESS
from federation.archives import misskey, twitter
from federation.archives.containers import Container
from federation.archives.items import list_items
from federation.documents.reading import first, many, uri_of, web_uri
from federation.documents.received_notes import TYPES
from social.kernel import json

_DOCUMENT_LIMIT: Final = 1 << 20
_LINE_LIMIT: Final = 10_000
_ReadItem = Callable[[Any], tuple[dict[str, Any], Reason | None]]


@dataclass(frozen=True)
class Entry:
    """An entry of an archive: a note, or the reason why the entry cannot be imported. `line` counts from 1."""

    line: int
    uri: str
    note: dict[str, Any] | None = None
    reason: Reason | None = None


@dataclass(frozen=True)
class Source:
    """An archive of a known kind. `author` is the author's ActivityPub id, or empty if only the posts contain the id. Files are
    named relative to `root`.
    """

    software: str
    author: str
    followers: str
    root: str
    read: Callable[[], Iterator[Entry]]


def recognise(container: Container) -> Source:
    """Return the source of an archive. Raises UnreadableArchive for an unknown kind of archive."""
    by_name: dict[str, str] = {}
    for name in container.names():
        base = name.rpartition("/")[2].lower()
        if base.endswith((".json", ".js", ".csv")) and (base not in by_name or len(name) < len(by_name[base])):
            by_name[base] = name
            if len(by_name) > POSTS_LIMIT:
                raise UnreadableArchive(Reason.TOO_MANY)
    if "outbox.json" in by_name:
        return _outbox(container, by_name["outbox.json"], _tables(by_name))
    tweets = sorted(name for base, name in by_name.items() if twitter.is_list(base))
    if tweets:
        return _twitter(container, tweets, by_name.get("account.js"))
    notes = sorted(name for base, name in by_name.items() if base.startswith("notes") and base.endswith(".json"))
    if notes:
        return _converted("misskey", misskey.AUTHOR, notes[:1], container, misskey.read)
    if tables := _tables(by_name):
        return Source("tables", "", "", "", lambda: _listed_tables(container, tables))
    raise UnreadableArchive(Reason.NO_POSTS)


def _numbered(items: Iterator[Any], read: Callable[[int, Any], Entry]) -> Iterator[Entry]:
    for line, item in enumerate(items, 1):
        if line > POSTS_LIMIT:
            raise UnreadableArchive(Reason.TOO_MANY)
        yield read(line, item)


#: Lists in the archive other than `outbox.json`, each with the reason why its entries are not imported as posts.
_LISTS: Final = {
    "likes.json": Reason.LIKE,
    "bookmarks.json": Reason.BOOKMARK,
    "following.json": Reason.FOLLOW,
    "followers.json": Reason.FOLLOWER,
}


def _outbox(container: Container, name: str, tables: Sequence[str]) -> Source:
    root = name.rpartition("/")[0]
    beside = f"{root}/" if root else ""
    actor = _document(container, f"{beside}actor.json")
    author = web_uri(actor.get("id")) or ""

    def listed(file_name: str, reason: Reason) -> Iterator[Entry]:
        if container.size(f"{beside}{file_name}") is not None:
            with container.open(f"{beside}{file_name}") as file:
                yield from _numbered(
                    list_items(file, "orderedItems", "items"),
                    lambda line, item: Entry(line, uri_of(first(item)) or "", reason=reason),
                )

    def read() -> Iterator[Entry]:
        with container.open(name) as file:
            posts = _numbered(list_items(file, "orderedItems", "items"), _read_activity)
            others = (listed(file_name, reason) for file_name, reason in _LISTS.items())
            yield from chain(posts, *others, _listed_tables(container, tables))

    return Source(_software_of(actor), author, uri_of(actor.get("followers")) or "", root, read)


def _software_of(actor: Mapping[str, Any]) -> str:
    contexts = many(actor.get("@context"))
    litepub = any(isinstance(context, str) and "litepub" in context for context in contexts)
    return "pleroma" if litepub else "activitypub"


def _tables(by_name: Mapping[str, str]) -> list[str]:
    return sorted(name for base, name in by_name.items() if base.endswith(".csv"))


def _listed_tables(container: Container, tables: Sequence[str]) -> Iterator[Entry]:
    lines = 0
    for name in tables:
        with container.open(name) as file:
            for line in count(1):
                data = file.readline(_LINE_LIMIT)
                if not data:
                    break
                lines += 1
                if lines > POSTS_LIMIT:
                    raise UnreadableArchive(Reason.TOO_MANY)
                first_cell = data.decode("utf-8-sig", "replace").partition(",")[0].strip().strip('"')
                if first_cell and not (line == 1 and first_cell == ADDRESS):
                    yield Entry(line, first_cell, reason=Reason.LIST_ENTRY)


def _read_activity(line: int, item: Any) -> Entry:
    if not isinstance(item, Mapping):
        return Entry(line, uri_of(item) or "", reason=Reason.NO_POST)
    uri = web_uri(item.get("id")) or ""
    kind = item.get("type")
    if kind == "Announce":
        return Entry(line, uri, reason=Reason.BOOST)
    note: Any = first(item.get("object")) if kind == "Create" else item
    if not isinstance(note, Mapping) or note.get("type") not in TYPES:
        return Entry(line, uri, reason=Reason.NO_POST)
    inherited = {name: item[name] for name in ("to", "cc", "published") if kind == "Create" and name in item}
    return Entry(line, web_uri(note.get("id")) or uri, note={**inherited, **note})


def _document(container: Container, name: str) -> dict[str, Any]:
    if container.size(name) is None:
        return {}
    with container.open(name) as file:
        data = file.read(_DOCUMENT_LIMIT + 1)
    try:
        document = json.loads(data) if len(data) <= _DOCUMENT_LIMIT else None
    except json.JSONDecodeError:
        document = None
    return document if isinstance(document, dict) else {}


def _twitter(container: Container, names: Sequence[str], account: str | None) -> Source:
    username = "i"
    if account is not None:
        with container.open(account) as file:
            username = twitter.username_of(next(list_items(file), None))
    author = twitter.author_of(username)
    return _converted("twitter", author, names, container, lambda item: twitter.read(item, username))


def _converted(software: str, author: str, names: Sequence[str], container: Container, read_item: _ReadItem) -> Source:
    def entry(line: int, item: Any) -> Entry:
        note, reason = read_item(item)
        return Entry(line, note.get("id", ""), note=note if reason is None else None, reason=reason)

    def items() -> Iterator[Any]:
        for name in names:
            with container.open(name) as file:
                yield from list_items(file)

    root = names[0].rpartition("/")[0]
    return Source(software, author, f"{author}/followers", root, lambda: _numbered(items(), entry))


def names_of(address: str, root: str) -> list[str]:
    """Return the names that the file at `address` may have in an archive, the most likely name first."""
    path = urlsplit(address).path.lstrip("/") if "//" in address else address.lstrip("/")
    paths = [path, path.removeprefix("system/")]
    at = path.find("media_attachments/")
    if at > 0:
        paths.append(path[at:])
    return [f"{root}/{name}" if root else name for name in dict.fromkeys(paths) if name]
