"""Tests of search: results, permissions and order (contract, behaviours section 15)."""

from datetime import datetime
from importlib import import_module

import pytest
from django.apps import apps as django_apps

from accounts.models import Account, Tag
from accounts.services.blocking import block_account, mute_account
from accounts.services.profiles import ProfileChange, update_profile
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import MediaAttachment, PollVote
from statuses.models.attachments import MediaType
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import (
    make_bookmark,
    make_favourite,
    make_media,
    make_poll,
    make_reblog,
    make_remote_status,
)
from tests.support.client import Api
from tests.timelines.conftest import Person, person
from tests.timelines.searching import SEARCH, ids, index, make_status, posts, search
from timelines.models import SearchDocument
from timelines.services import search_index
from timelines.services.search_index import write_documents

pytestmark = pytest.mark.django_db


def test_public_posts_of_searchable_authors_are_found_by_everyone_newest_first(
    indexable: Person, reader: Person
) -> None:
    one, two = make_status(indexable, "A white dog"), make_status(indexable, "the Dog barks")
    for visibility in ("unlisted", "private", "direct"):
        make_status(indexable, "hidden dog", visibility=visibility)
    other = person()
    make_status(other, "my dog")
    assert posts(reader, "dog") == ids(two, one)
    assert posts(reader, "DÓG white") == ids(one)
    assert posts(reader, "dogs") == []
    assert posts(reader, "dog", offset=1) == ids(two, one)
    assert posts(reader, "dog", offset=1, type="statuses") == ids(one)
    assert len(posts(other, "dog")) == 3


def test_a_search_finds_posts_that_the_viewer_has_interacted_with(author: Person, reader: Person) -> None:
    mentioned = make_status(author, f"@{reader.account.username} dog", visibility="direct")
    liked, boosted, kept = (make_status(author, f"dog {number}") for number in range(3))
    make_status(author, "dog of a stranger")
    poll = make_poll(author.account, "dog", "cat")
    PollVote.objects.create(poll=poll, account=reader.account, choice=0)
    make_favourite(reader.account, liked)
    make_reblog(reader.account, boosted)
    make_bookmark(reader.account, kept)
    own = make_status(reader, "dog of mine", visibility="private")
    found = ids(own, poll.status, kept, boosted, liked, mentioned)
    assert posts(reader, "dog") == posts(reader, "dog in:library") == found
    assert posts(reader, "dog in:public") == []
    assert posts(reader, "dog from:me") == ids(own)
    assert posts(reader, "dog", account_id=str(author.id), limit=2) == ids(poll.status, kept)
    assert posts(person(), "dog") == []


def test_deletions_opting_out_and_limits_remove_posts_from_results(indexable: Person, reader: Person) -> None:
    kept, gone = make_status(indexable, "dog"), make_status(indexable, "dog")
    assert posts(reader, "dog") == ids(gone, kept)
    indexable.api.delete(f"/api/v1/statuses/{gone.id}")
    assert posts(reader, "dog") == ids(kept)
    assert SearchDocument.objects.count() == 1
    update_profile(user=indexable.user, change=ProfileChange(indexable=False))
    assert [int(post["id"]) for post in search(reader.api, "dog")["statuses"]] == []
    assert posts(reader, "dog") == []
    update_profile(user=indexable.user, change=ProfileChange(indexable=True))
    assert posts(reader, "dog") == ids(kept)
    Account.objects.filter(id=indexable.id).update(limited_at=clock.now())
    assert posts(reader, "dog") == []
    assert posts(indexable, "dog") == ids(kept)


def test_seed_128_blocks_and_mutes_hide_posts_and_accounts_from_each_other(indexable: Person, reader: Person) -> None:
    make_status(indexable, f"dog @{reader.account.username}")
    assert len(posts(reader, "dog")) == 1
    mute_account(account=reader.account, target=indexable.account)
    assert posts(reader, "dog") == []
    reader.api.post(f"/api/v1/accounts/{indexable.id}/unmute")
    block_account(account=indexable.account, target=reader.account)
    assert posts(reader, "dog") == []
    name, url = indexable.account.username, f"http://social.localhost/@{indexable.account.username}"
    assert search(reader.api, name)["accounts"] == search(reader.api, url, resolve="true")["accounts"] == []
    found = search(indexable.api, reader.account.username)["accounts"]
    assert [one["id"] for one in found] == [str(reader.id)]
    make_status(reader, "cat")
    Account.objects.filter(id=reader.id).update(indexable=True)
    assert posts(indexable, "cat") == []
    remote = make_remote(indexable=True)
    there = make_remote_status(remote, "<p>dog there</p>")
    index()
    third = person()
    assert there.id in posts(third, "dog")
    third.api.post("/api/v1/domain_blocks", {"domain": remote.domain})
    assert there.id not in posts(third, "dog")


