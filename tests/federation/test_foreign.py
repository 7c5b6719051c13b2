"""Posts of other programs are shown, or refused for a reason. Each document is shaped after the public source that it names.

Those of Mastodon itself are in `test_wire.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from federation.remote.actors import fetch_actor
from statuses.models import Status
from tests.factories.statuses import follow
from tests.federation.activities import deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api

pytestmark = pytest.mark.django_db
FILES = sorted((Path(__file__).parent / "foreign").glob("*.json"))


def _seen(entity: dict[str, Any]) -> dict[str, Any]:
    """What clients show of a post, shortened to what the files compare."""
    return {
        **{name: entity[name] for name in ("content", "spoiler_text", "sensitive", "language", "visibility", "url")},
        "tags": [tag["name"] for tag in entity["tags"]],
        "emojis": [emoji["shortcode"] for emoji in entity["emojis"]],
        "files": [[file["type"], file["description"]] for file in entity["media_attachments"]],
        "poll": entity["poll"] and [option["title"] for option in entity["poll"]["options"]],
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_posts_of_other_programs_are_shown_or_refused_for_a_reason(
    path: Path, elsewhere: RemoteServer, alice: Account
) -> None:
    found = json.loads(path.read_text().replace("https://foreign.example", elsewhere.url))
    assert found["source"].startswith("https://")
    zoe = RemotePerson(elsewhere, "zoe")
    zoe.uri = found["actor"]["id"]
    zoe.key_id = f"{zoe.uri}#main-key"
    elsewhere.serve(zoe.document() | found["actor"])
    elsewhere.finger("zoe", zoe.uri)
    follow(alice, fetch_actor(zoe.uri))
    outcome = deal(zoe, zoe.activity("Create", found["object"]))
    if "refused" in found:
        assert outcome == f"rejected: {found['refused']}"
        return
    assert outcome == "done"
    status = Status.objects.get(uri=found["object"]["id"])
    assert _seen(Api().get(f"/api/v1/statuses/{status.id}").json()) == found["shown"]
