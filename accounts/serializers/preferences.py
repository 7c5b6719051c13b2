"""Knows the entity "Preferences" (contract, entities)."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from accounts.models import User
from accounts.policies.visibility import default_visibility
from social.kernel.text.languages import choose_language


def preferences_entity(user: User) -> dict[str, Any]:
    """How the user posts and reads by default."""
    kept = user.preferences
    return {
        "posting:default:visibility": default_visibility(user.default_privacy, locked=user.account.locked),
        "posting:default:sensitive": user.default_sensitive,
        "posting:default:language": choose_language(user.default_language, user.locale, settings.LANGUAGE_CODE),
        "posting:default:quote_policy": user.default_quote_policy,
        "reading:expand:media": kept.get("expand_media", "default"),
        "reading:expand:spoilers": bool(kept.get("expand_spoilers", False)),
        "reading:autoplay:gifs": bool(kept.get("autoplay_gifs", False)),
    }
