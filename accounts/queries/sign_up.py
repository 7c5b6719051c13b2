"""Reads what stands in the way of a new account."""

from __future__ import annotations

from accounts.models import Account, User


def username_in_use(username: str) -> bool:
    """Whether a local account has the name, in any case of letters."""
    return Account.objects.filter(username__iexact=username, domain=None).exists()


def email_in_use(email: str) -> bool:
    """Whether somebody here has the address, in any case of letters."""
    return User.objects.filter(email__iexact=email).exists()
