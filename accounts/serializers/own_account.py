"""Entities of the user's own account: "CredentialAccount", "Profile" and "Preferences" (contract, entities).

A process caches the entity with the versions of its rows; while the versions are unchanged, only the rows' state is read.
"""

from typing import Any, Final

from accounts.emojis.queries import EmojiLookup, account_texts, shortcodes_in
from accounts.models import Account, ActorType, User
from accounts.policies.relations import Relations
from accounts.policies.visibility import default_visibility
from accounts.queries.accounts import Counters
from accounts.queries.users import OwnState, find_own_state, find_user_with_state
from accounts.serializers.account import (
    CredentialAccountSerializer,
    FieldSerializer,
    SourceFieldSerializer,
    file_url,
    shown_counters,
)
from accounts.serializers.tag import FeaturedTagSerializer
from social.api.serializers import EntitySerializer
from social.kernel.identity import default_language
from social.kernel.text.languages import choose_language


class PreferencesSerializer(EntitySerializer):
    """Preferences: a user's defaults for posting and reading; the user's `account` must be loaded."""

    def to_representation(self, instance: User) -> dict[str, Any]:
        kept = instance.preferences
        return {
            "posting:default:visibility": default_visibility(instance.default_privacy, locked=instance.account.locked),
            "posting:default:sensitive": instance.default_sensitive,
            "posting:default:language": choose_language(instance.default_language, instance.locale, default_language()),
            "posting:default:quote_policy": instance.default_quote_policy,
            "reading:expand:media": kept.get("expand_media", "default"),
            "reading:expand:spoilers": bool(kept.get("expand_spoilers", False)),
            "reading:autoplay:gifs": bool(kept.get("autoplay_gifs", False)),
        }


def _urls(account: Account, name: str) -> dict[str, str | None]:
    shown: str = getattr(account, name)
    still: str = getattr(account, f"{name}_static") or shown
    return {
        name: file_url(shown, "", "") if shown else None,
        f"{name}_static": file_url(still, "", "") if still else None,
        f"{name}_description": getattr(account, f"{name}_description"),
    }


class ProfileSerializer(EntitySerializer):
    """Profile of a local account. Context: `featured_tags`, the hashtags that the account features."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "display_name": instance.display_name,
            "note": instance.note,
            "fields": SourceFieldSerializer(instance.fields, many=True).data,
            "formatted_note": instance.note_html,
            "formatted_fields": FieldSerializer(instance.fields, many=True).data,
            **_urls(instance, "avatar"),
            **_urls(instance, "header"),
            "locked": instance.locked,
            "bot": instance.actor_type in (ActorType.SERVICE, ActorType.APPLICATION),
            "hide_collections": instance.hide_collections,
            "discoverable": instance.discoverable,
            "indexable": instance.indexable,
            "show_media": instance.show_media,
            "show_media_replies": instance.show_media_replies,
            "show_featured": instance.show_featured,
            "attribution_domains": instance.attribution_domains,
            "featured_tags": FeaturedTagSerializer(
                self.context["featured_tags"], many=True, context={"account": instance}
            ).data,
        }


_CACHE_SIZE: Final = 512
_cached: dict[int, tuple[str, dict[str, Any]]] = {}
"""Cached entities by user id, each with the versions of the rows that it contains."""


def _with_counters(entity: dict[str, Any], state: OwnState) -> dict[str, Any]:
    """Return the entity with the counters of a state."""
    last = state.last_status_at
    counters = Counters(
        max(state.followers_count or 0, 0),
        max(state.following_count or 0, 0),
        max(state.statuses_count or 0, 0),
        last.date().isoformat() if last is not None else None,
    )
    source = entity["source"] | {"follow_requests_count": state.follow_requests_count}
    return entity | shown_counters(counters) | {"source": source}


def present_own_account(user_id: int) -> dict[str, Any]:
    """Return the entity CredentialAccount of a user. Takes one query, or two if the account has changed. Raises NotFound."""
    cached = _cached.get(user_id)
    if cached is not None:
        versions, entity = cached
        known = find_own_state(user_id)
        if known is not None and known.versions == versions:
            return _with_counters(entity, known)
    user, state = find_user_with_state(user_id)
    context = {
        "emojis": EmojiLookup.for_accounts([user.account]),
        "relations": Relations(viewer_id=user.account_id),
        "user": user,
        "follow_requests_count": state.follow_requests_count,
    }
    entity = CredentialAccountSerializer(user.account, context=context).data
    if _shows_own_rows_only(user.account):
        if len(_cached) >= _CACHE_SIZE:
            _cached.clear()
        _cached[user_id] = state.versions, entity
    else:
        _cached.pop(user_id, None)
    return _with_counters(entity, state)


def _shows_own_rows_only(account: Account) -> bool:
    """Tell whether the entity may be cached: it shows no custom emoji and no other account, whose change would go unnoticed."""
    return account.moved_to_id is None and not shortcodes_in(*account_texts(account))
