"""Permission to quote a post, from its author's policy and its visibility, and what a viewer sees of a quote (contract,
entities "QuoteApproval", behaviours sections 7 and 9 "Quotes"; FEP-044f). The policy of a post is stored as a number: the lower
four bits are the groups whose quotes are approved automatically, and the next four bits are the groups whose quotes the author
approves.
"""

from collections.abc import Collection
from enum import IntFlag, StrEnum
from typing import Final

from django.utils.translation import gettext as _

from accounts.policies.relations import Relations
from accounts.policies.visibility import QUOTE_POLICIES, QUOTES_BY_ANYBODY, QUOTES_BY_FOLLOWERS, QUOTES_BY_NOBODY
from social.kernel.errors import Invalid, NotFound
from statuses.models import QuoteState
from statuses.policies.audience import can_see
from statuses.policies.posts import Post
from statuses.policies.visibility import ADDRESSED_VISIBILITIES, OPEN_VISIBILITIES, is_reserved_for_posts


class Group(IntFlag):
    """Groups of accounts that may quote a post; in lower case, the names are the values of the entity. Local posts use the
    first two. `UNSUPPORTED_POLICY` stands for accounts that this server cannot determine.
    """

    PUBLIC = 1
    FOLLOWERS = 2
    FOLLOWING = 4
    UNSUPPORTED_POLICY = 8


NO_GROUP: Final = Group(0)

_MANUAL_SHIFT: Final = 4
_ALL_GROUPS: Final = 15
# Plain integers, because every post of a page is checked, and each operator of an IntFlag takes a microsecond.
_PUBLIC, _FOLLOWERS, _FOLLOWING, _UNSUPPORTED = (group.value for group in Group)
FOLLOWING_BITS: Final = _FOLLOWING | _FOLLOWING << _MANUAL_SHIFT
"""Bits that are set only in policies that depend on which accounts the author follows."""
_POLICY_GROUPS: Final = {QUOTES_BY_ANYBODY: Group.PUBLIC, QUOTES_BY_FOLLOWERS: Group.FOLLOWERS}


class Permission(StrEnum):
    """Expected outcome if the viewer quotes a post: the member `current_user` of the entity."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"
    DENIED = "denied"
    UNKNOWN = "unknown"


def encode_policy(automatic: Group, manual: Group = NO_GROUP) -> int:
    """Return a quote policy as the number that is stored."""
    return int(automatic) | int(manual) << _MANUAL_SHIFT


def word_of_policy(policy: int) -> str:
    """Return the policy of a local post as its author chose it: one of QUOTE_POLICIES."""
    groups = automatic_groups(policy)
    return next((word for word, group in _POLICY_GROUPS.items() if group in groups), QUOTES_BY_NOBODY)


def automatic_groups(policy: int) -> Group:
    """Return the groups whose quotes are approved automatically."""
    return Group(policy & _ALL_GROUPS)


def manual_groups(policy: int) -> Group:
    """Return the groups whose quotes the author approves manually."""
    return Group(policy >> _MANUAL_SHIFT & _ALL_GROUPS)


def group_names(groups: Group) -> list[str]:
    """Return the names of groups as used in the entity QuoteApproval."""
    return [group.name.lower() for group in groups if group.name is not None]


def local_policy(visibility: str, policy: str) -> int:
    """Return the policy of a local post, from one of QUOTE_POLICIES; only public and unlisted posts may be quoted."""
    if visibility not in OPEN_VISIBILITIES:
        return 0
    return encode_policy(_POLICY_GROUPS.get(policy, NO_GROUP))


def choose_policy(requested: str | None, user_default: str) -> str:
    """Return the requested policy, or else the user's default. Raises Invalid for a value that is not a policy."""
    if requested is None:
        return user_default
    if requested not in QUOTE_POLICIES:
        raise Invalid(_("Record invalid"))
    return requested


