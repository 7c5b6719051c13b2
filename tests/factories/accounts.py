"""Helpers that create accounts for tests through the services that create real ones."""

import itertools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings

from accounts.identity.policies.sign_up import Findings, SignUpDraft
from accounts.identity.services import signing_up
from accounts.identity.services.signing_up import sign_up
from accounts.models import AccessToken, Account, Application, KeyPair, Role, User
from accounts.queries.users import find_user
from social.kernel import clock, crypto

_number = itertools.count(1)
ALL_SCOPES = "read write follow push"


@lru_cache(maxsize=1)
def rsa_pair() -> tuple[str, str]:
    """Return one key pair for all test accounts, because generating one takes 0.1 s."""
    return crypto.new_rsa_pair()


@contextmanager
def _nobody_in_the_way() -> Iterator[None]:
    """Skip the checks of the username, which take nine queries per user and have their own tests."""
    before = signing_up.load_findings, signing_up.find_registrations
    signing_up.load_findings, signing_up.find_registrations = lambda **_of_whom: Findings(), lambda: "open"
    try:
        yield
    finally:
        signing_up.load_findings, signing_up.find_registrations = before


def make_user(username: str | None = None, *, role: str | None = None, confirmed: bool = True, **account: Any) -> User:
    """Create a local user who has signed up; further keyword arguments are set on the account."""
    name = username or f"person{next(_number)}"
    draft = SignUpDraft(username=name, email=f"{name}@example.com", password="correct horse", agreement=True)
    with _nobody_in_the_way():
        user = sign_up(draft=draft, confirmed=confirmed, approved=True)
    if account:
        Account.objects.filter(id=user.account_id).update(**account)
    if role is not None:
        User.objects.filter(id=user.id).update(role=Role.objects.get(name__iexact=role))
    return find_user(user.id)


def make_account(username: str | None = None, **account: Any) -> Account:
    return make_user(username, **account).account


def make_remote(username: str | None = None, domain: str = "remote.example", **account: Any) -> Account:
    """Create a remote account, as if it had been fetched."""
    name = username or f"stranger{next(_number)}"
    uri = f"https://{domain}/users/{name}"
    values: dict[str, Any] = {
        "username": name,
        "domain": domain,
        "uri": uri,
        "url": f"https://{domain}/@{name}",
        "inbox_url": f"{uri}/inbox",
        "shared_inbox_url": f"https://{domain}/inbox",
        "followers_url": f"{uri}/followers",
        "fetched_at": clock.now(),
    } | account
    made = Account.objects.create(**values)
    KeyPair.objects.create(account=made, key_id=f"{uri}#main-key", public_key=rsa_pair()[1])
    return made


def make_many_remote(number: int) -> list[Account]:
    """Create many remote accounts quickly: only their rows are inserted."""
    rows = (
        Account(
            username=f"m{one}", domain="many.example", uri=f"https://many.example/{one}", url="https://many.example/"
        )
        for one in range(number)
    )
    return Account.objects.bulk_create(rows, batch_size=1000)


def make_application(scopes: str = ALL_SCOPES, **values: Any) -> Application:
    return Application.objects.create(
        name=values.pop("name", "Test client"),
        # django-oauth-toolkit generates these values character by character, which takes longer than storing the row.
        client_id=secrets.token_hex(20),
        client_secret=secrets.token_hex(20),
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris="urn:ietf:wg:oauth:2.0:oob",
        hash_client_secret=False,
        scopes=scopes,
        **values,
    )


def make_token(user: User | None, scopes: str = ALL_SCOPES, application: Application | None = None) -> str:
    """Create a bearer token; without a user it belongs to the application."""
    token = AccessToken.objects.create(
        user=user,
        application=application or make_application(scopes),
        token=f"token-{next(_number)}-{settings.SECRET_KEY[:8]}",
        scope=scopes,
        expires=datetime(2100, 1, 1, tzinfo=clock.now().tzinfo),
    )
    return str(token.token)
