"""ActivityPub part of an archive: the actor, its outbox and its likes (`accounts.transfers.services.archives`). Other servers
and archive readers expect these file names.
"""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from accounts.emojis.queries import EmojiLookup, account_texts
from accounts.models import Account
from accounts.services.key_pairs import keys_of
from accounts.transfers.services import archives
from accounts.transfers.services.archive_files import ArchiveWriter
from accounts.transfers.services.archives import ArchivePart, picture_name
from federation.documents import activities
from federation.documents.actors import actor
from federation.documents.context import all_terms, with_context
from social.kernel.media import storage
from statuses.models import Favourite, Status
from statuses.queries.posts import load_posts

_POSTS: Final = 100
_LIKES: Final = 500


def _write_actor(account: Account, cursor: int, writer: ArchiveWriter) -> int | None:
    emojis = EmojiLookup.for_accounts([account]).find(None, *account_texts(account))
    document = actor(account, keys_of(account=account).public_key, emojis)
    for member, name in (("icon", "avatar"), ("image", "header")):
        if member in document:
            document[member] |= {"url": picture_name(account, name)}
    document |= {"outbox": "outbox.json", "likes": "likes.json"}
    writer.add_document("actor.json", orjson.dumps(document, option=orjson.OPT_INDENT_2))
    return None


def _write_outbox(account: Account, cursor: int, writer: ArchiveWriter) -> int | None:
    own = Status.objects.filter(account=account, deleted_at=None, id__gt=cursor).order_by("id")
    ids = list(own.values_list("id", flat=True)[:_POSTS])
    documents = activities.of_posts(load_posts(ids), context=False)
    items = [documents[number] for number in ids if number in documents]
    for item in items:
        if isinstance(item["object"], dict):
            _name_files(item["object"])
    _append(writer, "outbox.json", items, first=cursor == 0, last=not ids)
    return ids[-1] if ids else None


def _write_likes(account: Account, cursor: int, writer: ArchiveWriter) -> int | None:
    likes = Favourite.objects.filter(account=account, id__gt=cursor).order_by("id").values_list("id", "status_id")
    pairs = list(likes[:_LIKES])
    uris = [post.object_uri for post in load_posts(status_id for _id, status_id in pairs)]
    _append(writer, "likes.json", uris, first=cursor == 0, last=not pairs)
    return pairs[-1][0] if pairs else None


def _name_files(note: dict[str, Any]) -> None:
    """Replace the URLs of local files with their paths in the archive, which are the same as in the storage."""
    prefix = storage.url("")
    for file in note["attachment"]:
        file["url"] = file["url"].removeprefix(prefix)


def _append(writer: ArchiveWriter, name: str, items: Sequence[Any], *, first: bool, last: bool) -> None:
    """Append items to a collection. The collection's id, type and total are written after the last item, when the total is
    known.
    """
    item_count = writer.items(name)
    lines = [b'{"orderedItems":['] if first else []
    for item in items:
        lines.append((b",\n" if item_count else b"\n") + orjson.dumps(item))
        item_count += 1
    if last:
        document = {"id": name, "type": "OrderedCollection", "totalItems": item_count}
        lines.append(b"\n]," + orjson.dumps(with_context(document, all_terms()))[1:])
    writer.append(name, b"".join(lines), items=len(items))


def register_parts() -> None:
    archives.register(
        ArchivePart("actor", _write_actor), ArchivePart("outbox", _write_outbox), ArchivePart("likes", _write_likes)
    )