DELETED: Final = "deleted"
UNAUTHORIZED: Final = "unauthorized"
_BLOCKED_DOMAIN: Final = "blocked_domain"
_BLOCKED_ACCOUNT: Final = "blocked_account"
_MUTED_ACCOUNT: Final = "muted_account"
_SHOWN_STATES: Final = frozenset({QuoteState.ACCEPTED, _BLOCKED_DOMAIN, _BLOCKED_ACCOUNT, _MUTED_ACCOUNT})


def shown_state(post: Post, viewer_id: int | None, relations: Relations) -> str:
    """Return a quote's state as the viewer, with these relations to the quoted author, sees it (contract, entities "Quote")."""
    quoted = post.quoted
    if post.quote_state != QuoteState.ACCEPTED:
        return post.quote_state or QuoteState.PENDING
    if quoted is None or quoted.is_deleted:
        return DELETED
    if not can_see(quoted, viewer_id, relations, quoted.addressed_ids):
        return UNAUTHORIZED
    author_id = quoted.account_id
    if author_id in relations.domain_blocking:
        return _BLOCKED_DOMAIN
    if author_id in relations.blocking:
        return _BLOCKED_ACCOUNT
    return _MUTED_ACCOUNT if author_id in relations.muting else QuoteState.ACCEPTED.value


def shows_quoted(post: Post, viewer_id: int | None, relations: Relations, *, whatever_state: bool = False) -> bool:
    """Tell whether the viewer gets the quoted post (or its id) in the quote; otherwise the viewer gets null. With
    `whatever_state`, the quote need not be accepted if the viewer may read the quoted post. `whatever_state` is set when
    authors read the source of their post.
    """
    if post.quoted is None:
        return False
    if whatever_state and post.quote_state != QuoteState.ACCEPTED:
        return can_see(post.quoted, viewer_id, relations, post.quoted.addressed_ids)
    return shown_state(post, viewer_id, relations) in _SHOWN_STATES


def missing_quoted() -> NotFound:
    """Return the error for quoting a post that the author may not read or quote, or that was deleted."""
    return NotFound(_("The post you are trying to quote does not appear to exist."))


def check_addressing(visibility: str, quoted_author_id: int | None, addressed: Collection[int]) -> None:
    """Raise Invalid if a post that only the `addressed` accounts (including the author) may read quotes any other account."""
    if visibility in ADDRESSED_VISIBILITIES and quoted_author_id not in addressed:
        raise Invalid.sentence(_("Cannot quote a non-mentioned user in a Private Mention post."))


def permission(post: Post, viewer_id: int | None, relations: Relations) -> Permission:
    """Return the expected outcome if the viewer quotes this post, which they may read. `relations` are the viewer's relations
    to the author, needed only if `depends_on_relations`. Authors may quote their own posts, except direct posts.
    """
    if viewer_id is None or is_reserved_for_posts(post.visibility):
        return Permission.DENIED
    if post.account_id == viewer_id:
        return Permission.AUTOMATIC
    if post.visibility in ADDRESSED_VISIBILITIES:
        return Permission.DENIED
    automatic, manual = post.quote_policy & _ALL_GROUPS, post.quote_policy >> _MANUAL_SHIFT & _ALL_GROUPS
    if _includes(automatic, post.account_id, relations):
        return Permission.AUTOMATIC
    if _includes(manual, post.account_id, relations):
        return Permission.MANUAL
    if (automatic | manual) & _UNSUPPORTED:
        return Permission.UNKNOWN
    return Permission.DENIED


def depends_on_relations(policy: int) -> bool:
    """Tell whether the policy depends on the relations between viewer and author."""
    return bool((policy | policy >> _MANUAL_SHIFT) & (_FOLLOWERS | _FOLLOWING)) and not policy & _PUBLIC


def _includes(groups: int, author_id: int, relations: Relations) -> bool:
    return bool(
        groups & _PUBLIC
        or (groups & _FOLLOWERS and author_id in relations.following)
        or (groups & _FOLLOWING and author_id in relations.followed_by)
    )
