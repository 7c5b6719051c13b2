"""Tests of activities without an id, as Mastodon sends them: they are processed once, and can be undone. Reports may refer to
accounts and posts in several forms (contract, federation sections 7 and 17).
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from accounts.models import Account, Block, Follow
from federation.remote.actors import fetch_actor
from moderation.models import Report
from statuses.models import Favourite, Status
from tests.factories.accounts import make_account
from tests.factories.statuses import make_status
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer

pytestmark = pytest.mark.django_db

COUNTS: dict[str, Callable[[], int]] = {
    "Announce": lambda: Status.objects.filter(reblog_of__isnull=False, deleted_at=None).count(),
    "Block": Block.objects.count,
    "Follow": Follow.objects.filter(target__domain=None).count,
    "Like": Favourite.objects.count,
}
NO_IDS: list[dict[str, Any]] = [{}, {"id": None}, {"id": ""}]


def nameless(person: RemotePerson, kind: str, obj: Any, no_id: dict[str, Any], **more: Any) -> dict[str, Any]:
    activity = person.activity(kind, obj, **more)
    del activity["id"]
    return activity | no_id


@pytest.mark.parametrize("no_id", NO_IDS)
@pytest.mark.parametrize("kind", COUNTS)
def test_an_activity_without_an_id_counts_once_and_again_after_its_undo(
    zoe: RemotePerson, alice: Account, kind: str, no_id: dict[str, Any]
) -> None:
    introduced(zoe, alice)
    post = make_status(alice)
    target = alice.uri if kind in ("Block", "Follow") else f"{alice.uri}/statuses/{post.id}"
    activity = nameless(zoe, kind, target, no_id, to=[PUBLIC])
    count = COUNTS[kind]
    for _again in range(2):
        for _twice in range(2):
            assert deal(zoe, activity) == "done"
            assert count() == 1
        undo = nameless(zoe, "Undo", {"type": kind, "actor": zoe.uri, "object": target}, no_id)
        assert deal(zoe, undo) == "done"
        assert count() == 0


@pytest.mark.parametrize("kind", COUNTS)
def test_an_undo_without_an_id_undoes_only_the_named_activity(zoe: RemotePerson, alice: Account, kind: str) -> None:
    introduced(zoe, alice)
    persons = [alice, make_account("bob")]
    posts = [f"{one.uri}/statuses/{make_status(one).id}" for one in persons]
    targets = [one.uri for one in persons] if kind in ("Block", "Follow") else posts
    for target in targets:
        assert deal(zoe, zoe.activity(kind, target, to=[PUBLIC])) == "done"
    Favourite.objects.update(uri=None)
    Follow.objects.filter(target__domain=None).update(uri=None)
    assert deal(zoe, zoe.activity("Undo", {"type": kind, "actor": zoe.uri, "object": targets[1]})) == "done"
    assert COUNTS[kind]() == 1
    assert deal(zoe, zoe.activity("Undo", {"type": kind, "actor": zoe.uri})).startswith("rejected")
    assert COUNTS[kind]() == 1


def test_an_accept_of_a_follow_without_an_id_names_both_accounts(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    fetch_actor(zoe.uri)
    assert deal(zoe, nameless(zoe, "Follow", alice.uri, {})) == "done"
    (accept,) = elsewhere.delivered()
    assert accept["type"] == "Accept"
    assert (accept["object"]["actor"], accept["object"]["object"]) == (zoe.uri, alice.uri)


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize("wrong", ["https://other.example/1", {"a": 1}, 17])
def test_an_activity_with_an_id_of_another_server_is_refused(
    zoe: RemotePerson, alice: Account, kind: str, wrong: Any
) -> None:
    introduced(zoe, alice)
    target = alice.uri if kind in ("Block", "Follow") else f"{alice.uri}/statuses/{make_status(alice).id}"
    assert "no id on its actor's server" in deal(zoe, zoe.activity(kind, target, to=[PUBLIC]) | {"id": wrong})
    assert COUNTS[kind]() == 0


def test_reports_without_an_id_are_stored_once_each(zoe: RemotePerson, alice: Account) -> None:
    for words in ("bad", "bad", "worse"):
        assert deal(zoe, nameless(zoe, "Flag", [alice.uri], {}) | {"content": words}) == "done"
    assert sorted(Report.objects.values_list("comment", flat=True)) == ["bad", "worse"]


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("form", range(11))
def test_a_report_may_name_an_account_in_any_form(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch, form: int, *, separate: bool
) -> None:
    if separate:
        monkeypatch.setattr(settings, "LOCAL_DOMAIN", "people.example")
    domain, web = settings.LOCAL_DOMAIN, settings.WEB_DOMAIN
    named = [
        f"acct:alice@{domain}",
        f"acct:Alice@{web}",
        f"@alice@{domain}",
        f"alice@{domain}",
        f"https://{domain}/@alice",
        f"http://{web}/@alice/",
        f"{alice.page_url}@{domain}",
        f"{alice.uri}#main-key",
        {"type": "Collection", "items": [alice.uri]},
        {"type": "OrderedCollection", "orderedItems": [{"type": "Person", "id": alice.uri}]},
        [{"type": "Link", "href": f"acct:alice@{domain}"}],
    ][form]
    assert deal(zoe, zoe.activity("Flag", named) | {"content": "bad"}) == "done"
    assert Report.objects.get().target_account == alice


def test_a_report_may_name_posts_in_a_collection_or_by_their_pages(zoe: RemotePerson, alice: Account) -> None:
    posts = [make_status(alice) for _time in range(3)]
    items = [
        f"{alice.uri}/statuses/{posts[0].id}",
        {"type": "Note", "id": f"{alice.page_url}/{posts[1].id}"},
        f"{alice.page_url}@{settings.LOCAL_DOMAIN}/{posts[2].id}",
    ]
    assert deal(zoe, zoe.activity("Flag", {"type": "Collection", "items": items})) == "done"
    report = Report.objects.get()
    assert (report.target_account, sorted(report.status_ids)) == (alice, [post.id for post in posts])


@pytest.mark.parametrize("named", ["acct:nobody@{}", "acct:alice@other.example", "acct:@", "https://[", "acct:"])
def test_a_report_about_no_local_account_is_refused(zoe: RemotePerson, alice: Account, named: str) -> None:
    assert "names no local account" in deal(zoe, zoe.activity("Flag", named.format(settings.LOCAL_DOMAIN)))
