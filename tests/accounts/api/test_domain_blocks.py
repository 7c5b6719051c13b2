"""Tests of users' domain blocks (SEED-012; contract, behaviours section 14)."""

from typing import Any

import pytest

from accounts.models import (
    Account,
    AccountDomainBlock,
    AccountStat,
    Follow,
    FollowRequest,
    Severance,
    SeveredAccount,
    SeveredFollow,
    User,
)
from accounts.services import severing
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_favourite, make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
PATH = "/api/v1/domain_blocks"


def follow(account: Account, target: Account, **options: Any) -> None:
    Follow.objects.create(account=account, target=target, **options)
    AccountStat.objects.update_or_create(account=account, defaults={"following_count": 1})
    AccountStat.objects.update_or_create(account=target, defaults={"followers_count": 1})


def test_seed_012_a_server_is_blocked_and_unblocked(api: Api) -> None:
    for domain in ("one.example", "one.example", "TWO.Example.", "b\u00fccher.example"):
        answer = api.post(PATH, {"domain": domain})
        assert (answer.status_code, answer.json()) == (200, {})
    assert api.get(PATH).json() == ["xn--bcher-kva.example", "two.example", "one.example"]
    first = api.get(PATH, {"limit": 2})
    assert first.json() == ["xn--bcher-kva.example", "two.example"]
    oldest = AccountDomainBlock.objects.get(domain="two.example").id
    assert f"{PATH}?limit=2&max_id={oldest}>" in first["Link"]
    assert api.get(PATH, {"limit": 2, "max_id": oldest}).json() == ["one.example"]
    assert api.delete(f"{PATH}?domain=One.Example").json() == {}
    assert api.delete(PATH, {"domain": "one.example"}).json() == {}
    assert api.delete(PATH).json() == {}
    assert api.get(PATH).json() == ["xn--bcher-kva.example", "two.example"]
    assert Api(make_token(make_user())).get(PATH).json() == []


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "Domain can't be blank"),
        ({"domain": ""}, "Domain can't be blank"),
        ({"domain": "not a domain"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "https://four.example/x"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "x" * 300}, "Domain is invalid, Domain is invalid"),
        ({"domain": "5"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "one.5"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "192.0.2.1"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "[::1]"}, "Domain is invalid, Domain is invalid"),
        ({"domain": "Social.localhost"}, "Domain is this server's own"),
    ],
)
def test_an_invalid_domain_is_refused(api: Api, sent: dict[str, Any], sentence: str) -> None:
    answer = api.post(PATH, sent)
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert api.get(PATH).json() == []


def test_a_domain_block_ends_follows_both_ways_and_stores_them_with_their_options(ann: User, api: Api) -> None:
    friend, fan, asker, other = make_remote(), make_remote(), make_remote(), make_remote(domain="other.example")
    follow(ann.account, friend, show_reblogs=False, notify=True, languages=["de"])
    follow(fan, ann.account)
    follow(other, ann.account)
    FollowRequest.objects.create(account=asker, target=ann.account)
    AccountStat.objects.update_or_create(account=ann.account, defaults={"followers_count": 2, "following_count": 1})
    api.post(PATH, {"domain": "remote.example"})
    work()
    assert list(Follow.objects.values_list("account_id", "target_id")) == [(other.id, ann.account_id)]
    assert not FollowRequest.objects.exists()
    stat = AccountStat.objects.get(account=ann.account)
    assert (stat.followers_count, stat.following_count) == (1, 0)
    severance = Severance.objects.get()
    assert (severance.type, severance.target_name) == ("user_domain_block", "remote.example")
    cost = SeveredAccount.objects.get()
    assert (cost.account_id, cost.followers_count, cost.following_count) == (ann.account_id, 1, 1)
    kept = SeveredFollow.objects.get(target=friend)
    assert (kept.show_reblogs, kept.notify, kept.languages) == (False, True, ["de"])
    relation = api.get("/api/v1/accounts/relationships", {"id": str(friend.id)}).json()[0]
    assert (relation["domain_blocking"], relation["following"]) == (True, False)


def test_a_preview_shows_how_many_follows_a_domain_block_would_end(ann: User, api: Api) -> None:
    for number in range(3):
        remote = make_remote(domain="remote.example" if number else "other.example")
        follow(remote, ann.account)
        if number == 2:
            follow(ann.account, remote)
    follow(make_user().account, ann.account)

    def counts(domain: str) -> tuple[int, int]:
        body = api.get(f"{PATH}/preview", {"domain": domain}).json()
        return body["following_count"], body["followers_count"]

    assert counts(" Remote.Example.") == (1, 2)
    assert counts("other.example") == (0, 1)
    assert counts("unknown.example") == counts("") == counts("social.localhost") == counts("a b") == (0, 0)
    assert Follow.objects.count() == 5


def test_many_follows_end_in_steps(ann: User, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(severing, "BATCH_SIZE", 2)
    for _number in range(5):
        follow(make_remote(), ann.account)
    api.post(PATH, {"domain": "remote.example"})
    work()
    assert not Follow.objects.exists()
    assert Severance.objects.count() == 1
    assert SeveredAccount.objects.get().followers_count == 5


def test_a_domain_block_that_is_undone_immediately_ends_no_follows(ann: User, api: Api) -> None:
    follow(make_remote(), ann.account)
    api.post(PATH, {"domain": "remote.example"})
    api.delete(PATH, {"domain": "remote.example"})
    work()
    assert Follow.objects.count() == 1


def test_accounts_of_a_blocked_server_are_neither_followed_nor_shown(ann: User, api: Api) -> None:
    def public() -> list[str]:
        return [status["account"]["acct"] for status in api.get("/api/v1/timelines/public").json()]

    stranger = make_remote()
    make_favourite(stranger, make_status(ann.account))
    work()
    assert len(api.get("/api/v1/notifications").json()) == 1
    make_remote_status(stranger)
    api.post(PATH, {"domain": "remote.example"})
    work()
    assert api.get("/api/v1/notifications").json() == []
    assert public() == ["ann"]
    assert api.post(f"/api/v1/accounts/{stranger.id}/follow").status_code == 403
    make_favourite(stranger, make_status(ann.account))
    work()
    assert api.get("/api/v1/notifications").json() == []
    api.delete(PATH, {"domain": "remote.example"})
    assert sorted(set(public())) == ["ann", stranger.acct]
    assert api.post(f"/api/v1/accounts/{stranger.id}/follow").status_code == 200


def test_domain_blocks_require_a_users_token_with_a_matching_scope(ann: User) -> None:
    assert (Api().get(PATH).status_code, Api().post(PATH, {"domain": "x.example"}).status_code) == (401, 401)
    assert Api(make_token(None)).get(PATH).status_code == 422
    assert Api(make_token(ann, "write:blocks")).get(PATH).status_code == 403
    assert Api(make_token(ann, "follow")).post(PATH, {"domain": "x.example"}).status_code == 200
