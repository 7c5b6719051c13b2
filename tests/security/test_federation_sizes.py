"""Tests that every part of remote documents has a maximum length (security row 33)."""

import pytest
from django.db import transaction

from accounts.models import Block, Follow
from federation.inbound import processing
from federation.inbound.incoming import Incoming
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from moderation.models import Report
from social.kernel import clock
from social.kernel.text.sanitize import MAX_BYTES
from statuses.models import Favourite, Quote, Status
from tests.conformance.people import Person
from tests.factories.statuses import follow, make_status
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_row_33_the_length_of_each_part_of_a_remote_actor_is_limited(elsewhere: RemoteServer, db: None) -> None:
    """Contract, federation section 16."""
    row = {"type": "PropertyValue", "name": "n" * 3000, "value": "v" * 3000}
    person = elsewhere.person(
        "zoe",
        name="x" * 3000,
        summary="y" * 30_000,
        attachment=[row] * 60,
        alsoKnownAs=[elsewhere.uri(f"users/z{number}") for number in range(300)],
        attributionDomains=[f"d{number}.example" for number in range(300)],
        icon={"type": "Image", "url": elsewhere.uri("i.png"), "summary": "i" * 3000},
        image={"type": "Image", "url": elsewhere.uri("h.png"), "summary": "h" * 3000},
    )
    account = fetch_actor(person.uri)
    assert (len(account.display_name), len(account.note)) == (2048, 20_000)
    assert [(len(item["name"]), len(item["value"])) for item in account.fields] == [(2047, 2047)] * 50
    assert (len(account.also_known_as), len(account.attribution_domains)) == (256, 256)
    assert (len(account.avatar_description), len(account.header_description)) == (2048, 2048)
    longest = "z" * 2048
    person = elsewhere.person("long", preferredUsername=longest + "z")
    elsewhere.finger(longest, person.uri)
    assert fetch_actor(person.uri).username == longest


def test_row_33_the_length_of_each_part_of_a_remote_post_is_limited(
    elsewhere: RemoteServer, alice: Person, zoe: RemotePerson
) -> None:
    """Long texts are cut, long addresses are dropped, and the post is stored."""
    follow(alice.account, fetch_actor(zoe.uri))
    far = elsewhere.uri("x" * 3000)
    file = {"type": "Document", "url": elsewhere.uri("a.png"), "icon": {"type": "Image", "url": far}}
    files = [
        file | {"mediaType": f"image/{'x' * 3000}", "name": "d" * 30_000, "blurhash": "b" * 3000},
        file | {"url": far},
        file | {"url": [{"type": "Link", "href": elsewhere.uri("b.png")}], "mediaType": "video/mp4"},
        *[file] * 9,
    ]
    note = zoe.note(
        content=f"<p>{'&amp;' * 60_000}</p>",
        summary="w" * 30_000,
        url=far,
        inReplyTo=far,
        conversation=far,
        quote=far,
        quoteAuthorization=far,
        contentMap={"x" * 3000: "<p>other words</p>"},
        attachment=files,
        tag=[
            *[{"type": "Hashtag", "name": f"#{letter * 30_000}"} for letter in "ab"],
            *[{"type": "Hashtag", "name": f"#n{number}"} for number in range(300)],
            *[{"type": "Mention", "href": far, "name": "@long"}] * 3,
        ],
        to=["https://www.w3.org/ns/activitystreams#Public", far],
    )
    zoe.send(zoe.activity("Create", note))
    work()
    [status] = Status.objects.filter(account__uri=zoe.uri)
    assert InboundActivity.objects.latest("id").outcome == "done"
    assert len(status.content) <= MAX_BYTES
    assert (len(status.spoiler_text), status.url, status.language) == (10_000, note["id"], None)
    assert (status.in_reply_to_uri, status.conversation_uri, Quote.objects.count()) == (None, None, 0)
    assert status.status_tags.count() == 100
    rows = status.media.order_by("position")
    assert [len(media.description or "") for media in rows] == [10_000, 0, 0, 0]
    assert [media.preview_remote_url for media in rows] == [None] * 4
    assert (len(rows[0].content_type), rows[0].blurhash) == (100, None)
    zoe.send(zoe.activity("Update", note | {"content": "<p>new</p>", "updated": clock.iso(clock.now())}))
    work()
    status.refresh_from_db()
    assert (status.content, status.url) == ("<p>new</p>", note["id"])


def test_row_33_an_activity_with_an_id_that_is_too_long_is_refused(
    elsewhere: RemoteServer, alice: Person, zoe: RemotePerson
) -> None:
    """An activity with a longer id is refused with a reason, once, and stores nothing."""
    status, longer = make_status(alice.account), f"{zoe.uri}#{'x' * 2000}"
    note = zoe.note()
    for activity in (
        zoe.activity("Follow", alice.account.uri, id=longer),
        zoe.activity("Like", f"{alice.account.uri}/statuses/{status.id}", id=longer),
        zoe.activity("Announce", f"{alice.account.uri}/statuses/{status.id}", id=longer),
        zoe.activity("Block", alice.account.uri, id=longer),
        zoe.activity("Flag", [alice.account.uri], id=longer, content="bad"),
        zoe.activity("Create", note | {"id": longer}),
        zoe.activity("Update", zoe.document() | {"inbox": longer}),
        zoe.activity("Delete", {"type": "Tombstone", "id": longer}),
        zoe.activity("Undo", {"type": "Follow", "id": longer, "actor": zoe.uri, "object": longer}),
    ):
        assert zoe.send(activity).status_code == 202
        work()
        row = InboundActivity.objects.latest("id")
        assert row.outcome.startswith(("rejected: ", "done")), (activity["type"], row.outcome)
        assert (row.attempts, row.processed_at is None) == (1, False), activity["type"]
    assert not Follow.objects.exists()
    assert not Favourite.objects.exists()
    assert not Block.objects.exists()
    assert not Report.objects.exists()
    assert Status.objects.count() == 1


def test_row_33_a_value_that_only_the_database_refuses_is_not_retried(
    elsewhere: RemoteServer, alice: Person, zoe: RemotePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a check is missing, the database refuses the value, and a retry would change nothing."""
    status = make_status(alice.account)

    def forgetful(incoming: Incoming) -> None:
        with transaction.atomic():
            Status.objects.filter(id=status.id).update(language="x" * 65)

    monkeypatch.setitem(processing.HANDLERS, "Follow", forgetful)
    assert zoe.send(zoe.activity("Follow", alice.account.uri)).status_code == 202
    work()
    row = InboundActivity.objects.latest("id")
    assert (row.outcome, row.attempts) == ("rejected: a value in it is too long", 1)
    assert row.processed_at is not None
