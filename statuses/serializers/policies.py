"""The entity "InteractionPolicy" of GoToSocial: who may favourite, reply to, boost and quote a post (docs/adr/0044)."""

from functools import lru_cache
from typing import Any, Final

from accounts.models import User
from social.api.serializers import EntitySerializer
from statuses.models import Interaction
from statuses.policies.interactions import Group, default_policy, groups_of, permission, words_of
from statuses.policies.posts import Post
from statuses.policies.quotes import Group as QuoteGroup
from statuses.policies.quotes import Permission, automatic_groups, group_names, local_policy, manual_groups
from statuses.policies.quotes import permission as quote_permission
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
_ANY_INTERACTION: Final = (Permission.AUTOMATIC,) * len(Interaction)


class PoliciesSerializer(EntitySerializer):
    """The members `quote_approval` (QuoteApproval) and `interaction_policy` (InteractionPolicy) of a post. The context has
    `viewer_id` and the viewer's `relations`. Posts with equal policies share dicts, which must not be changed.
    """

    def to_representation(self, instance: Post) -> dict[str, Any]:
        viewer_id, relations = self.context["viewer_id"], self.context["relations"]
        if viewer_id is None:
            expected: tuple[Permission, ...] = ()
        elif not instance.interaction_policy:
            expected = _ANY_INTERACTION
        else:
            expected = tuple(permission(instance, kind, viewer_id, relations) for kind in Interaction)
        return _members(
            instance.interaction_policy,
            instance.quote_policy,
            instance.visibility,
            instance.account_id == viewer_id,
            expected,
            quote_permission(instance, viewer_id, relations),
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
def _members(
    policy: int,
    quote_policy: int,
    visibility: str,
    own: bool,
    expected: tuple[Permission, ...],
    quoting: Permission,
) -> dict[str, Any]:
    may_boost = is_for_anybody(visibility) or (is_for_followers_only(visibility) and own)
    return {
        "quote_approval": {
            "automatic": group_names(automatic_groups(quote_policy)),
            "manual": group_names(manual_groups(quote_policy)),
            "current_user": quoting.value,
        },
        "interaction_policy": _entity(policy, quote_policy, visibility, expected, may_boost, quoting),
    }


def _entity(
    policy: int,
    quote_policy: int,
    visibility: str,
    expected: tuple[Permission, ...],
    may_boost: bool,
    quoting: Permission | None,
) -> dict[str, Any]:
    """Return the entity InteractionPolicy, with the word "me" if the viewer belongs to one of the groups."""
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
    # If the author has set no limit, the words stand for all accounts that may read the post or, for boosts, may boost it.
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
