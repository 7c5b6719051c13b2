"""Knows the entity "Account" and its extensions (contract, entities)."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django.utils.functional import cached_property

from accounts.models import Account, ActorType, Role, User
from accounts.policies.visibility import default_visibility
from accounts.queries.emojis import EmojiLookup, account_texts
from accounts.serializers.emoji import emoji_entities, file_url
from social.api.serializers import EntitySerializer
from social.kernel import clock


def role_entity(role: Role) -> dict[str, Any]:
    """The entity "Role"."""
    return {
        "id": str(role.id),
        "name": role.name,
        "permissions": str(role.permissions),
        "color": role.color,
        "highlighted": role.highlighted,
        "collection_limit": role.collection_limit,
    }


def _role_badges(account: Account) -> list[dict[str, Any]]:
    user: User | None = getattr(account, "user", None)
    if user is None or account.suspended or not user.role.highlighted:
        return []
    return [{"id": str(user.role.id), "name": user.role.name, "color": user.role.color}]


def _prefers_noindex(account: Account) -> bool:
    # About search engines and the profile; `indexable` is about posts and the search of servers.
    user: User | None = getattr(account, "user", None)
    return user is not None and bool(user.preferences.get("noindex"))


def shown_fields(account: Account) -> list[dict[str, Any]]:
    """The entities "Field", values as HTML."""
    return [
        {"name": item["name"], "value": item["html"], "verified_at": item.get("verified_at")} for item in account.fields
    ]


def source_fields(account: Account) -> list[dict[str, Any]]:
    """The same, values as they were typed."""
    return [
        {"name": item["name"], "value": item["value"], "verified_at": item.get("verified_at")}
        for item in account.fields
    ]


def counters(account: Account) -> dict[str, Any]:
    """The part of the entity that changes with every follow and post: never cached."""
    stat = getattr(account, "stat", None)
    last = stat.last_status_at if stat is not None else None
    return {
        "followers_count": max(stat.followers_count, 0) if stat is not None else 0,
        "following_count": max(stat.following_count, 0) if stat is not None else 0,
        "statuses_count": max(stat.statuses_count, 0) if stat is not None else 0,
        "last_status_at": last.date().isoformat() if last is not None else None,
    }


def _picture_urls(account: Account, name: str) -> tuple[str, str]:
    """Where the `avatar` or `header` is, and its first frame if it moves; the default picture if there is none to show."""
    default = f"{name}.png"
    if account.suspended:
        return (file_url("", "", default),) * 2
    remote_url: str = getattr(account, f"{name}_remote_url")
    shown = file_url(getattr(account, name), remote_url, default)
    still: str = getattr(account, f"{name}_static")
    return shown, file_url(still, remote_url, default) if still else shown


def body(account: Account, emojis: EmojiLookup) -> dict[str, Any]:
    """The entity without its counters; needs `user__role` and `moved_to` loaded. A suspended account is blank."""
    shown = not account.suspended
    avatar, avatar_static = _picture_urls(account, "avatar")
    header, header_static = _picture_urls(account, "header")
    featurable = bool(account.discoverable) and shown
    entity: dict[str, Any] = {
        "id": str(account.id),
        "username": account.username,
        "acct": account.acct,
        "display_name": account.display_name if shown else "",
        "locked": account.locked and shown,
        "bot": account.actor_type in (ActorType.SERVICE, ActorType.APPLICATION),
        "discoverable": account.discoverable if shown else False,
        "indexable": account.indexable and shown,
        "group": account.actor_type == ActorType.GROUP,
        "created_at": clock.iso(datetime.combine(account.created_at.date(), time(), account.created_at.tzinfo)),
        "note": account.note_html if shown else "",
        "url": account.page_url,
        "uri": account.uri,
        "avatar": avatar,
        "avatar_static": avatar_static,
        "avatar_description": account.avatar_description if shown else "",
        "header": header,
        "header_static": header_static,
        "header_description": account.header_description if shown else "",
        "hide_collections": account.hide_collections,
        "show_media": account.show_media,
        "show_media_replies": account.show_media_replies,
        "show_featured": account.show_featured,
        "feature_approval": {
            "automatic": ([] if not featurable else ["followers"] if account.locked else ["public"]),
            "manual": [],
            "current_user": "denied",
        },
        "emojis": emoji_entities(emojis.find(account.domain, *account_texts(account))) if shown else [],
        "fields": shown_fields(account) if shown else [],
    }
    if account.local:
        entity["roles"] = _role_badges(account)
        entity["noindex"] = _prefers_noindex(account)
    if account.moved_to is not None:
        entity["moved"] = None if not shown else nested(account.moved_to, emojis)
    if account.suspended:
        entity["suspended"] = True
    if account.limited:
        entity["limited"] = True
    if account.memorial:
        entity["memorial"] = True
    return entity


def nested(account: Account, emojis: EmojiLookup) -> dict[str, Any]:
    """The account somebody moved to: as the entity, and never with a `moved` of its own."""
    bare = Account(**{field.attname: getattr(account, field.attname) for field in Account._meta.concrete_fields})
    bare.moved_to_id = None
    # What was loaded with the account stays loaded: its counters and role.
    bare._state.fields_cache = {
        name: found for name, found in account._state.fields_cache.items() if name in ("stat", "user")
    }
    return body(bare, emojis) | counters(bare)


class AccountSerializer(EntitySerializer):
    """Account. Context: `emojis`, an EmojiLookup over the accounts of the page."""

    @cached_property
    def emojis(self) -> EmojiLookup:
        """The page's emojis."""
        lookup: EmojiLookup = self.context["emojis"]
        return lookup

    def to_representation(self, instance: Account) -> dict[str, Any]:
        """The whole entity."""
        return body(instance, self.emojis) | counters(instance)


class CredentialAccountSerializer(AccountSerializer):
    """CredentialAccount: one's own account. Context also: `user`, `follow_requests_count`."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        """The account, its `source` and its role."""
        user: User = self.context["user"]
        entity = super().to_representation(instance)
        entity["source"] = {
            "privacy": default_visibility(user.default_privacy, locked=instance.locked),
            "sensitive": user.default_sensitive,
            "language": user.default_language,
            "note": instance.note,
            "fields": source_fields(instance),
            "follow_requests_count": self.context["follow_requests_count"],
            "hide_collections": instance.hide_collections,
            "discoverable": instance.discoverable,
            "indexable": instance.indexable,
            "attribution_domains": instance.attribution_domains,
            "quote_policy": user.default_quote_policy,
        }
        entity["role"] = role_entity(user.role)
        return entity
