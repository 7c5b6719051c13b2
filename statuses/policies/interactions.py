"""Rules about who may favourite, reply to and boost a post, from its author's policy (docs/adr/0044). Quotes have a separate
policy (`statuses.policies.quotes`); clients and other servers get both.

The policy of a post is stored as a number with ten bits for each kind of interaction: one bit tells whether the author has
limited it, four bits give the groups that need no approval, and five bits the groups that need approval. With 0, the default,
everyone who may read the post may interact with it. Another bit marks a reply that awaits approval.
"""

from collections.abc import Mapping
from enum import IntFlag, StrEnum
from functools import cache
from typing import Any, Final

from accounts.policies.relations import Relations
from statuses.models import Interaction, Status
from statuses.policies.posts import Post
from statuses.policies.quotes import Permission


class Group(IntFlag):
    """Groups of accounts that may interact with a post; in lower case, the names are the values of the client API. `OTHERS`
    stands for individual accounts that a remote policy names. Such accounts are not stored; therefore everybody has to ask the
    author.
    """

    PUBLIC = 1
    FOLLOWERS = 2
    FOLLOWING = 4
    MUTUALS = 8
    OTHERS = 16


NO_GROUPS: Final = Group(0)
GROUPS_BY_WORD: Final = {
    str(group.name).lower(): group for group in (Group.PUBLIC, Group.FOLLOWERS, Group.FOLLOWING, Group.MUTUALS)
}
IMPLIED_WORDS: Final = frozenset({"author", "me", "mentioned"})
"""Words of the client API for accounts that may always interact, whatever the policy says."""

UNLIMITED: Final = 0
PREFERENCE: Final = "interaction_policies"
"""Key in a user's preferences under which the policies for new posts are stored, as numbers by visibility."""
PENDING: Final = 1 << 30
"""Bit of the policy of a reply that awaits approval: only the reply's author and the parent's author can read the reply."""

_BITS: Final = 10
_LIMITED: Final = 1
_AUTOMATIC_SHIFT: Final = 1
_MANUAL_SHIFT: Final = 5
_SHIFTS: Final = {kind: place * _BITS for place, kind in enumerate(Interaction)}
# Plain integers, because every post of a page is checked, and each operator of an IntFlag takes a microsecond.
_PUBLIC, _FOLLOWERS, _FOLLOWING, _MUTUALS, _OTHERS = (group.value for group in Group)

FOLLOWING_BITS: Final = sum(
    (_FOLLOWING | _MUTUALS) << within << shift
    for shift in _SHIFTS.values()
    for within in (_AUTOMATIC_SHIFT, _MANUAL_SHIFT)
)
"""Bits that are set only in policies that depend on which accounts the author follows."""


class Choice(StrEnum):
    """The choices that the pages offer for one kind of interaction."""

    EVERYBODY = "public"
    FOLLOWERS = "followers"
    FOLLOWING = "following"
    MUTUALS = "mutuals"
    ASKED = "asked"
    NOBODY = "nobody"


def encode_rule(kind: Interaction, automatic: Group, manual: Group = NO_GROUPS) -> int:
    """Return the part of a policy about one kind of interaction: 0 (no limit) if `automatic` contains `Group.PUBLIC`."""
    if automatic & Group.PUBLIC:
        return UNLIMITED
    rule = _LIMITED | int(automatic & ~Group.OTHERS) << _AUTOMATIC_SHIFT | int(manual) << _MANUAL_SHIFT
    return rule << _SHIFTS[kind]


def rule_of_choice(kind: Interaction, choice: Choice) -> int:
    """Return the part of a policy that corresponds to a choice on a page."""
    if choice is Choice.ASKED:
        return encode_rule(kind, NO_GROUPS, Group.PUBLIC)
    return encode_rule(kind, GROUPS_BY_WORD.get(choice.value, NO_GROUPS))


def choice_of_rule(policy: int, kind: Interaction) -> Choice | None:
    """Return the choice that corresponds to a policy's rule for one kind of interaction; None if there is no such choice."""
    rule = rule_of(policy, kind)
    return next((choice for choice in Choice if rule_of_choice(kind, choice) == rule), None)


