"""Tests of grouped notifications (contract, behaviours section 13 "Grouping"; clients.md trap 31)."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from notifications.models import Notification
from statuses.models import Status
from tests.conformance.people import here, links
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_status
from tests.notifications.people import Person
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
GROUPS = "/api/v2/notifications"


@pytest.fixture
def post(alice: Person) -> Status:
    return make_status(alice.user.account)


def ask(api: Api, path: str = GROUPS, **params: Any) -> Any:
    work()
    answer = api.get(path, params)
    assert answer.status_code == 200, answer.content
    return answer.json()


def groups(person: Person, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(person.api, **params)["notification_groups"]
    return found


def favourite(*accounts: Account, post: Status) -> list[str]:
    """Add favourites by these accounts, and return the ids of the notifications, oldest first."""
    for account in accounts:
        make_favourite(account, post)
        work()
    found = Notification.objects.filter(status=post, type="favourite").order_by("id")
    return [str(number) for number in found.values_list("id", flat=True)]


def test_favourites_of_one_post_form_one_group_newest_first(alice: Person, post: Status) -> None:
    people = [make_account() for _number in range(10)]
    ids = favourite(*people, post=post)
    body = ask(alice.api)
    (group,) = body["notification_groups"]
    newest = [str(account.id) for account in people[::-1]][:8]
    assert group["group_key"].startswith(f"favourite-{post.id}-")
    assert (group["notifications_count"], group["type"], group["status_id"]) == (10, "favourite", str(post.id))
    assert group["sample_account_ids"] == newest == [account["id"] for account in body["accounts"]]
    assert (group["page_min_id"], group["page_max_id"]) == (ids[0], ids[-1])
    assert group["most_recent_notification_id"] == ids[-1]
    assert [status["id"] for status in body["statuses"]] == [str(post.id)]
    assert "partial_accounts" not in body


def test_a_group_is_once_on_a_page_and_again_on_the_next_with_its_older_notifications(
    alice: Person, bob: Person, carol: Person, post: Status
) -> None:
    first = favourite(bob.user.account, post=post)
    bob.post("@alice hello")
    work()
    second = favourite(carol.user.account, post=post)[1:]
    page = alice.api.get(GROUPS, {"limit": 1})
    (group,) = page.json()["notification_groups"]
    assert (group["notifications_count"], group["page_min_id"], group["page_max_id"]) == (2, second[0], second[0])
    assert f"max_id={second[0]}" in page.headers["Link"]
    assert f"min_id={second[0]}" in page.headers["Link"]
    mention, rest = groups(alice, max_id=second[0])
    assert (mention["type"], mention["group_key"]) == (
        "mention",
        f"ungrouped-{mention['most_recent_notification_id']}",
    )
    assert (rest["notifications_count"], rest["sample_account_ids"], rest["page_max_id"]) == (
        1,
        [str(bob.id)],
        first[0],
    )
    before, after = groups(alice, min_id=first[0])
    assert [before["type"], after["type"]] == ["favourite", "mention"]
    assert before["notifications_count"] == 2


def test_clients_choose_the_grouped_types_and_the_accounts_in_short_form(
    alice: Person, bob: Person, carol: Person, post: Status
) -> None:
    favourite(bob.user.account, carol.user.account, post=post)
    apart = groups(alice, **{"grouped_types[]": "follow"})
    assert [(group["notifications_count"], group["group_key"][:10]) for group in apart] == [(1, "ungrouped-")] * 2
    body = ask(alice.api, expand_accounts="partial_avatars")
    assert [account["id"] for account in body["accounts"]] == [str(carol.id)]
    assert [account["acct"] for account in body["partial_accounts"]] == ["bob"]
    for wrong in ("nonsense", ""):
        answer = alice.api.get(GROUPS, {"expand_accounts": wrong})
        message = f"Invalid value for 'expand_accounts': '{wrong}', allowed values are 'full' and 'partial_avatars'"
        assert (answer.status_code, answer.json()) == (400, {"error": message})
    assert groups(alice, account_id=str(bob.id))[0]["notifications_count"] == 2, "this endpoint has no such parameter"
    assert groups(alice, **{"types[]": "nonsense"}) == groups(alice, limit=0) == []


def test_a_group_is_read_and_dismissed_by_its_key(alice: Person, bob: Person, carol: Person, post: Status) -> None:
    favourite(bob.user.account, carol.user.account, post=post)
    bob.post("@alice hello")
    mention, likes = (group["group_key"] for group in groups(alice))
    one = ask(alice.api, f"{GROUPS}/{likes}")
    assert one["notification_groups"][0]["notifications_count"] == 2
    assert "page_min_id" not in one["notification_groups"][0]
    everybody = alice.api.get(f"{GROUPS}/{likes}/accounts", {"limit": 1})
    assert [account["id"] for account in everybody.json()] == [str(carol.id)]
    assert 'rel="next"' in everybody.headers["Link"]
    assert ask(alice.api, f"{GROUPS}/{mention}/accounts") == ask(alice.api, f"{GROUPS}/nonsense/accounts") == []
    assert ask(bob.api, f"{GROUPS}/{likes}/accounts") == []
    for person, key in ((alice, "nonsense"), (alice, "ungrouped-1"), (alice, "ungrouped-x"), (bob, likes)):
        assert person.api.get(f"{GROUPS}/{key}").status_code == 404
    assert bob.api.post(f"{GROUPS}/{likes}/dismiss").json() == {}
    assert len(groups(alice)) == 2, "the groups of another user cannot be dismissed"
    for _again in range(2):
        assert alice.api.post(f"{GROUPS}/{likes}/dismiss").json() == {}
    assert [group["group_key"] for group in groups(alice)] == [mention]
    assert ask(alice.api, f"{GROUPS}/{mention}")["notification_groups"][0]["type"] == "mention"
    assert alice.api.post(f"{GROUPS}/{mention}/dismiss").json() == {}
    assert groups(alice) == []


def test_groups_that_are_newer_than_the_marker_are_unread(alice: Person, bob: Person, carol: Person) -> None:
    posts = [make_status(alice.user.account) for _number in range(3)]
    for post in posts:
        favourite(bob.user.account, carol.user.account, post=post)
    count = f"{GROUPS}/unread_count"
    assert ask(alice.api, count) == {"count": 3}
    assert ask(alice.api, count, limit=2) == {"count": 2}
    assert ask(alice.api, count, limit=0) == {"count": 0}
    assert ask(alice.api, count, **{"grouped_types[]": "follow"}) == {"count": 6}
    assert ask(alice.api, count, **{"exclude_types[]": "favourite"}) == {"count": 0}
    last = groups(alice)[0]["most_recent_notification_id"]
    alice.api.post("/api/v1/markers", {"notifications": {"last_read_id": last}})
    assert ask(alice.api, count) == {"count": 0}


def test_a_page_takes_as_many_queries_for_groups_of_many_as_of_one_and_one_more_for_very_many(
    alice: Person, post: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    favourite(make_account(), post=post)
    ask(alice.api)
    with CaptureQueriesContext(connection) as few:
        alice.api.get(GROUPS)
    favourite(*(make_account() for _number in range(7)), post=post)
    ask(alice.api)
    with CaptureQueriesContext(connection) as many:
        alice.api.get(GROUPS)
    assert len(few) == len(many)
    monkeypatch.setattr("notifications.queries.groups.STRETCHES", (2, 5))
    with CaptureQueriesContext(connection) as very_many:
        alice.api.get(GROUPS)
    assert len(very_many) == len(many) + 1


def test_the_count_of_a_group_ends_at_ten_thousand(alice: Person, bob: Person, post: Status) -> None:
    bob.post("@alice the oldest")
    (first,) = favourite(bob.user.account, post=post)
    key = Notification.objects.get(id=first).group_key
    Notification.objects.bulk_create(
        Notification(
            account_id=alice.id,
            from_account_id=bob.id,
            type="favourite",
            status=post,
            group_key=key,
            cause=f"test:{number}",
        )
        for number in range(10_000)
    )
    last = str(Notification.objects.filter(group_key=key).latest("id").id)
    group, mention = groups(alice)
    assert (group["notifications_count"], mention["type"]) == (10_000, "mention")
    assert (group["page_min_id"], group["page_max_id"], group["sample_account_ids"][:1]) == (first, last, [str(bob.id)])
    (only,) = groups(alice, min_id=mention["page_max_id"], max_id=last)
    assert (only["notifications_count"], only["page_min_id"]) == (10_000, first)
    assert groups(alice, max_id=first) == [mention]


def test_notifications_of_suspended_senders_are_not_counted(
    alice: Person, bob: Person, carol: Person, post: Status
) -> None:
    favourite(bob.user.account, carol.user.account, post=post)
    Account.objects.filter(id=carol.id).update(suspended_at=carol.user.account.created_at)
    (group,) = groups(alice)
    assert (group["notifications_count"], group["sample_account_ids"]) == (1, [str(bob.id)])


def pages(person: Person, rel: str, **params: Any) -> list[list[dict[str, Any]]]:
    """Return the groups on all pages, which are found by following the links with the relation `rel`."""
    found = []
    answer = person.api.get(GROUPS, params)
    while answer.json()["notification_groups"]:
        found.append(answer.json()["notification_groups"])
        answer = person.api.get(here(links(answer)[rel]))
        assert len(found) < 20, "the links form a loop"
    return found


def test_the_page_after_a_very_large_group_continues_where_it_ended(
    alice: Person, bob: Person, carol: Person, post: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob.post("@alice below")
    ids = favourite(*(make_account() for _number in range(12)), post=post)
    carol.post("@alice above")
    work()
    everything = [[group["type"] for group in groups(alice)]]
    assert everything == [["mention", "favourite", "mention"]]
    monkeypatch.setattr("notifications.queries.groups.STRETCHES", (2, 5))
    down = pages(alice, "next")
    assert [[group["type"] for group in page] for page in down] == [
        ["mention", "favourite"],
        ["favourite"],
        ["favourite", "mention"],
    ]
    lowest = [(page[-1]["page_min_id"], page[-1]["notifications_count"]) for page in down[:2]]
    assert lowest == [(ids[8], 12), (ids[3], 8)]
    assert down[2][0]["page_min_id"] == ids[0]
    up = pages(alice, "prev", min_id=0)
    assert [[group["type"] for group in page] for page in up] == [
        ["favourite", "mention"],
        ["favourite"],
        ["mention", "favourite"],
    ]
    assert [page[0]["page_max_id"] for page in up[:2]] == [ids[3], ids[8]]
    for longest in range(1, 16):
        monkeypatch.setattr("notifications.queries.groups.STRETCHES", (1, longest))
        for rel, params in (("next", {}), ("prev", {"min_id": 0})):
            found = sorted(group["type"] for page in pages(alice, rel, **params) for group in page)
            assert [kind for kind in found if kind == "mention"] == ["mention", "mention"], (longest, rel)
    monkeypatch.setattr("notifications.queries.groups.STRETCHES", (2, 5))
    assert [group["type"] for group in groups(alice, limit=2)] == ["mention", "favourite"]
    for sender in Account.objects.filter(username="carol") | Account.objects.exclude(username__in=("alice", "bob")):
        sender.suspended_at = sender.created_at
        sender.save(update_fields=["suspended_at"])
    assert [group["type"] for group in groups(alice)] == ["mention"], (
        "the number of hidden notifications above does not matter"
    )
