"""Helpers for staff actions on accounts through the API."""

from typing import Any

from accounts.models import Account
from accounts.services.following import FollowChange, follow_account
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api


def owner() -> Api:
    """Create an owner of the server, and return their client."""
    return Api(make_token(make_user("boss", role="Owner"), "admin:read admin:write"))


def act(api: Api, account: Account, kind: str, **more: Any) -> Any:
    return api.post(f"/api/v1/admin/accounts/{account.id}/action", {"type": kind, **more})


def follow(follower: Account, target: Account) -> None:
    """Follow an account through the service, which updates counters and publishes an event."""
    follow_account(account=follower, target=target, change=FollowChange())