def rule_of(policy: int, kind: Interaction) -> int:
    """Return the part of a policy that is about one kind of interaction; 0 if the author has not limited this kind."""
    shift = _SHIFTS[kind]
    return policy & ((1 << _BITS) - 1) << shift


def is_rule(number: int, kind: Interaction) -> bool:
    """Tell whether a number is a valid part of a policy for this kind of interaction and contains no unknown groups."""
    groups = groups_of(number, kind)
    words = ~Group.OTHERS
    return number == (UNLIMITED if groups is None else encode_rule(kind, groups[0], groups[1] & words))


def groups_of(policy: int, kind: Interaction) -> tuple[Group, Group] | None:
    """Return the groups that may interact freely, and the groups that need approval; None if the author has set no limit."""
    rule = rule_of(policy, kind) >> _SHIFTS[kind]
    if not rule:
        return None
    return Group(rule >> _AUTOMATIC_SHIFT & 15), Group(rule >> _MANUAL_SHIFT & 31)


def is_pending(policy: int) -> bool:
    """Tell whether a post with this policy is a reply that awaits approval."""
    return bool(policy & PENDING)


def permission(post: Post | Status, kind: Interaction, viewer_id: int, relations: Relations) -> Permission:
    """Return whether the viewer, who may read the post, may interact with it freely, may ask for approval, or may do neither.

    `relations` are the viewer's relations to the author, loaded `with_followed_by` if the policy has any of
    FOLLOWING_BITS. Authors may always interact with their own posts. If `post` is a Post, accounts that it mentions or
    replies to may always reply. Nobody may interact with a reply that awaits approval. Members of a group must ask
    before they reply to or boost a remote post, because third servers cannot check who is a member (docs/adr/0044).
    """
    policy = post.interaction_policy
    if not policy:
        return Permission.AUTOMATIC
    if policy & PENDING:
        return Permission.DENIED
    rule = policy >> _SHIFTS[kind] & (1 << _BITS) - 1
    if not rule or post.account_id == viewer_id:
        return Permission.AUTOMATIC
    if kind == Interaction.REPLY and isinstance(post, Post) and _addresses(post, viewer_id):
        return Permission.AUTOMATIC
    if _includes(rule >> _AUTOMATIC_SHIFT & 15, post.account_id, relations):
        return Permission.AUTOMATIC if post.local or kind == Interaction.FAVOURITE else Permission.MANUAL
    manual = rule >> _MANUAL_SHIFT & 31
    if manual & _OTHERS or _includes(manual, post.account_id, relations):
        return Permission.MANUAL
    return Permission.DENIED


def _addresses(post: Post, account_id: int) -> bool:
    return account_id in post.addressed_ids or account_id == post.in_reply_to_account_id


def _includes(groups: int, author_id: int, relations: Relations) -> bool:
    follows, followed = author_id in relations.following, author_id in relations.followed_by
    return bool(
        groups & _PUBLIC
        or (groups & _FOLLOWERS and follows)
        or (groups & _FOLLOWING and followed)
        or (groups & _MUTUALS and follows and followed)
    )


def merged(default: int, chosen: Mapping[str, int] | None) -> int:
    """Return a policy with the `chosen` rules, by kind, and the rules of `default` for the other kinds."""
    rules = {kind: (chosen or {}).get(kind, rule_of(default, kind)) for kind in Interaction}
    return sum(rules.values()) | default & PENDING


def default_policy(preferences: Mapping[str, Any], visibility: str) -> int:
    """Return the policy for new posts of a visibility that a person's `preferences` contain."""
    chosen = preferences.get(PREFERENCE) or {}
    return int(chosen.get(visibility, UNLIMITED))


@cache
def words_of(groups: Group) -> tuple[str, ...]:
    """Return the values of the client API for these groups."""
    return tuple(word for word, group in GROUPS_BY_WORD.items() if group in groups)
