"""Tests of the different ways in which servers name the audience and the author of a post (contract, federation section 17)."""

from typing import Any

import pytest

from accounts.models import Account
from federation.inbound.fetch_queue import _work
from federation.models import Fetch, FetchKind
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from statuses.models import Poll, PollVote, Status
from tests.factories.statuses import follow, make_poll
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer

pytestmark = pytest.mark.django_db


def _without(note: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in note.items() if name not in names}


@pytest.mark.parametrize(
    ("to", "cc", "visibility"),
    [
        ([PUBLIC], [], "public"),
        (PUBLIC, None, "public"),
        (["{zoe}/followers"], [PUBLIC], "unlisted"),
        (["{zoe}/followers"], [], "private"),
        ([], [], "direct"),
    ],
)
def test_a_post_addressed_only_in_its_activity_has_these_readers_and_mentions(
    zoe: RemotePerson, alice: Account, to: Any, cc: Any, visibility: str
) -> None:
    introduced(zoe, alice)
    tag = {"type": "Mention", "href": alice.uri, "name": "@alice"}
    note = _without(zoe.note(tag=tag), "to", "cc")
    named = [to] if isinstance(to, str) else [name.format(zoe=zoe.uri) for name in to]
    create = zoe.activity("Create", note, to=[*named, alice.uri], cc=cc)
    assert deal(zoe, create) == "done"
    status = Status.objects.get(uri=note["id"])
    assert status.visibility == visibility
    assert [mention.account for mention in status.mentions.all()] == [alice]
    assert Notification.objects.get(type="mention").account == alice


def test_the_activity_cannot_widen_the_audience_that_a_post_states_itself(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    note = zoe.note(to=[alice.uri], cc=[], tag={"type": "Mention", "href": alice.uri, "name": "@alice"})
    assert deal(zoe, zoe.activity("Create", note, to=[PUBLIC], cc=[PUBLIC])) == "done"
    assert Status.objects.get(uri=note["id"]).visibility == "direct"


def test_the_addressing_of_the_activity_also_applies_to_edits_and_posts_given_by_id(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    named = _without(zoe.note(), "to", "cc", "attributedTo")
    elsewhere.serve(named)
    assert deal(zoe, zoe.activity("Create", named["id"], to=[PUBLIC])) == "done"
    edited = _without(zoe.note(number=2), "to", "cc", "attributedTo")
    assert deal(zoe, zoe.activity("Update", edited, to=[PUBLIC])) == "done"
    assert [post.visibility for post in Status.objects.all()] == ["public", "public"]


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"type": "Link", "href": "http://localhost/somewhere"},
        [{"type": "Link", "href": "http://localhost/somewhere"}],
        ["{channel}", "{zoe}"],
        [{"type": "Group", "id": "{channel}"}, {"type": "Person", "id": "{zoe}"}],
        {"type": "Person", "id": "{zoe}"},
    ],
)
def test_the_sender_is_the_author_if_the_post_names_nobody_or_the_sender_among_others(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, said: Any
) -> None:
    introduced(zoe, alice)
    note = _without(zoe.note(), "attributedTo")
    if said is not None:
        note["attributedTo"] = _filled(said, zoe=zoe.uri, channel=elsewhere.uri("users/channel"))
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    assert Status.objects.get(uri=note["id"]).account.uri == zoe.uri
    assert deal(zoe, zoe.activity("Update", note | {"content": "<p>2</p>", "updated": note["published"]})) == "done"
    assert Status.objects.get(uri=note["id"]).content == "<p>2</p>"


def test_row_08_an_actor_cannot_send_posts_of_other_authors_or_with_ids_of_other_servers(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    yan = elsewhere.person("yan")
    for author in (yan.uri, [yan.uri, elsewhere.uri("users/channel")], {"id": yan.uri}):
        assert deal(zoe, zoe.activity("Create", zoe.note() | {"attributedTo": author})).startswith("rejected")
    foreign = _without(zoe.note(), "attributedTo") | {"id": "https://other.example/notes/1"}
    assert deal(zoe, zoe.activity("Create", foreign)).startswith("rejected")
    # A boosted post names its own author, who differs from the booster.
    boosted = _without(yan.note(), "attributedTo")
    assert deal(zoe, zoe.activity("Announce", boosted)).startswith("rejected")
    assert not Status.objects.exists()


def test_the_author_of_a_fetched_post_of_a_channel_and_its_owner_is_the_owner(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    elsewhere.person("channel", type="Group")
    channel = {"type": "Group", "id": elsewhere.uri("users/channel")}
    note = elsewhere.serve(zoe.note() | {"attributedTo": [channel, {"type": "Person", "id": zoe.uri}]})
    link = elsewhere.serve(zoe.note(number=2) | {"attributedTo": {"type": "Link", "href": zoe.uri}})
    for document in (note, link):
        _work(Fetch(kind=FetchKind.POST, uri=document["id"], host=elsewhere.domain))
        assert Status.objects.get(uri=document["id"]).account.uri == zoe.uri


def test_a_vote_without_an_author_counts_for_its_sender(zoe: RemotePerson, alice: Account) -> None:
    follow(alice, fetch_actor(zoe.uri))
    status = make_poll(alice, "one", "two").status
    vote = {"id": f"{zoe.uri}#votes/1", "type": "Note", "name": "two", "to": alice.uri}
    vote["inReplyTo"] = f"{alice.uri}/statuses/{status.id}"
    assert deal(zoe, zoe.activity("Create", vote | {"attributedTo": alice.uri})).startswith("rejected")
    assert deal(zoe, zoe.activity("Create", vote)) == "done"
    assert PollVote.objects.get().account.uri == zoe.uri
    assert Poll.objects.get().tallies == [0, 1]


def _filled(value: Any, **names: str) -> Any:
    if isinstance(value, str):
        return value.format(**names)
    if isinstance(value, list):
        return [_filled(item, **names) for item in value]
    return {name: _filled(item, **names) for name, item in value.items()}
