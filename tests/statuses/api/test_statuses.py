"""Tests of posts over HTTP: entities, and errors for wrong requests."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from accounts.services.preferences import PreferencesChange, change_preferences
from social.kernel import clock
from statuses.models import Status
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import (
    follow,
    make_media,
    make_reblog,
    make_remote_status,
    make_status,
    mute,
)
from tests.statuses.conftest import api_of, post_as
from tests.support.client import Api
from tests.support.entities import check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"


def test_seed_002_publishing_returns_the_post_as_its_author_sees_it(alice: Account) -> None:
    body = post_as(alice)
    assert body["content"] == "<p>hello</p>"
    assert body["uri"] == f"http://social.localhost/users/alice/statuses/{body['id']}"
    assert body["url"] == f"http://social.localhost/@alice/{body['id']}"
    assert body["application"] == {"name": "Test client", "website": None}
    assert (body["account"]["acct"], body["account"]["statuses_count"]) == ("alice", 1)
    assert (body["pinned"], body["muted"], body["bookmarked"], body["filtered"]) == (False, False, False, [])
    assert body["quote_approval"] == {"automatic": ["public"], "manual": [], "current_user": "automatic"}


def test_seed_044_and_045_ids_are_ordered_by_time_and_distinct(alice: Account) -> None:
    bodies = [post_as(alice, status=str(number)) for number in range(20)]
    ids = [int(body["id"]) for body in bodies]
    assert len(set(ids)) == 20
    assert [number >> 16 for number in ids] == sorted(number >> 16 for number in ids)
    tails = [number & 65535 for number in ids]
    assert tails != list(range(tails[0], tails[0] + 20))


def test_traps_18_to_20_no_member_is_missing_and_null_only_where_allowed(alice: Account) -> None:
    anonymous = Api().get(f"{STATUSES}/{post_as(alice)['id']}").json()
    check("Status", anonymous)
    for name in ("in_reply_to_id", "in_reply_to_account_id", "reblog", "poll", "card", "edited_at", "quote"):
        assert anonymous[name] is None
    for name in ("media_attachments", "mentions", "tags", "emojis", "tagged_collections"):
        assert anonymous[name] == []
    assert not {"favourited", "reblogged", "muted", "bookmarked", "pinned", "filtered", "text"} & set(anonymous)


def test_the_application_is_shown_to_others_unless_the_author_hides_it(alice: Account, bob: Account) -> None:
    number = post_as(alice)["id"]
    assert api_of(bob).get(f"{STATUSES}/{number}").json()["application"]["name"] == "Test client"
    change_preferences(user=User.objects.get(account=alice), change=PreferencesChange(show_application=False))
    assert "application" not in api_of(bob).get(f"{STATUSES}/{number}").json()
    assert api_of(alice).get(f"{STATUSES}/{number}").json()["application"]["name"] == "Test client"
    Status.objects.filter(id=number).update(application=None)
    assert api_of(alice).get(f"{STATUSES}/{number}").json()["application"] is None


def test_a_remote_post_shows_its_own_addresses_and_no_application(alice: Account) -> None:
    eve = make_remote("eve", "xn--bcher-kva.example")
    status = make_remote_status(eve, url=None, mentions=[alice, eve], silent={alice.id})
    body = api_of(alice).get(f"{STATUSES}/{status.id}").json()
    check("StatusOfUser", body)
    assert (body["uri"], body["url"]) == (status.uri, status.uri)
    assert "application" not in body
    assert [mention["acct"] for mention in body["mentions"]] == ["eve@bücher.example"]


def test_a_limited_visibility_looks_private(alice: Account) -> None:
    status = make_remote_status(make_remote(), visibility="limited", mentions=[alice])
    assert api_of(alice).get(f"{STATUSES}/{status.id}").json()["visibility"] == "private"


def test_posts_of_sensitized_accounts_are_sensitive_to_others(alice: Account, bob: Account) -> None:
    number = post_as(alice)["id"]
    Account.objects.filter(id=alice.id).update(sensitized_at=clock.now())
    assert api_of(bob).get(f"{STATUSES}/{number}").json()["sensitive"] is True
    assert api_of(alice).get(f"{STATUSES}/{number}").json()["sensitive"] is False


def test_a_boost_contains_the_post_and_has_its_marks_but_no_content_or_counts(alice: Account, bob: Account) -> None:
    status = make_status(alice, "#hello", media=[make_media(alice)])
    api = api_of(bob)
    api.post(f"{STATUSES}/{status.id}/favourite")
    body = api.post(f"{STATUSES}/{status.id}/reblog").json()
    check("StatusOfUser", body)
    assert body["id"] != body["reblog"]["id"] == str(status.id)
    assert (body["content"], body["url"]) == ("", body["uri"])
    assert (body["account"]["acct"], body["reblog"]["account"]["acct"]) == ("bob", "alice")
    assert (body["media_attachments"], body["tags"]) == ([], [])
    assert len(body["reblog"]["media_attachments"]) == 1
    for shown in (body, body["reblog"]):
        assert (shown["reblogged"], shown["favourited"]) == (True, True)
    counts = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
    assert [body[name] for name in counts] == [0, 0, 0, 0]
    assert [body["reblog"][name] for name in counts] == [0, 1, 1, 0]
    assert body["uri"].endswith(f"/users/bob/statuses/{body['id']}/activity")
    assert body["reblog"]["reblog"] is None
    assert "pinned" not in body


def test_favouriting_a_boost_favourites_the_post_and_its_id_does_not_undo_it(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    boost = make_reblog(bob, status)
    api = api_of(bob)
    liked = api.post(f"{STATUSES}/{boost.id}/favourite").json()
    assert (liked["id"], liked["reblog"]["id"], liked["reblog"]["favourites_count"]) == (
        str(boost.id),
        str(status.id),
        1,
    )
    again = api.post(f"{STATUSES}/{boost.id}/favourite")
    assert (again.status_code, again.json()) == (422, {"error": "Validation failed: Status has already been taken"})
    assert api.post(f"{STATUSES}/{status.id}/favourite").status_code == 200
    kept = api.post(f"{STATUSES}/{boost.id}/unfavourite").json()
    assert (kept["id"], kept["reblog"]["favourites_count"]) == (str(boost.id), 1)
    assert api.post(f"{STATUSES}/{status.id}/unreblog").status_code == 200
    assert api_of(alice).post(f"{STATUSES}/{boost.id}/unreblog").status_code == 404, "the boost is gone"


def test_a_warning_makes_a_post_sensitive_unless_a_form_sends_false(alice: Account) -> None:
    assert post_as(alice, spoiler_text="careful")["sensitive"] is True
    assert post_as(alice, spoiler_text="careful", sensitive=False)["sensitive"] is True
    form = api_of(alice).post(STATUSES, form="status=x&spoiler_text=careful&sensitive=false")
    assert form.json()["sensitive"] is False


def test_a_limited_post_looks_private_and_only_mentioned_accounts_read_it(
    alice: Account, bob: Account, carol: Account
) -> None:
    follow(carol, alice)
    body = post_as(alice, status="hi @bob", visibility="limited")
    assert (body["visibility"], body["account"]["statuses_count"]) == ("private", 1)
    assert api_of(bob).get(f"{STATUSES}/{body['id']}").status_code == 200
    assert api_of(carol).get(f"{STATUSES}/{body['id']}").status_code == 404


def test_publishing_accepts_every_encoding(alice: Account) -> None:
    api = api_of(alice)
    for response in (
        api.post(STATUSES, form="status=hello&visibility=unlisted&sensitive=true&language=de&spoiler_text=x"),
        api.upload(
            "POST", STATUSES, status="hello", visibility="unlisted", sensitive="1", language="de", spoiler_text="x"
        ),
        api.post(f"{STATUSES}?status=hello&visibility=unlisted&sensitive=on&language=de&spoiler_text=x"),
        api.post(
            STATUSES,
            {"status": "hello", "visibility": "unlisted", "sensitive": True, "language": "de", "spoiler_text": "x"},
        ),
    ):
        body = response.json()
        assert (body["visibility"], body["sensitive"], body["language"]) == ("unlisted", True, "de")
        assert body["spoiler_text"] == "x"


def test_media_ids_are_accepted_in_every_encoding(alice: Account) -> None:
    api = api_of(alice)
    for send in (
        lambda number: api.post(STATUSES, {"media_ids": [str(number)]}),
        lambda number: api.post(STATUSES, {"media_ids": [number]}),
        lambda number: api.post(STATUSES, form=f"media_ids[]={number}"),
        lambda number: api.post(STATUSES, form=f"media_ids%5B%5D={number}"),
    ):
        media = make_media(alice)
        assert [item["id"] for item in send(media.id).json()["media_attachments"]] == [str(media.id)]


@pytest.mark.parametrize(
    ("values", "status", "error"),
    [
        ({}, 422, "Validation failed: Text can't be blank"),
        ({"status": ""}, 422, "Validation failed: Text can't be blank"),
        ({"status": None}, 422, "Validation failed: Text can't be blank"),
        ({"status": ["a"]}, 422, "Validation failed: Text can't be blank"),
        ({"status": {"a": "b"}}, 422, "Validation failed: Text can't be blank"),
        ({"status": "x" * 501}, 422, "Validation failed: Text character limit of 500 exceeded"),
        ({"status": "x", "visibility": "all"}, 422, "Validation failed: Visibility is not included in the list"),
        ({"status": "x", "visibility": 7}, 422, "Validation failed: Visibility is not included in the list"),
        ({"status": "x", "in_reply_to_id": "1"}, 404, "The post you are trying to reply to does not appear to exist."),
        ({"status": "x", "in_reply_to_id": "a"}, 404, "The post you are trying to reply to does not appear to exist."),
        ({"status": "x", "in_reply_to_id": -1}, 404, "The post you are trying to reply to does not appear to exist."),
        ({"status": "x", "media_ids": ["1", "x"]}, 422, "Media 1, x not found or already attached to another post"),
        ({"status": "x", "media_ids": ["1"]}, 422, "Media 1 not found or already attached to another post"),
        ({"status": "x", "media_ids": ["1", "2", "3", "4", "5"]}, 422, "Cannot attach more than 4 files"),
        ({"status": "x", "quote_approval_policy": "some"}, 422, "Record invalid"),
    ],
)
def test_invalid_parameters_get_an_error_and_nothing_is_stored(
    alice: Account, values: dict[str, Any], status: int, error: str
) -> None:
    response = api_of(alice).post(STATUSES, values)
    assert (response.status_code, response.json()) == (status, {"error": error})
    assert not Status.objects.exists()


@pytest.mark.parametrize(
    "values",
    [
        {"visibility": "", "language": "", "in_reply_to_id": "", "spoiler_text": "", "media_ids": [], "sensitive": ""},
        {"visibility": None, "language": None, "in_reply_to_id": None, "spoiler_text": None, "media_ids": None},
        {"media_ids": "7", "unknown": {"deep": [1]}, "poll": None, "scheduled_at": "", "language": ["de"]},
        {"media_ids": {"0": "7"}, "poll": "x", "scheduled_at": ["2100-01-01"], "quoted_status_id": {"a": "1"}},
        {"media_ids": {"a": "7"}, "poll": ["x"], "quote_approval_policy": ["nobody"]},
        {"media_ids": {"0": ["7"]}, "poll": True, "allowed_mentions": {"0": "7"}},
    ],
)
def test_empty_null_and_unknown_parameters_are_ignored(alice: Account, values: dict[str, Any]) -> None:
    assert post_as(alice, **values)["visibility"] == "public"


def test_values_of_another_shape_are_ignored_in_forms_too(alice: Account) -> None:
    answer = api_of(alice).post(STATUSES, form="status=x&poll=x&media_ids[0]=7&scheduled_at[]=2100-01-01")
    assert (answer.status_code, answer.json()["media_attachments"]) == (200, [])


def test_malformed_json_is_refused(alice: Account) -> None:
    response = api_of(alice).request("POST", STATUSES, None, form=None, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    broken = api_of(alice).client.post(
        STATUSES, b"{", "application/json", headers={"Authorization": f"Bearer {make_token(User.objects.get())}"}
    )
    assert broken.status_code == 400
    check("Error", broken.json())


def test_trap_37_a_repeated_key_returns_the_same_post(alice: Account) -> None:
    api = api_of(alice)
    first, second = (
        api.post(STATUSES, {"status": "once"}, headers={"Idempotency-Key": "k"}).json() for _time in range(2)
    )
    assert first["id"] == second["id"]
    assert Status.objects.count() == 1


def test_unexpected_mentions_are_named(alice: Account, bob: Account, carol: Account) -> None:
    response = api_of(alice).post(STATUSES, {"status": "@bob @carol", "allowed_mentions": [str(bob.id)]})
    assert response.status_code == 422
    body = response.json()
    assert body["error"] == "Post would be sent to unexpected accounts"
    assert [account["acct"] for account in body["unexpected_accounts"]] == ["carol"]
    check("Account", body["unexpected_accounts"][0])


def test_several_posts_come_newest_first_and_without_hidden_ones(alice: Account, bob: Account, carol: Account) -> None:
    first, second = make_status(bob, "first"), make_status(bob, "second")
    muted, private = make_status(carol, "muted"), make_status(bob, "private", visibility="private")
    mute(alice, carol)
    asked = [first.id, second.id, muted.id, private.id, 1, "abc", second.id]
    api = api_of(alice)
    response = api.get(f"{STATUSES}?{'&'.join(f'id[]={number}' for number in asked)}")
    assert [body["id"] for body in response.json()] == [str(second.id), str(first.id)]
    assert "Link" not in response.headers
    assert len(Api().get(f"{STATUSES}?id[]={muted.id}").json()) == 1
    assert api.get(STATUSES).json() == []
    assert api.get(f"{STATUSES}?id={first.id}").json() == [], "a single value is not read as a list"
    assert api.get(f"{STATUSES}?id[0]={first.id}").json() == [], "a map is not read as a list"


def test_at_most_twenty_posts_can_be_requested_at_once(alice: Account) -> None:
    path = f"{STATUSES}?{'&'.join(f'id[]={number}' for number in range(21))}"
    response = api_of(alice).get(path)
    assert response.status_code == 422
    check("Error", response.json())
    assert api_of(alice).get(path.rpartition("&")[0]).json() == []
    assert api_of(alice).get(path.rpartition("&")[0] + "&id[]=1&id[]=2").json() == [], "every id counts"


def test_the_list_of_an_accounts_posts_accepts_filters(alice: Account, bob: Account) -> None:
    root = make_status(bob, "root")
    make_status(alice, "answer", reply_to=root)
    make_status(alice, "picture", media=[make_media(alice)])
    make_status(alice, "#cats")
    make_reblog(alice, root)
    path = f"/api/v1/accounts/{alice.id}/statuses"
    api = api_of(bob)

    def texts(query: str) -> list[str]:
        return [
            body["reblog"]["content"] if body["reblog"] else body["content"] for body in api.get(path + query).json()
        ]

    assert len(texts("")) == 4
    assert len(texts("?exclude_reblogs=true")) == 3
    assert len(texts("?exclude_replies=1&exclude_reblogs=on")) == 2
    assert texts("?only_media=true") == ["<p>picture</p>"]
    assert len(texts("?tagged=CATS")) == 1
    assert texts("?pinned=true") == []
    assert len(texts("?pinned=false&only_media=0&tagged=")) == 4
    assert api.get("/api/v1/accounts/1/statuses").status_code == 404
    assert api.get("/api/v1/accounts/abc/statuses").status_code == 404


def test_trap_41_a_thread_lists_ancestors_and_descendants(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    middle = make_status(bob, "middle", reply_to=root)
    leaf = make_status(alice, "leaf", reply_to=middle)
    body = Api().get(f"{STATUSES}/{middle.id}/context").json()
    check("Context", body)
    assert [item["id"] for item in body["ancestors"]] == [str(root.id)]
    assert [item["id"] for item in body["descendants"]] == [str(leaf.id)]


def _count(api: Api, path: str) -> int:
    api.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert api.get(path).status_code == 200
    return len(captured.captured_queries)


def test_pages_ask_the_database_eight_times_at_most(alice: Account, bob: Account) -> None:
    from social.kernel import redis

    posts = [make_status(bob, f"@alice #tag{number}", media=[make_media(bob)]) for number in range(40)]
    api = api_of(alice)
    listing = f"/api/v1/accounts/{bob.id}/statuses?limit="
    assert _count(api, f"{listing}2") == _count(api, f"{listing}40") <= 5
    assert _count(api, f"{STATUSES}/{posts[0].id}") <= 3
    assert _count(api, f"{STATUSES}/{posts[0].id}/context") <= 5
    redis.client("cache").flushdb()
    api.get(f"{STATUSES}/1")  # this request caches the token
    with CaptureQueriesContext(connection) as captured:
        assert len(api.get(f"{listing}40").json()) == 40
    assert len(captured.captured_queries) <= 8


def test_limits_of_deleting_and_publishing_are_counted(alice: Account, settings: Any) -> None:
    settings.RATE_LIMITS = True
    api = api_of(alice)
    posted = api.post(STATUSES, {"status": "hello"})
    assert posted["X-RateLimit-Limit"] in ("300", "1500")
    number = posted.json()["id"]
    answers = [api.post(f"{STATUSES}/{number}/unreblog").status_code for _time in range(31)]
    assert answers == [200] * 30 + [429]
    assert api.delete(f"{STATUSES}/{number}").status_code == 429
    assert api.post(f"{STATUSES}/{number}/favourite").status_code == 200


def test_public_posts_of_a_limited_account_become_unlisted(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(limited_at=clock.now())
    assert post_as(alice, visibility="public")["visibility"] == "unlisted"
