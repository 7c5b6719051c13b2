"""The entity "Preferences" (contract, entities)."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from accounts.models import User
from accounts.policies.visibility import default_visibility
from social.api.serializers import EntitySerializer
from social.kernel.text.languages import choose_language


class PreferencesSerializer(EntitySerializer):
    """Preferences: how a user, with `account` loaded, posts and reads by default."""

    def to_representation(self, instance: User) -> dict[str, Any]:
        """The entity."""
        kept = instance.preferences
        return {
            "posting:default:visibility": default_visibility(instance.default_privacy, locked=instance.account.locked),
            "posting:default:sensitive": instance.default_sensitive,
            "posting:default:language": choose_language(
                instance.default_language, instance.locale, settings.LANGUAGE_CODE
            ),
            "posting:default:quote_policy": instance.default_quote_policy,
            "reading:expand:media": kept.get("expand_media", "default"),
            "reading:expand:spoilers": bool(kept.get("expand_spoilers", False)),
            "reading:autoplay:gifs": bool(kept.get("autoplay_gifs", False)),
        }
