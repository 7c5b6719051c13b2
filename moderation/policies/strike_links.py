"""Links to a strike that work without signing in: whom staff have disabled cannot sign in, and may appeal all the same."""

from __future__ import annotations

from django.core.signing import BadSignature, Signer
from django.urls import reverse

from social.kernel import links

_SIGNER = Signer(salt="moderation.strike")


def strike_link(strike_id: int) -> str:
    """The address of a strike's page with the key that opens it, for the mail to the person concerned."""
    path = reverse("strike", args=[strike_id])
    return links.web_url(f"{path}?key={_key(strike_id)}")


def opens(key: str, strike_id: int) -> bool:
    """Whether this is the key of the strike."""
    try:
        return _SIGNER.unsign(f"{strike_id}:{key}") == str(strike_id)
    except BadSignature:
        return False


def _key(strike_id: int) -> str:
    return _SIGNER.signature(str(strike_id))
