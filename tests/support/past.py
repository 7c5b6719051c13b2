"""Archives of a user's posts, built from the public descriptions of their formats."""

import io
import json
import tarfile
import zipfile
from typing import Any, Final

OLD: Final = "https://old.example/users/ada"
PUBLIC: Final = "https://www.w3.org/ns/activitystreams#Public"


def note(number: int | str, content: str = "<p>hello</p>", **members: Any) -> dict[str, Any]:
    """Return a public post of the author, as in an archive of Mastodon."""
    return {
        "id": f"{OLD}/statuses/{number}",
        "type": "Note",
        "summary": None,
        "inReplyTo": None,
        "published": "2019-04-01T10:00:00Z",
        "url": f"https://old.example/@ada/{number}",
        "attributedTo": OLD,
        "to": [PUBLIC],
        "cc": [f"{OLD}/followers"],
        "sensitive": False,
        "content": content,
        "contentMap": {"en": content},
        "attachment": [],
        "tag": [],
    } | members


def create(document: dict[str, Any]) -> dict[str, Any]:
    """Return the activity for a post in the archive's outbox."""
    kept = {name: document[name] for name in ("published", "to", "cc") if name in document}
    return {"id": f"{document['id']}/activity", "type": "Create", "actor": OLD, **kept, "object": document}


def mastodon(*items: Any, files: dict[str, bytes] | None = None, likes: list[str] | None = None) -> dict[str, bytes]:
    """Return the files of an archive of Mastodon with these posts; documents of type Note are wrapped in activities."""
    activities = [
        create(item) if isinstance(item, dict) and item.get("type") in ("Note", "Question") else item for item in items
    ]
    outbox = {"@context": "https://www.w3.org/ns/activitystreams", "id": "outbox.json", "type": "OrderedCollection"}
    actor = {"id": OLD, "type": "Person", "preferredUsername": "ada", "followers": f"{OLD}/followers"}
    return {
        "actor.json": json.dumps(actor | {"outbox": "outbox.json"}).encode(),
        "outbox.json": json.dumps(outbox | {"totalItems": len(activities), "orderedItems": activities}).encode(),
        "likes.json": json.dumps({"type": "OrderedCollection", "orderedItems": likes or []}).encode(),
        "bookmarks.json": json.dumps({"type": "OrderedCollection", "orderedItems": []}).encode(),
        **(files or {}),
    }


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return target.getvalue()


def tarred(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """Return a tar.gz file of these files, and of members without content."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as file:
        for member in more:
            file.addfile(member)
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return target.getvalue()
