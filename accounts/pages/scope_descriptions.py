"""What each scope allows, in words for the person who is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from social.api import scopes as tree

Kind = Literal["see", "change", "staff"]


@dataclass(frozen=True, slots=True)
class Permission:
    """One line of the consent page: what is allowed, and the scope as developers write it."""

    words: str | Promise
    scope: str


@dataclass(frozen=True, slots=True)
class Group:
    """Permissions of one kind under its heading."""

    kind: Kind
    title: str | Promise
    permissions: list[Permission]


_TITLES: dict[Kind, str | Promise] = {
    "see": _("It can see"),
    "change": _("It can change"),
    "staff": _("It can moderate"),
}
_WORDS: dict[str, str | Promise] = {
    "read": _("See everything in your account: posts, private mentions, notifications, lists, filters and settings"),
    "read:accounts": _("See your profile and other people's"),
    "read:blocks": _("See whom you block"),
    "read:bookmarks": _("See your bookmarks"),
    "read:collections": _("See your collections"),
    "read:favourites": _("See your favourites"),
    "read:filters": _("See your filters"),
    "read:follows": _("See whom you follow and who follows you"),
    "read:lists": _("See your lists"),
    "read:mutes": _("See whom you mute"),
    "read:notifications": _("See your notifications"),
    "read:search": _("Search in your name"),
    "read:statuses": _("See all posts you can see, private mentions too"),
    "write": _("Act in your name in everything: post, delete, follow, block, report, and change your profile"),
    "write:accounts": _("Change your profile"),
    "write:blocks": _("Block and unblock people and servers"),
    "write:bookmarks": _("Set and remove bookmarks"),
    "write:collections": _("Make and change collections"),
    "write:conversations": _("Mark conversations as read and remove them"),
    "write:favourites": _("Set and remove favourites"),
    "write:filters": _("Make and change filters"),
    "write:follows": _("Follow and unfollow people"),
    "write:lists": _("Make and change lists"),
    "write:media": _("Upload pictures, videos and sounds"),
    "write:mutes": _("Mute and unmute people and conversations"),
    "write:notifications": _("Clear your notifications"),
    "write:reports": _("Report people to the moderators"),
    "write:statuses": _("Write, edit and delete posts"),
    "follow": _("Follow, mute and block people, and see whom you follow, mute and block"),
    "push": _("Send you push notifications"),
    "profile": _("See who you are: your name, address and picture"),
    "crypto": _("Use your end-to-end encryption keys"),
    "admin:read": _("See all data that moderators see"),
    "admin:write": _("Do everything that moderators can do"),
    "admin:read:accounts": _("See what moderators see about accounts"),
    "admin:read:reports": _("See reports and what was reported"),
    "admin:read:domain_allows": _("See all servers that are let in"),
    "admin:read:domain_blocks": _("See all servers that are blocked"),
    "admin:read:ip_blocks": _("See all network addresses that are blocked"),
    "admin:read:email_domain_blocks": _("See all mail providers that are blocked"),
    "admin:read:canonical_email_blocks": _("See all mail addresses that are blocked"),
    "admin:write:accounts": _("Moderate accounts"),
    "admin:write:reports": _("Deal with reports"),
    "admin:write:domain_allows": _("Let servers in"),
    "admin:write:domain_blocks": _("Block servers"),
    "admin:write:ip_blocks": _("Block network addresses"),
    "admin:write:email_domain_blocks": _("Block mail providers"),
    "admin:write:canonical_email_blocks": _("Block mail addresses"),
}


def _kind(scope: str) -> Kind:
    if scope.startswith("admin:"):
        return "staff"
    return "change" if scope.startswith("write") or scope in ("follow", "crypto") else "see"


def permission_groups(scopes: Sequence[str]) -> list[Group]:
    """What these scopes allow: what can be seen, what can be changed, and what is the staff's, each if there is any.

    Within a group in the order of the tree; a child whose parent is asked for as well adds nothing.
    """
    asked = frozenset(scopes)
    shown = [scope for scope in tree.SCOPES if scope in asked and not (tree.sufficient_scopes(scope) - {scope}) & asked]
    groups = [
        Group(kind, title, [Permission(_WORDS[scope], scope) for scope in shown if _kind(scope) == kind])
        for kind, title in _TITLES.items()
    ]
    return [group for group in groups if group.permissions]
