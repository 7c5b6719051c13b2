"""The CustomEmoji and Account entities; the body of an account may be cached, but not its counters (contract, entities)."""

import copy
from collections.abc import Iterable
from datetime import datetime, time
from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.functional import cached_property

from accounts.copies.policies import proxied_url
from accounts.emojis.models import CustomEmoji
from accounts.emojis.queries import EmojiLookup, account_texts
from accounts.models import Account, ActorType, Role, User
from accounts.policies.featuring import Audience, featuring_audience, is_approved
from accounts.policies.relations import Relations
from accounts.policies.visibility import default_visibility
from accounts.queries.accounts import CountedAccounts, Counters, load_counted_accounts
from social.api.serializers import EntitySerializer
from social.kernel import clock, fragments, links
from social.kernel.http.addresses import as_uri
from social.kernel.media import storage


def file_url(path: str, remote_url: str, default: str) -> str:
    """Return the absolute address of a picture: the stored copy, or else the remote picture, or else the default picture."""
    if path:
        return storage.url(path)
    return remote_url or links.web_url(f"{settings.STATIC_URL}{default}")


def emoji_urls(emoji: CustomEmoji) -> tuple[str, str]:
    """Return the addresses of an emoji's picture and of a still version of it; pictures from other servers are proxied."""
    if emoji.domain is not None:
        proxied = f"media_proxy/emojis/{emoji.id}"
        original, still = f"{proxied}/original", f"{proxied}/static"
        return proxied_url(original, emoji.remote_url), proxied_url(still, emoji.remote_url)
    shown = file_url(emoji.image, emoji.remote_url, "")
    return shown, file_url(emoji.static_image, shown, "")


class CustomEmojiSerializer(EntitySerializer):
    """CustomEmoji as contained in other entities."""

    def to_representation(self, instance: CustomEmoji) -> dict[str, Any]:
        url, static_url = emoji_urls(instance)
        return {
            "shortcode": instance.shortcode,
            "url": url,
            "static_url": static_url,
            "visible_in_picker": instance.visible_in_picker,
        }


class PickerEmojiSerializer(CustomEmojiSerializer):
    """CustomEmoji as listed by `GET /api/v1/custom_emojis`: with its category, if it has one."""

    def to_representation(self, instance: CustomEmoji) -> dict[str, Any]:
        entity = super().to_representation(instance)
        if instance.category:
            entity["category"] = instance.category
        return entity


class RoleSerializer(EntitySerializer):
    def to_representation(self, instance: Role) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "name": instance.name,
            "permissions": str(instance.granted),
            "color": instance.color,
            "highlighted": instance.highlighted,
            "collection_limit": instance.collection_limit,
            "media_limit": instance.media_megabytes * 1_000_000,
            "daily_posts_limit": instance.posts_per_day,
        }


class FieldSerializer(EntitySerializer):
    """Field: a row of the table on a profile, with its value as HTML; `Account.fields` stores these rows."""

    shown = "html"

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": instance["name"],
            "value": instance[self.shown],
            "verified_at": instance.get("verified_at"),
        }


class SourceFieldSerializer(FieldSerializer):
    """Field with its value as it was typed."""

    shown = "value"


def _role_badges(account: Account) -> list[dict[str, Any]]:
    user: User | None = getattr(account, "user", None)
    if user is None or account.suspended or not user.role.highlighted:
        return []
    return [{"id": str(user.role.id), "name": user.role.name, "color": user.role.color}]


def _prefers_noindex(account: Account) -> bool:
    # `noindex` tells search engines not to index the profile; `indexable` tells servers whether posts may be found by search.
    user: User | None = getattr(account, "user", None)
    return user is not None and bool(user.preferences.get("noindex"))


def _shows_application(account: Account) -> bool:
    user: User | None = getattr(account, "user", None)
    return user is None or user.preferences.get("show_application") is not False


class Counted(Protocol):
    """An account's counters, as loaded for the accounts of a page; `last_status_on` is a day ("2026-01-31")."""

    followers_count: int
    following_count: int
    statuses_count: int
    last_status_on: str | None


def shown_counters(counted: Counted) -> dict[str, Any]:
    """Return the members of the entity that change with every follow and post, and are therefore never cached."""
    return {
        "followers_count": counted.followers_count,
        "following_count": counted.following_count,
        "statuses_count": counted.statuses_count,
        "last_status_at": counted.last_status_on,
    }