@pytest.mark.parametrize(
    ("text", "found", "missed"),
    [
        ("今天天气很好，我们去公园散步", ("天气", "公园散步", "园", '"去公园"', "步"), ("天园", "气天", "猫")),
        ("昨日ラーメンを食べました", ("ラーメン", "食べ", "ﾗｰﾒﾝ", "た"), ("メラ", "たべ")),
        ("วันนี้อากาศดีมาก", ("อากาศ", "ดีมาก"), ("ฝนตก",)),
        ("오늘은 날씨가 좋다", ("날씨", "오늘"), ("날좋",)),
        ("Straße nach Köln: C'est l’été!", ("strasse", "koln", "ete", '"c\'est l’été"', "KÖLN"), ("köl", "straßen")),
        ("हिन्दी में लिखा", ("हिन्दी", "लिखा"), ("हिन्द",)),
        ("كِتَاب جديد", ("كتاب",), ("كتا",)),
        ("Ёлка и чай", ("елка", "ЁЛКА"), ("елк",)),
        (
            "snake_case and https://docs.example.org/a-b",
            ("snake_case", "docs.example.org", "example"),
            ("exam", "snake"),
        ),
        ("#hashtag_x is _fine_", ("#hashtag_x", "Hashtag_X", "fine", "_fine"), ("hashtag", "x")),
        ("Don’t pay 1,000.50", ("don't", "don’t", "1,000.50", '"don\'t pay"'), ("dont", "100050")),
        ("می‌روم", ("میروم", "می‌روم"), ("روم",)),
    ],
)
def test_words_are_found_in_all_languages(
    reader: Person, text: str, found: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    post = make_status(reader, text)
    assert {query: posts(reader, query) for query in found} == {query: [post.id] for query in found}
    assert {query: posts(reader, query) for query in missed} == {query: [] for query in missed}


def test_search_documents_of_earlier_releases_are_rewritten(reader: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "BATCH_SIZE", 2)
    written = [make_status(reader, f"#hashtag_{number}") for number in range(5)]
    index()
    SearchDocument.objects.update(words="'hashtag':1")
    assert posts(reader, "hashtag_3") == []
    renew = import_module("timelines.migrations.0003_words_of_unicode").renew
    renew(django_apps, None)
    assert posts(reader, "hashtag") == []
    assert [posts(reader, f"hashtag_{number}") for number in range(5)] == [[post.id] for post in written]
    SearchDocument.objects.all().delete()
    renew(django_apps, None)
    assert not OutboxRow.objects.filter(queue="search").exists()


def test_operators_narrow_the_results(reader: Person, author: Person) -> None:
    plain = make_status(reader, "A white dog", language="de")
    link = make_status(
        reader, "A dog, white: https://example.com/mention-of-hashtag @nobody #dog", spoiler_text="pets", language="en"
    )
    picture = make_status(reader, "dog", media=[make_media(reader.account)], sensitive=True)
    answer = make_status(reader, "dog again", reply_to=plain)
    poll = make_poll(reader.account, "dog", "cat").status
    other = make_status(author, f"@{reader.account.username} dog")
    found = {
        '"white dog"': ids(plain),
        "dog -white": ids(other, poll, answer, picture),
        'dog -"white dog" +white': ids(link),
        "dog has:link": ids(link),
        "dog has:media": ids(picture),
        "dog HAS:image -has:video": ids(picture),
        "has:audio dog": [],
        "dog has:poll": ids(poll),
        "dog has:nothing": [],
        "dog is:reply": ids(answer),
        "dog is:sensitive": ids(picture, link),
        "dog is:quote": [],
        "dog language:de": ids(plain),
        "dog -language:de has:link": ids(link),
        "pets": ids(link),
        f"dog from:{author.account.username}": ids(other),
        f"dog from:@{author.account.username}@social.localhost": ids(other),
        f"dog -from:@{author.account.username} -is:reply": ids(poll, picture, link, plain),
        "dog from:me from:nobody": [],
        "from:nobody": [],
        "from:me has:poll": ids(poll),
        "nothing:known dog": [],
        "!!!": [],
        "dog before:2000-01-01": [],
        "dog after:2000-01-01 white": ids(link, plain),
        "dog has:poll in:library": ids(poll),
        "dog has:poll in:library in:library": ids(poll),
        "dog has:poll in:library in:all": ids(poll),
        # Posts of an author who is not publicly searchable.
        "dog has:poll in:library in:public": [],
        "dog has:poll -in:public": ids(poll),
        "dog has:poll -in:library": [],
        "dog has:poll -in:library -in:public": [],
        "dog has:poll -in:public -in:library": [],
        "dog has:poll in:library -in:library": [],
        "dog has:poll in:nowhere in:library": [],
        "dog has:poll -in:nowhere in:library": ids(poll),
    }
    assert {query: posts(reader, query) for query in found} == found
    film = make_status(reader, "film", media=[make_media(reader.account)])
    for kind, name in ((MediaType.VIDEO, "video"), (MediaType.GIFV, "video"), (MediaType.AUDIO, "audio")):
        MediaAttachment.objects.filter(status=film).update(type=kind)
        write_documents([film.id])
        assert posts(reader, f"film has:{name} has:media") == ids(film)


def test_dates_and_ids_limit_the_results(reader: Person) -> None:
    remote = make_remote(indexable=True)
    days = [
        datetime.fromisoformat(f"{day}T12:00:00Z") for day in ("2019-05-01", "2024-02-29", "2024-03-01", "2026-01-05")
    ]
    first, leap, march, late = (make_remote_status(remote, "<p>dog</p>", created_at=day) for day in days)
    found = {
        "dog": ids(late, march, leap, first),
        "dog before:2024-03-01": ids(leap, first),
        "dog after:2024-02-29": ids(late, march),
        "dog during:2024-02-29": ids(leap),
        "dog -during:2024-02-29": ids(late, march, first),
        "dog -after:2024-02-29": ids(leap, first),
        "dog -before:2024-03-01": ids(late, march),
        "before:2024-03-01 after:2019-05-01": ids(leap),
        "dog after:2024-03-01 before:2024-03-01": [],
    }
    assert {query: posts(reader, query) for query in found} == found
    assert posts(reader, "dog", min_id=str(first.id), max_id=str(late.id)) == ids(march, leap)
    # As in the timelines, a value that is not a number counts as 0, and a value beyond 64 bits as the maximum (parameters
    # section 0).
    assert posts(reader, "dog", min_id="abc", max_id="9" * 30) == ids(late, march, leap, first)
    assert posts(reader, "dog", min_id=f"{first.id}abc") == ids(late, march, leap)
    assert posts(reader, "dog", max_id="abc") == []
    assert posts(reader, "dog", limit=2, offset=1, type="statuses") == ids(march, leap)
    refused = reader.api.get(SEARCH, {"q": "dog during:yesterday"})
    assert (refused.status_code, refused.json()["error"]) == (422, "Invalid date supplied")


def test_seed_101_and_102_a_search_accepts_kinds_limits_and_cursors_and_returns_whole_hashtags(
    indexable: Person, reader: Person
) -> None:
    name = indexable.account.username
    one = make_status(indexable, f"{name} #{name} #{name}two")
    two = make_status(indexable, name)
    index()
    everything = search(reader.api, name)
    assert [len(everything[kind]) for kind in ("accounts", "statuses", "hashtags", "collections")] == [1, 2, 2, 0]
    assert everything["hashtags"][0]["url"] == f"http://social.localhost/tags/{name}"
    assert everything["hashtags"][0]["history"][0]["uses"] == "1"
    for kind, size in (("accounts", 1), ("statuses", 2), ("hashtags", 2)):
        alone = search(reader.api, name, type=kind)
        assert {found: len(alone[found]) for found in ("accounts", "statuses", "hashtags")} == {
            "accounts": 0,
            "statuses": 0,
            "hashtags": 0,
            kind: size,
        }
    assert [len(found) for found in search(reader.api, name, limit=1).values()] == [1, 1, 1, 0]
    assert [len(found) for found in search(reader.api, name, limit=0).values()] == [0, 0, 0, 0]
    assert [len(found) for found in search(reader.api, name, type="nonsense").values()] == [0, 0, 0, 0]
    assert posts(reader, name, min_id=str(one.id)) == ids(two)
    assert posts(reader, name, max_id=str(two.id)) == ids(one)
    assert posts(reader, name, account_id=str(reader.id)) == []
    assert reader.api.get(SEARCH, {"q": name, "account_id": "1"}).status_code == 404
    assert reader.api.get(SEARCH, {"q": name, "account_id": "1", "type": "accounts"}).status_code == 200
    for params in ({"q": name, "limit": -1}, {"q": name, "offset": -1, "type": "accounts"}, {}, {"q": "  "}):
        assert reader.api.get(SEARCH, params).status_code == 400
    Tag.objects.filter(name=f"{name}two").update(reviewed_at=clock.now())
    names = [tag["name"] for tag in search(reader.api, f"#{name[:-1]}", exclude_unreviewed="true")["hashtags"]]
    assert names == [f"{name}two"]
    names = [tag["name"] for tag in search(reader.api, name, exclude_unreviewed="true", type="hashtags")["hashtags"]]
    assert names == [name, f"{name}two"]
    Tag.objects.filter(name=f"{name}two").update(listable=False)
    assert len(search(reader.api, name, offset=0, type="hashtags")["hashtags"]) == 1
    assert search(reader.api, name, following="true", type="accounts")["accounts"] == []


def test_search_does_not_reveal_hashtags_of_private_posts_only(author: Person, reader: Person) -> None:
    def found(query: str) -> list[str]:
        return [tag["name"] for tag in search(reader.api, query, type="hashtags")["hashtags"]]

    for visibility in ("private", "direct"):
        make_status(author.account, "#Surprise", visibility=visibility)
    assert author.api.post("/api/v1/tags/surprise/follow").status_code == 200
    assert author.api.post("/api/v1/tags/surpriseparty/follow").status_code == 200
    assert found("surp") == found("surprise") == []
    make_status(author.account, "#surprise", visibility="unlisted")
    assert found("surp") == ["Surprise"]
    assert author.api.post("/api/v1/featured_tags", {"name": "surpriseparty"}).status_code == 200
    assert found("surp") == ["Surprise", "surpriseparty"]


def test_trap_39_searching_for_an_address_finds_its_object(author: Person, reader: Person) -> None:
    open_to_all, hidden = make_status(author, "open"), make_status(author, "hidden", visibility="private")
    base, name = "http://social.localhost", author.account.username
    numbered = f"{base}/ap/users/{author.id}"
    ends = (f"@{name}", f"users/{name}/statuses", f"ap/users/{author.id}/statuses")
    for url in (f"{base}/{end}/{open_to_all.id}" for end in ends):
        found = search(reader.api, url, resolve="true")
        assert [post["id"] for post in found["statuses"]] == [str(open_to_all.id)]
        assert found["accounts"] == found["hashtags"] == []
        assert search(reader.api, url, resolve="true", type="accounts")["statuses"] == []
        assert search(reader.api, url)["statuses"] == []
    assert search(reader.api, f"{base}/@{name}/{hidden.id}", resolve="true")["statuses"] == []
    for url in (f"{base}/@{name}", numbered):
        assert [one["id"] for one in search(reader.api, url, resolve="true")["accounts"]] == [str(author.id)]
    for url in (
        f"{base}/@nobody_at_all",
        f"{numbered}0",
        f"{base}/ap/users/{'9' * 19}",
        f"{base}/about",
        f"{base}/@{name}/1",
        "https://[broken",
    ):
        assert not any(search(reader.api, url, resolve="true").values())
    made = author.api.post("/api/v1/collections", {"name": "Friends", "sensitive": False, "discoverable": True}).json()[
        "collection"
    ]
    for place in (base, f"{base}/users/{name}", numbered):
        found = search(reader.api, f"{place}/collections/{made['id']}", resolve="true")
        assert [one["id"] for one in found["collections"]] == [made["id"]], place
    assert search(reader.api, f"{base}/users/other/collections/{made['id']}", resolve="true")["collections"] == []
    assert search(reader.api, f"{base}/collections/1", resolve="true")["collections"] == []


def test_seed_126_138_153_and_158_search_needs_a_token_and_has_one_path(reader: Person) -> None:
    anonymous, application = Api(), Api(make_token(None, "read"))
    assert (anonymous.get(SEARCH, {"q": "a"}).status_code, application.get(SEARCH, {"q": "a"}).status_code) == (
        401,
        422,
    )
    assert reader.api.get("/api/v1/search", {"q": "a"}).status_code == 404


def test_hostile_queries_get_a_response(reader: Person) -> None:
    words = ["'", "\\", "a' | 'b", "%s %(x)s {x}", ":public", '"', '-"', "!(a", "<->", "from:", "\u0000a", "&|!"]
    for query in (*words, "x" * 5000, "a " * 500):
        assert reader.api.get(SEARCH, {"q": query}).status_code in (200, 400), query
