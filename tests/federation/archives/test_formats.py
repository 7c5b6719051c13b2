"""Tests of archives of several kinds, each built from the public description of its format."""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from accounts.transfers.serializers import PastImportSerializer
from accounts.transfers.services import archives
from accounts.transfers.services.archives import find_archive_file, request_archive
from statuses.models import ImportedPost, Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_user
from tests.factories.statuses import make_media, make_poll, make_status, picture
from tests.federation.archives.conftest import bring, read
from tests.support.past import OLD, create, mastodon, note, zipped
from tests.support.work import work

pytestmark = pytest.mark.django_db


def imported() -> dict[str, Status]:
    """Return the imported posts, keyed by the last part of their former ids."""
    rows = ImportedPost.objects.select_related("status").order_by("status")
    return {row.uri.rpartition("/")[2]: row.status for row in rows}


def test_an_archive_of_this_server_can_be_imported(ada: User, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    first = make_status(ada.account, "hello #cats", media=[make_media(ada.account, "a cat")])
    make_status(ada.account, "and this", reply_to=first)
    make_poll(ada.account, "tea", "coffee", visibility="private")
    archive = request_archive(account=ada.account)
    while archive.state != "ready":
        archives.write_archive(archive.id)
        archive.refresh_from_db()
    data = find_archive_file(account=ada.account, archive_id=archive.id).read_bytes()
    eva = make_user("eva")
    made = bring(eva, data)
    assert (made.total, made.done, made.left_out) == (3, 3, 0)
    posts = {status.text: status for status in Status.objects.filter(account=eva.account)}
    one, two = posts["hello #cats"], posts["and this"]
    three = Status.objects.get(account=eva.account, poll__isnull=False)
    assert (one.text, one.media.get().description) == ("hello #cats", "a cat")
    assert two.in_reply_to_id == one.id
    assert (three.visibility, three.poll.options) == ("private", ["tea", "coffee"])


def test_an_archive_of_twitter_is_read(ada: User) -> None:
    def tweet(number: int, text: str, **members: object) -> dict[str, object]:
        date = f"Wed Oct 10 20:1{number}:24 +0000 2018"
        return {"tweet": {"id_str": str(number), "full_text": text, "created_at": date, **members}}

    tweets = [
        tweet(
            3,
            "so @bob &lt;3 https://t.co/a #cats https://t.co/b",
            in_reply_to_status_id_str="2",
            in_reply_to_screen_name="ada_old",
            entities={
                "urls": [{"url": "https://t.co/a", "expanded_url": "https://example.org/"}],
                "hashtags": [{"text": "cats"}],
            },
            extended_entities={
                "media": [{"url": "https://t.co/b", "media_url_https": "https://pbs.example/media/x.png"}]
            },
        ),
        tweet(2, "first"),
        tweet(1, "RT @eve: not mine"),
        tweet(4, "no date", created_at="never"),
    ]
    files = {
        "data/account.js": b"window.YTD.account.part0 = " + json.dumps([{"account": {"username": "ada_old"}}]).encode(),
        "data/tweets.js": b"window.YTD.tweets.part0 = " + json.dumps(tweets).encode(),
        "data/tweets_media/3-x.png": picture(),
    }
    made = bring(ada, zipped(files))
    assert (made.source, made.reasons) == ("https://twitter.com/ada_old", {"boost": 1, "wrong_date": 1})
    posts = imported()
    assert posts["3"].in_reply_to_id == posts["2"].id
    assert posts["3"].text == "so @bob <3 https://example.org/ #cats"
    assert 'href="https://twitter.com/bob"' in posts["3"].content
    assert [row.tag.name for row in posts["3"].status_tags.all()] == ["cats"]
    assert posts["3"].media.count() == 1


def test_an_archive_of_pleroma_is_read_and_missing_parts_are_named(ada: User) -> None:
    files = mastodon(
        note(
            "objects/1",
            published="2020-01-01T00:00:00.123456Z",
            source={"content": "hello", "mediaType": "text/plain"},
            attachment=[
                {
                    "type": "Document",
                    "mediaType": "image/png",
                    "name": "",
                    "url": [{"type": "Link", "href": "https://old.example/media/a.png", "mediaType": "image/png"}],
                }
            ],
        ),
        {"type": "Like", "id": "https://old.example/activities/2", "actor": OLD, "object": "https://else.example/1"},
        likes=["https://else.example/1"],
    )
    litepub = ["https://www.w3.org/ns/activitystreams", "https://old.example/schemas/litepub-0.1.jsonld"]
    files["actor.json"] = json.dumps(json.loads(files["actor.json"]) | {"@context": litepub}).encode()
    for name in ("following", "followers"):
        collection = {"type": "OrderedCollection", "orderedItems": ["https://else.example/users/bob"]}
        files[f"{name}.json"] = json.dumps(collection).encode()
    made = bring(ada, zipped(files))
    assert (made.software, made.done) == ("pleroma", 1)
    assert made.reasons == {"no_post": 1, "like": 1, "follow": 1, "follower": 1, "file_missing": 1}


def test_tables_of_gotosocial_are_recognised_and_each_line_is_reported(ada: User) -> None:
    follows = b"Account address,Show boosts\nbob@else.example,true\neva@else.example,true\n"
    made = read(ada, zipped({"following.csv": follows, "lists.csv": b"friends,bob@else.example\n"}))
    assert (made.state, made.software, made.total, made.reasons) == ("ready", "tables", 0, {"list_entry": 3})
    assert [(row.line, row.uri) for row in made.lines.order_by("id")][:2] == [
        (2, "bob@else.example"),
        (3, "eva@else.example"),
    ]


def test_an_export_of_misskey_and_a_single_list_are_read(ada: User) -> None:
    notes = [
        {
            "id": "a1",
            "text": "hello #cats",
            "createdAt": "2020-01-01T00:00:00.000Z",
            "visibility": "public",
            "cw": "careful",
        },
        {"id": "a2", "text": "hush", "createdAt": "2020-01-02T00:00:00.000Z", "visibility": "home", "replyId": "a1"},
        {
            "id": "a3",
            "text": None,
            "createdAt": "2020-01-03T00:00:00.000Z",
            "visibility": "public",
            "localOnly": True,
            "poll": {
                "multiple": True,
                "expiresAt": None,
                "choices": [{"text": "x", "votes": 3}, {"text": "y", "votes": 0}],
            },
        },
        {"id": "a4", "text": "you", "createdAt": "2020-01-04T00:00:00.000Z", "visibility": "specified"},
        {"id": "a5", "text": None, "createdAt": "2020-01-05T00:00:00.000Z", "visibility": "public", "renoteId": "b"},
    ]
    made = bring(ada, json.dumps(notes).encode())
    assert made.reasons == {"direct": 1, "boost": 1}
    assert PastImportSerializer(made).data["source"] is None, "the archive names no author"
    posts = imported()
    assert (posts["a1"].spoiler_text, posts["a1"].visibility) == ("careful", "public")
    assert (posts["a2"].visibility, posts["a2"].in_reply_to_id) == ("unlisted", posts["a1"].id)
    assert (posts["a3"].visibility, posts["a3"].poll.tallies, posts["a3"].poll.multiple) == ("private", [3, 0], True)
    delete_status(status_id=posts["a1"].id)
    work()
    alone = bring(ada, json.dumps({"type": "OrderedCollection", "orderedItems": [create(note(1)), note(2)]}).encode())
    assert (alone.done, alone.source) == (2, "https://old.example/users/ada")