def counters(account: Account) -> dict[str, Any]:
    """Return the same as `shown_counters` for an account with its counters loaded."""
    stat = getattr(account, "stat", None)
    if stat is None:
        return shown_counters(Counters(0, 0, 0, None))
    followers, following, statuses = (
        max(getattr(stat, f"{name}_count"), getattr(stat, f"{name}_total") or 0, 0)  # as SHOWN_COUNTS
        for name in ("followers", "following", "statuses")
    )
    last = stat.last_status_at
    return shown_counters(Counters(followers, following, statuses, last.date().isoformat() if last else None))


def _is_bot(account: Account) -> bool:
    return account.actor_type in (ActorType.SERVICE, ActorType.APPLICATION)


def picture_urls(account: Account, name: str) -> tuple[str, str]:
    """Return the addresses of the `avatar` or `header` and of a still version, or of the default picture."""
    default = f"{name}s/original/missing.png"
    if account.suspended:
        return (file_url("", "", default),) * 2
    remote_url: str = getattr(account, f"{name}_remote_url")
    path: str = getattr(account, name)
    if remote_url and not path:
        proxied = f"media_proxy/accounts/{account.id}/{name}"
        return proxied_url(proxied, remote_url), proxied_url(f"{proxied}_static", remote_url)
    shown = file_url(path, "", default)
    still: str = getattr(account, f"{name}_static")
    return shown, file_url(still, "", default) if still else shown


def feature_approval(audience: Audience, account_id: int, relations: Relations) -> dict[str, Any]:
    """Return the member `feature_approval`, as the viewer of `relations` sees it; it is never cached with the account. The
    dict is shared and must not be changed.
    """
    return _feature_approval(audience, is_approved(audience, account_id, relations))


@cache
def _feature_approval(audience: Audience, approved: bool) -> dict[str, Any]:
    otherwise = {Audience.ASKED: "manual", Audience.MISSING: "missing"}.get(audience, "denied")
    return {
        "feature_approval": {
            "automatic": [audience] if audience in (Audience.PUBLIC, Audience.FOLLOWERS) else [],
            "manual": [Audience.PUBLIC] if audience is Audience.ASKED else [],
            "current_user": "automatic" if approved else otherwise,
        }
    }


def _entity(account: Account, emojis: EmojiLookup, relations: Relations) -> dict[str, Any]:
    return completed(cacheable(account, emojis, relations), account.id, counters(account), relations)


def cacheable(account: Account, emojis: EmojiLookup, relations: Relations) -> dict[str, Any]:
    """Return the cacheable parts of an account's entity: its body, and the values that determine other members.

    Do not cache the body of an account that has moved, because it contains the new account as the viewer of `relations` sees
    it.
    """
    return {
        "body": body(account, emojis, relations),
        "audience": featuring_audience(account),
        "shows_application": _shows_application(account),
    }


def completed(cached: dict[str, Any], account_id: int, counted: dict[str, Any], relations: Relations) -> dict[str, Any]:
    """Return the entity from its `cacheable` parts and its `shown_counters`, as the viewer of `relations` sees it."""
    approval = feature_approval(Audience(cached["audience"]), account_id, relations)
    return {**cached["body"], **approval, **counted}


def body(account: Account, emojis: EmojiLookup, relations: Relations) -> dict[str, Any]:
    """Return the entity without counters or approval, blank if the account is suspended.

    `user__role` and `moved_to` must be loaded.

    The body is the same for every viewer, except `moved`, which is what the viewer of `relations` sees.
    """
    shown = not account.suspended
    avatar, avatar_static = picture_urls(account, "avatar")
    header, header_static = picture_urls(account, "header")
    found: dict[str, Any] = {
        "id": str(account.id),
        "username": account.username,
        "acct": account.acct,
        "display_name": account.display_name if shown else "",
        "locked": account.locked and shown,
        "bot": _is_bot(account),
        "discoverable": account.discoverable if shown else False,
        "indexable": account.indexable and shown,
        "group": account.actor_type == ActorType.GROUP,
        "created_at": clock.iso(datetime.combine(account.created_at.date(), time(), account.created_at.tzinfo)),
        "note": account.note_html if shown else "",
        "url": as_uri(account.page_url),
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
        "emojis": CustomEmojiSerializer(emojis.find(account.domain, *account_texts(account)), many=True).data
        if shown
        else [],
        "fields": FieldSerializer(account.fields, many=True).data if shown else [],
    }
    if account.local:
        found["roles"] = _role_badges(account)
        found["noindex"] = _prefers_noindex(account)
    if account.moved_to is not None:
        found["moved"] = None if not shown else nested(account.moved_to, emojis, relations)
    if account.suspended:
        found["suspended"] = True
    if account.limited:
        found["limited"] = True
    if account.memorial:
        found["memorial"] = True
    return found


