"""Tests that remote posts are in the right order among other posts, although most servers send times in whole seconds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Account, TagFollow
from social.kernel import clock
from social.kernel.ids import first_at, moment_of
from statuses.models import Status
from tests.factories.accounts import make_token
from tests.factories.statuses import make_reblog, make_status
from tests.federation.activities import deal, introduced, remote
from tests.federation.remote_server import RemotePerson
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def second_of(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def take(zoe: RemotePerson, note: dict[str, Any]) -> Status:
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    return Status.objects.get(uri=note["id"])


@pytest.mark.parametrize("hours", [0, 2])
def test_a_reply_has_a_higher_id_than_its_parent(zoe: RemotePerson, alice: Account, hours: int) -> None:
    introduced(zoe, alice)
    post = make_status(alice, "a question")
    published = second_of(post.created_at - timedelta(hours=hours))
    answers = [
        take(zoe, zoe.note(f"<p>{number}</p>", number=number, inReplyTo=uri, published=published))
        for number, uri in (
            (1, f"{alice.uri}/statuses/{post.id}"),
            (2, f"{zoe.uri}/statuses/1"),
            (3, f"{zoe.uri}/statuses/2"),
        )
    ]
    ids = [post.id, *(answer.id for answer in answers)]
    assert ids == sorted(ids)
    shown = Api().get(f"/api/v1/statuses/{post.id}/context").json()["descendants"]
    assert [item["id"] for item in shown] == [str(number) for number in ids[1:]]


def test_a_parent_that_arrives_after_its_reply_has_a_lower_id(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    published = second_of(clock.now() - timedelta(minutes=5))
    chain = [zoe.note(number=1, published=published)]
    chain += [
        zoe.note(number=number, published=published, inReplyTo=f"{zoe.uri}/statuses/{number - 1}") for number in (2, 3)
    ]
    newest_first = [take(zoe, note).id for note in reversed(chain)]
    assert newest_first == sorted(newest_first, reverse=True)
    assert [moment_of(number).replace(microsecond=0).isoformat() for number in newest_first] == [
        published.replace("Z", "+00:00")
    ] * 3


def test_a_reply_dated_before_its_parent_does_not_change_the_parent(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    old = second_of(clock.now() - timedelta(days=300))
    take(zoe, zoe.note(number=2, published=old, inReplyTo=f"{zoe.uri}/statuses/1"))
    made = clock.now() - timedelta(minutes=5)
    post = take(zoe, zoe.note(number=1, published=second_of(made)))
    assert abs(moment_of(post.id) - made) < timedelta(seconds=2)


def test_the_last_post_of_a_conversation_is_a_reply_from_the_same_second(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    post = make_status(alice, f"@zoe@{zoe.home.domain} hello", visibility="direct")
    work()
    mention = {"type": "Mention", "href": alice.uri, "name": "@alice"}
    note = zoe.note(inReplyTo=f"{alice.uri}/statuses/{post.id}", published=second_of(post.created_at), tag=[mention])
    note["to"], note["cc"] = [alice.uri], []
    answer = take(zoe, note)
    (conversation,) = Api(make_token(alice.user)).get("/api/v1/conversations").json()
    assert conversation["last_status"]["id"] == str(answer.id)


def test_a_boost_has_a_higher_id_than_the_boosted_post(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    post = make_status(alice, "boost me")
    boost = make_reblog(remote(zoe), post, created_at=post.created_at.replace(microsecond=0) - timedelta(seconds=1))
    assert boost.id > post.id


def test_followers_of_a_hashtag_get_posts_of_the_same_second(zoe: RemotePerson, alice: Account) -> None:
    api = Api(make_token(alice.user))
    assert api.post("/api/v1/tags/tea/follow").status_code == 200
    second = (clock.now() - timedelta(seconds=10)).replace(microsecond=0)
    TagFollow.objects.update(id=first_at(second + timedelta(milliseconds=400)))
    tags = [
        {"type": "Hashtag", "name": "#tea", "href": "x"},
        {"type": "Mention", "href": alice.uri, "name": "@alice"},
    ]
    note = zoe.note("<p>#tea</p>", tag=tags, published=second_of(second))
    note["cc"] = [alice.uri]
    post = take(zoe, note)
    assert [item["id"] for item in api.get("/api/v1/timelines/home").json()] == [str(post.id)]


def test_a_post_edited_before_its_first_fetch_is_shown_as_edited(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    made = (clock.now() - timedelta(hours=2)).replace(microsecond=0)
    edited = made + timedelta(hours=1)
    note = zoe.note(published=second_of(made), updated=second_of(edited))
    post = take(zoe, note)
    path = f"/api/v1/statuses/{post.id}"
    assert Api().get(path).json()["edited_at"] == clock.iso(edited)
    assert [version["created_at"] for version in Api().get(f"{path}/history").json()] == [clock.iso(edited)]
    # If two edits have the same time in seconds, the one that arrives later counts (contract, federation section 17).
    assert deal(zoe, zoe.activity("Update", note | {"content": "<p>the same second</p>"})) == "done"
    assert Status.objects.get(id=post.id).content == "<p>the same second</p>"
    newer = note | {"content": "<p>newer</p>", "updated": second_of(edited + timedelta(minutes=5))}
    assert deal(zoe, zoe.activity("Update", newer)) == "done"
    assert [version["content"] for version in Api().get(f"{path}/history").json()][-1] == "<p>newer</p>"


def test_a_post_whose_edit_is_not_later_than_the_post_counts_as_unedited(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    made = second_of(clock.now() - timedelta(hours=2))
    assert take(zoe, zoe.note(published=made, updated=made)).edited_at is None
