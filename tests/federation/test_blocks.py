"""Tests of blocks by either side, which end follows and hide posts (contract, federation sections 7 and 11; behaviours 14)."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

import pytest
from django.db import connection

from accounts.models import Account, AccountDomainBlock, AccountStat, Block, Follow, FollowRequest
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, block_domain
from accounts.services.following import FollowChange, follow_account
from federation.remote.actors import fetch_actor
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import create_rule
from social.kernel.errors import Forbidden, NotFound
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_reblog, make_status
from tests.federation.activities import remote
from tests.federation.remote_server import RemotePerson
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _by_account(alice: Account, zoe: RemotePerson) -> None:
    block_account(account=alice, target=remote(zoe))


def _by_account_of_server(alice: Account, zoe: RemotePerson) -> None:
    block_domain(account=alice, domain=zoe.home.domain)


def _by_them(alice: Account, zoe: RemotePerson) -> None:
    assert zoe.send(zoe.activity("Block", alice.uri)).status_code == 202
    work()
    assert Block.objects.get().target_id == alice.id


def _by_staff(alice: Account, zoe: RemotePerson) -> None:
    create_rule(by=OPERATOR, domain="localhost", draft=DomainRuleDraft(severity="suspend"))


BLOCKS: Final = [_by_account, _by_account_of_server, _by_them, _by_staff]
OURS: Final = [_by_account, _by_account_of_server]
Blocking = Callable[[Account, RemotePerson], None]


@pytest.fixture
def known(alice: Account, zoe: RemotePerson) -> Account:
    """Zoe's account, with which Alice has a mutual follow."""
    account = fetch_actor(zoe.uri)
    assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 202
    follow_account(account=alice, target=account, change=FollowChange())
    work()
    zoe.send(zoe.activity("Accept", FollowRequest.objects.get().uri))
    work()
    assert Follow.objects.count() == 2
    return account


def _follows() -> int:
    return Follow.objects.count() + FollowRequest.objects.count()


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_ends_the_follows_both_ways_and_prevents_new_ones(
    block: Blocking, alice: Account, zoe: RemotePerson, known: Account
) -> None:
    block(alice, zoe)
    work()
    assert _follows() == 0
    answer = zoe.send(zoe.activity("Follow", alice.uri))
    work()
    assert _follows() == 0
    if block is _by_staff:
        assert answer.status_code == 403
    else:
        assert zoe.home.delivered()[-1]["type"] == "Reject"
    with pytest.raises(NotFound if block is _by_staff else Forbidden):
        follow_account(account=alice, target=Account.objects.get(id=known.id), change=FollowChange())
    assert _follows() == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_a_blocked_account_cannot_read_followers_only_posts(
    block: Blocking, alice: Account, zoe: RemotePerson, known: Account
) -> None:
    post = make_status(alice, "for followers", visibility="private")
    path = f"/users/alice/statuses/{post.id}"
    assert zoe.get(path).status_code == 200
    block(alice, zoe)
    work()
    zoe.send(zoe.activity("Follow", alice.uri))
    work()
    assert zoe.get(path).status_code == 404


def test_a_suspended_server_gets_no_followers_only_post_before_its_accounts_are_suspended(
    alice: Account, zoe: RemotePerson, known: Account
) -> None:  # security row 13
    post = make_status(alice, "for followers", visibility="private")
    _by_staff(alice, zoe)
    assert zoe.get(f"/users/alice/statuses/{post.id}").status_code == 404


def test_the_upgrade_ends_follows_that_began_despite_a_block(alice: Account) -> None:
    people = [make_remote(domain=name) for name in ("blocked.example", "blocked.example", "other.example")]
    for person in people:
        follow_account(account=person, target=alice, change=FollowChange(), uri=f"{person.uri}#1")
    follow_account(account=make_account("bob"), target=alice, change=FollowChange())
    AccountDomainBlock.objects.create(account=alice, domain="blocked.example")
    with connection.cursor() as cursor:
        cursor.execute(import_module("accounts.migrations.0006_end_follows_of_blocked_servers").ENDED)
    kept = Follow.objects.filter(target=alice).order_by("id").values_list("account__domain", flat=True)
    assert list(kept) == ["other.example", None]
    counts = AccountStat.objects.in_bulk([alice.id, people[0].id, people[2].id])
    assert counts[alice.id].followers_count == 2
    assert [counts[person.id].following_count for person in (people[0], people[2])] == [0, 1]


def _paths(post: Status) -> list[str]:
    path = f"/users/alice/statuses/{post.id}"
    hanging = ("/activity", "/replies", "/replies?page=true", "/likes", "/shares")
    return [path, f"/@alice/{post.id}", *(f"{path}{name}" for name in hanging)]


@pytest.mark.parametrize("block", OURS)
def test_a_remote_account_blocked_by_the_author_gets_neither_the_post_nor_documents_about_it(
    block: Blocking, alice: Account, zoe: RemotePerson, known: Account
) -> None:
    post = make_status(alice, "for everybody")
    boost = make_reblog(make_account("bob"), post)
    conversation = f"/contexts/{alice.id}-{post.id}"
    paths = [*_paths(post), conversation, f"{conversation}?page=true", f"/users/bob/statuses/{boost.id}/activity"]
    assert {zoe.get(path).status_code for path in paths} == {200}
    outbox = "/users/alice/outbox?page=true"
    assert len(zoe.get(outbox).json()["orderedItems"]) == 1
    block(alice, zoe)
    missing = zoe.get("/users/alice/statuses/1")
    assert {(zoe.get(path).status_code, zoe.get(path).content) for path in paths} == {(404, missing.content)}
    assert zoe.get(outbox).json()["orderedItems"] == []
    assert zoe.get("/users/alice").status_code == 200
    stranger = RemotePerson(zoe.home, "zoe", 2)
    assert stranger.get(paths[0]).status_code == 200, "a request with an invalid signature counts as unsigned"


@pytest.mark.parametrize("block", [_by_them, _by_staff])
def test_public_posts_stay_readable_unless_their_author_blocked_the_reader(
    block: Blocking, alice: Account, zoe: RemotePerson, known: Account
) -> None:
    post = make_status(alice, "for everybody")
    block(alice, zoe)
    work()
    assert {zoe.get(path).status_code for path in _paths(post)} == {200}


def test_collections_of_replies_leave_out_authors_who_block_the_reader(
    alice: Account, zoe: RemotePerson, known: Account
) -> None:
    post = make_status(alice, "what do you think?")
    bob = make_account("bob")
    reply = make_status(bob, "this", reply_to=post)
    make_status(alice, "for followers", reply_to=post, visibility="private")
    path = f"/users/alice/statuses/{post.id}/replies?page=true&only_other_accounts=true"
    assert [item["id"] for item in zoe.get(path).json()["items"]] == [f"{bob.uri}/statuses/{reply.id}"]
    block_account(account=bob, target=known)
    assert zoe.get(path).json()["items"] == []
    assert zoe.get(f"/users/alice/statuses/{post.id}/replies?page=true").json()["items"] == []