def nested(account: Account, emojis: EmojiLookup, relations: Relations) -> dict[str, Any]:
    """Return the entity of an account to which another account has moved.

    It has no member `moved`, even if this account has itself moved.
    """
    bare = copy.copy(account)  # the copy keeps the loaded counters and role
    bare.moved_to = None
    return _entity(bare, emojis, relations)


class AccountSerializer(EntitySerializer):
    """Account. Context: `emojis`, an EmojiLookup over the accounts of the page; `relations` from `load_featuring`."""

    @cached_property
    def emojis(self) -> EmojiLookup:
        lookup: EmojiLookup = self.context["emojis"]
        return lookup

    def to_representation(self, instance: Account) -> dict[str, Any]:
        return _entity(instance, self.emojis, self.context["relations"])


class PartialAccountSerializer(EntitySerializer):
    """PartialAccount: the part of an account that a small avatar needs."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        avatar, avatar_static = picture_urls(instance, "avatar")
        return {
            "id": str(instance.id),
            "acct": instance.acct,
            "locked": instance.locked,
            "bot": _is_bot(instance),
            "url": as_uri(instance.page_url),
            "avatar": avatar,
            "avatar_static": avatar_static,
            "avatar_description": instance.avatar_description,
        }


class CredentialAccountSerializer(AccountSerializer):
    """CredentialAccount: the user's own account. Further context: `user`, `follow_requests_count`."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        """Return the account, its `source` and its role."""
        user: User = self.context["user"]
        found = super().to_representation(instance)
        found["source"] = {
            "privacy": default_visibility(user.default_privacy, locked=instance.locked),
            "sensitive": user.default_sensitive,
            "language": user.default_language,
            "note": instance.note,
            "fields": SourceFieldSerializer(instance.fields, many=True).data,
            "follow_requests_count": self.context["follow_requests_count"],
            "hide_collections": instance.hide_collections,
            "discoverable": instance.discoverable,
            "indexable": instance.indexable,
            "attribution_domains": instance.attribution_domains,
            "quote_policy": user.default_quote_policy,
        }
        found["role"] = RoleSerializer(user.role).data
        return found


class CountedAccountsSerializer(EntitySerializer):
    """The Account entities of CountedAccounts, by id. `fresh` holds the new bodies that may be cached."""

    def to_representation(self, instance: CountedAccounts) -> dict[int, dict[str, Any]]:
        """Return the entities, without accounts that were deleted while they were loaded."""
        self.fresh: dict[str, Any] = {}
        cached = dict(instance.found)
        for number, account in instance.missing.items():
            key = instance.counted[number].fragment_key
            cached[key] = cacheable(account, instance.emojis, instance.relations)
            if account.moved_to_id is None:
                self.fresh[key] = cached[key]
        return {
            number: completed(cached[counted.fragment_key], number, shown_counters(counted.stat), instance.relations)
            for number, counted in instance.counted.items()
            if counted.fragment_key in cached
        }


def present_counted_accounts(accounts: CountedAccounts) -> dict[int, dict[str, Any]]:
    """Return the entities by id; new bodies are cached for the next page."""
    serializer = CountedAccountsSerializer(accounts)
    entities: dict[int, dict[str, Any]] = serializer.data
    fragments.save(serializer.fresh)
    return entities


def present_accounts(account_ids: Iterable[int], viewer_id: int | None) -> dict[int, dict[str, Any]]:
    """Return the entities of these accounts by id, in the given order, without duplicates; unknown ids are left out."""
    wanted = list(dict.fromkeys(account_ids))
    found = present_counted_accounts(load_counted_accounts(wanted, viewer_id))
    return {number: found[number] for number in wanted if number in found}
