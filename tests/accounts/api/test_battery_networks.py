"""Rows for `tests.support.battery`: lists of accounts, and the actions that change them."""

from accounts.models import AccountDomainBlock, AccountStat, Endorsement, FollowRequest
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import block, follow, mute
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def _unknown(callers: Callers) -> dict[str, int]:
    """Return the parameters for an account with an unconfirmed e-mail address, which other users cannot see."""
    return {"id": make_user(confirmed=False).account_id}


def followers(callers: Callers, size: int) -> Scene:
    target = make_account()
    for _number in range(size):
        follow(make_account(), target)
    return Scene(ids={"id": target.id}, foreign=_unknown(callers))


def following(callers: Callers, size: int) -> Scene:
    account = make_account()
    for _number in range(size):
        follow(account, make_account())
    return Scene(ids={"id": account.id}, foreign=_unknown(callers))


def endorsements_of(callers: Callers, size: int) -> Scene:
    account = make_account()
    for _number in range(size):
        Endorsement.objects.create(account=account, target=make_account())
    return Scene(ids={"id": account.id}, foreign=_unknown(callers))


def own_endorsements(callers: Callers, size: int) -> Scene:
    Endorsement.objects.filter(account=callers.account).delete()
    for _number in range(size):
        Endorsement.objects.create(account=callers.account, target=make_account())
    return Scene()


def blocked(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        block(callers.account, make_account())
    return Scene()


def muted(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        mute(callers.account, make_account())
    return Scene()


def requested(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        FollowRequest.objects.create(account=make_account(), target=callers.account)
    return Scene()


def request_of_one(callers: Callers, size: int) -> Scene:
    FollowRequest.objects.create(account=callers.stranger, target=callers.account)
    return Scene(ids={"account_id": callers.stranger.id}, foreign={"account_id": make_account().id})


def familiar(callers: Callers, size: int) -> Scene:
    target = make_account()
    for _number in range(size):
        friend = make_account()
        follow(callers.account, friend)
        follow(friend, target)
    return Scene(params={"id[]": [str(target.id)]})


def followed(callers: Callers, size: int) -> Scene:
    follow(callers.account, callers.stranger)
    return Scene(ids={"id": callers.stranger.id}, foreign=_unknown(callers))


def follower(callers: Callers, size: int) -> Scene:
    follow(callers.stranger, callers.account)
    return Scene(ids={"id": callers.stranger.id}, foreign=_unknown(callers))


def somebody(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": callers.stranger.id}, foreign=_unknown(callers), params={"comment": "met in the park"})


ACCOUNT = "api/v1/accounts/<id>"
REQUEST = "api/v1/follow_requests/<account_id>"


def blocked_servers(callers: Callers, size: int) -> Scene:
    for number in range(size):
        AccountDomainBlock.objects.get_or_create(account=callers.account, domain=f"blocked{number}.example")
    return Scene()


def discoverable_people(callers: Callers, size: int) -> Scene:
    for account in [make_account(discoverable=True) for _number in range(size)]:
        AccountStat.objects.update_or_create(account=account, defaults={"followers_count": 1})
    return Scene()


def a_suggestion(callers: Callers, size: int) -> Scene:
    return Scene(ids={"account_id": callers.stranger.id})


ROWS = [
    Row("GET api/v1/directory", discoverable_people),
    Row("GET api/v1/suggestions", discoverable_people),
    Row("GET api/v2/suggestions", discoverable_people, identify=lambda item: item["account"]["id"]),
    Row("DELETE api/v1/suggestions/<account>", a_suggestion, missing_is=200),
    Row("GET api/v1/domain_blocks", blocked_servers, identify=str),
    Row("GET api/v1/domain_blocks/preview", lambda callers, size: Scene(params={"domain": "new.example"})),
    Row("POST api/v1/domain_blocks", lambda callers, size: Scene(params={"domain": "new.example"})),
    Row("DELETE api/v1/domain_blocks", lambda callers, size: Scene(params={"domain": "new.example"})),
    Row("GET api/v1/preferences", lambda callers, size: Scene()),
    Row(f"GET {ACCOUNT}/identity_proofs", somebody),
    Row(f"GET {ACCOUNT}/followers", followers),
    Row(f"GET {ACCOUNT}/following", following),
    Row(f"GET {ACCOUNT}/endorsements", endorsements_of),
    Row("GET api/v1/endorsements", own_endorsements),
    Row("GET api/v1/blocks", blocked),
    Row("GET api/v1/mutes", muted),
    Row("GET api/v1/follow_requests", requested),
    Row(f"POST {REQUEST}/authorize", request_of_one),
    Row(f"POST {REQUEST}/reject", request_of_one),
    Row("GET api/v1/accounts/familiar_followers", familiar),
    Row(f"POST {ACCOUNT}/endorse", followed),
    Row(f"POST {ACCOUNT}/unendorse", followed),
    Row(f"POST {ACCOUNT}/pin", followed),
    Row(f"POST {ACCOUNT}/unpin", followed),
    Row(f"POST {ACCOUNT}/note", somebody),
    Row(f"POST {ACCOUNT}/remove_from_followers", follower),
]
test_promises = battery(ROWS)
