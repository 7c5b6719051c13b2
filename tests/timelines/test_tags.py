"""Tests of hashtags: viewing them, following them, and their posts in the home timeline (contract, behaviours section 11)."""

import re
from typing import Any

import pytest

from accounts.models import Account, TagFollow
from accounts.services.blocking import block_account, mute_account, unmute_account
from social.kernel import clock, redis
from social.kernel.cursors import Cursor
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import make_reblog, make_remote_status, make_status
from tests.support.client import Api
from tests.timelines.conftest import Person, follow, person, work
from timelines.stores import feed

pytestmark = pytest.mark.django_db
TAGS = "/api/v1/tags"


def act(who: Person, verb: str, name: str) -> Any:
    answer = who.api.post(f"{TAGS}/{name}/{verb}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def home(who: Person) -> list[int]:
    """Return the home timeline, after checking that it is the same with the feed and after the loss of all feeds."""
    work()
    found = [[int(post["id"]) for post in who.api.get("/api/v1/timelines/home").json()] for _ in range(2)]
    redis.client("feeds").flushall()
    found.append([int(post["id"]) for post in who.api.get("/api/v1/timelines/home").json()])
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.usefixtures("noon")
def test_anyone_can_see_a_hashtag_whether_used_or_not(reader: Person, author: Person) -> None:
    unused = Api().get(f"{TAGS}/Dates").json()
    assert (unused["id"], unused["name"], len(unused["history"])) == ("", "Dates", 7)
    assert "following" not in unused
    make_status(author.account, "#Apples and #apples")
    make_status(author.account, "#apples again")
    used = Api().get(f"{TAGS}/APPLES").json()
    assert (used["name"], used["history"][0]["uses"], used["history"][0]["accounts"]) == ("Apples", "2", "1")
    assert used["url"].endswith("/tags/apples")
    signed_in = reader.api.get(f"{TAGS}/apples").json()
    assert signed_in == {**used, "following": False, "featuring": False}
    narrow = Api(make_token(reader.user, "write:media"))
    assert narrow.get(f"{TAGS}/apples").json() == signed_in, "any scope is sufficient"


def test_a_hashtag_of_private_posts_looks_unused_to_those_who_cannot_read_them(reader: Person, author: Person) -> None:
    make_status(author.account, "#Surprise for my #cats", visibility="private")
    make_status(author.account, "#cats")
    timeline = "/api/v1/timelines/tag"
    for api in (Api(), reader.api):
        unused, private = (api.get(f"{TAGS}/{name}").json() for name in ("unused", "surprise"))
        for name, shown in (("unused", unused), ("surprise", private)):
            assert (shown.pop("name"), shown.pop("url").rsplit("/")[-1]) == (name, name)
        assert private == unused
        for name in ("unused", "surprise"):
            assert api.get(f"{timeline}/{name}", {"any[]": "cats"}).json() == [], name
            assert len(api.get(f"{timeline}/cats", {"all[]": name}).json()) == 1, name
    assert act(reader, "unfollow", "surprise")["id"] == act(reader, "unfeature", "surprise")["id"] == ""
    assert author.api.get(f"{TAGS}/surprise").json()["name"] == "Surprise"
    follow(reader, author)
    known = reader.api.get(f"{TAGS}/surprise").json()
    assert (known["name"], known["id"]) == ("Surprise", author.api.get(f"{TAGS}/surprise").json()["id"])
    stranger = person()
    assert act(stranger, "follow", "surprise")["id"] == act(stranger, "unfollow", "surprise")["id"] == known["id"]
    make_status(author.account, "#surprise", visibility="unlisted")
    assert Api().get(f"{TAGS}/surprise").json()["id"] == known["id"]


@pytest.mark.parametrize("name", ["!!!", "123", "two words", "a" * 501])
def test_an_invalid_hashtag_is_not_found(reader: Person, name: str) -> None:
    for answer in (
        Api().get(f"{TAGS}/{name}"),
        *(reader.api.post(f"{TAGS}/{name}/{verb}") for verb in ("follow", "unfollow", "feature", "unfeature")),
    ):
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_repeated_follows_and_unfollows_of_a_hashtag_have_no_effect(reader: Person) -> None:
    for name in ("cats", "Cats", "CATS"):
        shown = act(reader, "follow", name)
        assert (shown["name"], shown["following"]) == ("cats", True)
    assert TagFollow.objects.count() == 1
    assert reader.api.get(f"{TAGS}/cats").json()["following"]
    for _ in range(2):
        assert not act(reader, "unfollow", "cats")["following"]
    assert act(reader, "unfollow", "unused")["id"] == ""
    assert not TagFollow.objects.exists()


def test_followed_hashtags_are_listed_in_pages_latest_first(reader: Person, author: Person) -> None:
    assert "Link" not in reader.api.get("/api/v1/followed_tags").headers
    for name in ("one", "two", "three"):
        act(reader, "follow", name)
    act(author, "follow", "another")
    first = reader.api.get("/api/v1/followed_tags", {"limit": 2})
    assert [(tag["name"], tag["following"]) for tag in first.json()] == [("three", True), ("two", True)]
    oldest = TagFollow.objects.get(tag__name="two").id
    assert re.search(rf'limit=2&max_id={oldest}>; rel="next", .*since_id=\d+>; rel="prev"', first.headers["Link"])
    second = reader.api.get("/api/v1/followed_tags", {"limit": 2, "max_id": oldest})
    assert [tag["name"] for tag in second.json()] == ["one"]
    assert "next" not in second.headers["Link"]


def test_a_hashtag_can_be_featured_by_its_name(reader: Person) -> None:
    for _ in range(2):
        assert act(reader, "feature", "Cats")["featuring"]
    assert [tag["name"] for tag in reader.api.get("/api/v1/featured_tags").json()] == ["Cats"]
    for _ in range(2):
        assert not act(reader, "unfeature", "cats")["featuring"]
    for number in range(10):
        act(reader, "feature", f"tag{number}")
    answer = reader.api.post(f"{TAGS}/eleven/feature")
    error = "Validation failed: You have already featured the maximum number of hashtags"
    assert (answer.status_code, answer.json()) == (422, {"error": error})


def test_later_public_posts_with_a_followed_hashtag_appear_in_the_home_timeline(reader: Person, author: Person) -> None:
    make_status(author.account, "#cats before")
    act(reader, "follow", "cats")
    remote = make_remote()
    expected = [
        make_status(author.account, "#cats and #dogs").id,
        make_remote_status(remote, "#cats", tags=[("cats", "cats")]).id,
        make_status(reader.account, "#cats of my own").id,
    ]
    for visibility in ("unlisted", "private", "direct"):
        make_status(author.account, "#cats", visibility=visibility)
    make_reblog(author.account, make_status(person().account, "#dogs"))
    answered = make_status(person().account, "a question")
    expected.append(make_status(author.account, "#cats answer", reply_to=answered).id)
    assert home(reader) == expected[::-1]
    act(reader, "follow", "dogs")
    act(reader, "unfollow", "cats")
    assert home(reader) == [expected[2]], "posts delivered by a hashtag disappear with it"


def test_a_post_by_a_followed_account_with_a_followed_hashtag_appears_once_while_either_is_followed(
    reader: Person, author: Person
) -> None:
    follow(reader, author)
    for name in ("cats", "dogs"):
        act(reader, "follow", name)
    both = make_status(author.account, "#cats #dogs").id
    assert home(reader) == [both]
    act(reader, "unfollow", "cats")
    act(reader, "unfollow", "dogs")
    assert home(reader) == [both]


def test_followed_hashtags_do_not_deliver_posts_across_blocks_and_mutes(reader: Person) -> None:
    act(reader, "follow", "cats")
    blocked, muted, blocker, limited, mentioning, friend = (person() for _ in range(6))
    block_account(account=reader.account, target=blocked.account)
    mute_account(account=reader.account, target=muted.account)
    block_account(account=blocker.account, target=reader.account)
    Account.objects.filter(id=limited.id).update(limited_at=clock.now())
    reader.api.post("/api/v1/domain_blocks", {"domain": "far.example"})
    for other in (blocked, muted, blocker, limited):
        make_status(other.account, "#cats")
    make_status(mentioning.account, f"#cats @{muted.account.username}")
    make_remote_status(make_remote("far", "far.example"), "#cats", tags=[("cats", "cats")])
    shown = make_status(friend.account, "#cats").id
    assert home(reader) == [shown]
    mute_account(account=reader.account, target=friend.account)
    assert reader.api.get("/api/v1/timelines/home").json() == [], "immediately"
    unmute_account(account=reader.account, target=friend.account)
    assert home(reader) == [shown]


def test_posts_with_a_followed_hashtag_are_added_to_feeds_and_removed(reader: Person, author: Person) -> None:
    act(reader, "follow", "cats")
    home(reader)
    post = make_status(author.account, "#cats")
    work()

    def cached() -> list[int]:
        return [item.id for item in feed.read(feed.home(reader.id), reader.id, Cursor(100)).items]

    assert cached() == [post.id]
    assert author.api.delete(f"/api/v1/statuses/{post.id}").status_code == 200
    work()
    assert cached() == []
    assert home(reader) == []
