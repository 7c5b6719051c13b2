"""The entity "InteractionPolicy" of GoToSocial: who may favourite, reply to, boost and quote a post (docs/adr/0044)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from accounts.models import User
from accounts.policies.relations import Relations
from social.api.serializers import EntitySerializer
from statuses.models import Interaction
from statuses.policies.interactions import Group, default_policy, groups_of, permission, words_of
from statuses.policies.posts import Post
from statuses.policies.quotes import Group as QuoteGroup
from statuses.policies.quotes import Permission, automatic_groups, local_policy, manual_groups
from statuses.policies.visibility import CHOICES, is_for_anybody, is_for_followers_only, shown_visibility

_MEMBERS: Final = {
    Interaction.FAVOURITE: "can_favourite",
    Interaction.REPLY: "can_reply",
    Interaction.REBLOG: "can_reblog",
}
_AUTHOR, _MENTIONED, _ME = "author", "mentioned", "me"
_QUOTE_WORDS: Final = {
    QuoteGroup.PUBLIC: Group.PUBLIC,
    QuoteGroup.FOLLOWERS: Group.FOLLOWERS,
    QuoteGroup.FOLLOWING: Group.FOLLOWING,
}
_SHOWN_POLICIES: Final = 4096


@dataclass(frozen=True)
class ShownPolicy:
    """A post's policy for a viewer. `relations` are the viewer's relations, and `quoting` is the expected outcome if the viewer
    quotes the post.
    """

    post: Post
    viewer_id: int | None
    relations: Relations
    quoting: Permission

    @property
    def expected(self) -> tuple[Permission, ...]:
        """Expected outcome of each kind of interaction by the viewer; empty for an anonymous viewer."""
        if self.viewer_id is None:
            return ()
        if not self.post.interaction_policy:
            return (Permission.AUTOMATIC,) * len(Interaction)
        return tuple(permission(self.post, kind, self.viewer_id, self.relations) for kind in Interaction)

    @property
    def may_boost(self) -> bool:
        """Tell whether the viewer may boost a post of this visibility, ignoring its policy."""
        own = self.post.account_id == self.viewer_id
        visibility = self.post.visibility
        return is_for_anybody(visibility) or (is_for_followers_only(visibility) and own)


class InteractionPolicySerializer(EntitySerializer):
    """InteractionPolicy. The value "me" is in the list of the groups that may interact at once, or of those that need
    approval, if this applies to the viewer. Posts with equal policies share one dict, which must not be changed.
    """

    def to_representation(self, instance: ShownPolicy) -> dict[str, Any]:
        post = instance.post
        return _entity(
            post.interaction_policy,
            post.quote_policy,
            post.visibility,
            instance.expected,
            instance.may_boost,
            instance.quoting,
        )


class DefaultPoliciesSerializer(EntitySerializer):
    """DefaultPolicies: the policies for new posts of a user, by visibility."""

    def to_representation(self, instance: User) -> dict[str, Any]:
        return {
            visibility.value: _entity(
                default_policy(instance.preferences, visibility),
                local_policy(visibility, instance.default_quote_policy),
                visibility,
                (),
                False,
                None,
            )
            for visibility in CHOICES
            if shown_visibility(visibility) == visibility
        }


@lru_cache(_SHOWN_POLICIES)
def _entity(
    policy: int,
    quote_policy: int,
    visibility: str,
    expected: tuple[Permission, ...],
    may_boost: bool,
    quoting: Permission | None,
) -> dict[str, Any]:
    entity = {}
    for place, (kind, member) in enumerate(_MEMBERS.items()):
        outcome = expected[place] if expected else None
        if kind is Interaction.REBLOG and not may_boost:
            outcome = None
        entity[member] = _rule(*_words(policy, kind, visibility), outcome)
    automatic, manual = (_quoters(groups) for groups in (automatic_groups(quote_policy), manual_groups(quote_policy)))
    entity["can_quote"] = _rule([_AUTHOR, *automatic] if "public" not in automatic else automatic, manual, quoting)
    return entity


def _words(policy: int, kind: Interaction, visibility: str) -> tuple[list[str], list[str]]:
    limited = groups_of(policy, kind)
    if limited is not None:
        implied = [_AUTHOR, _MENTIONED] if kind is Interaction.REPLY else [_AUTHOR]
        automatic, manual = limited
        return [*implied, *words_of(automatic)], [*words_of(manual & ~Group.OTHERS)]
    # If the author has not limited it: everyone who may read the post, or may boost it.
    if is_for_anybody(visibility):
        return ["public"], []
    if kind is Interaction.REBLOG:
        return [_AUTHOR], []
    return [_AUTHOR, "followers", _MENTIONED] if is_for_followers_only(visibility) else [_AUTHOR, _MENTIONED], []


def _quoters(groups: QuoteGroup) -> list[str]:
    return [word for group, same in _QUOTE_WORDS.items() if group in groups for word in words_of(same)]


def _rule(automatic: list[str], manual: list[str], outcome: Permission | None) -> dict[str, Any]:
    automatic = [*automatic, _ME] if outcome is Permission.AUTOMATIC else automatic
    manual = [*manual, _ME] if outcome is Permission.MANUAL else manual
    # The first two members have the older names, with the same values.
    return {
        "always": automatic,
        "with_approval": manual,
        "automatic_approval": automatic,
        "manual_approval": manual,
    }
