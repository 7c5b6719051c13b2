"""Makes and reads links with which people can sign in who cannot sign in otherwise; operators make them."""

from __future__ import annotations

from typing import Final

from django.core import signing
from django.urls import reverse

from accounts.models import User
from social.kernel import links

VALID_SECONDS: Final = 900
_SALT: Final = "accounts.identity.recovery"


def recovery_url(user: User) -> str:
    """Return a link with which the user can sign in within VALID_SECONDS, until their next sign-in."""
    return links.web_url(reverse("recover", args=[signing.dumps([user.pk, _last_login(user)], salt=_SALT)]))


def find_recovering(token: str) -> User | None:
    """Return the user of a link, by its last part; None if it is forged, too old or used."""
    try:
        number, last_login = signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
    except signing.BadSignature:
        return None
    user = User.objects.select_related("account", "role").filter(pk=number).first()
    return user if user is not None and _last_login(user) == last_login else None


def _last_login(user: User) -> str:
    return user.last_login.isoformat() if user.last_login is not None else ""
