"""What staff do to accounts, by the interface, and whom it is done to."""

from __future__ import annotations

from typing import Any

from accounts.models import Account
from accounts.services.following import FollowChange, follow_account
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api


def owner() -> Api:
    """The client of an owner of the server."""
    return Api(make_token(make_user("boss", role="Owner"), "admin:read admin:write"))


def act(api: Api, account: Account, kind: str, **more: Any) -> Any:
    """Act on an account."""
    return api.post(f"/api/v1/admin/accounts/{account.id}/action", {"type": kind, **more})


def follow(follower: Account, target: Account) -> None:
    """Follow, counted and announced."""
    follow_account(account=follower, target=target, change=FollowChange())
