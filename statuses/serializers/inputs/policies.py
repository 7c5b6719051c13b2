"""Parameters of policies about who may favourite, reply to, boost and quote a post, as in GoToSocial (docs/adr/0044)."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Final

from django.utils.translation import gettext as _

from accounts.policies.visibility import QUOTE_POLICIES, QUOTES_BY_NOBODY
from social.api.fields import ClientString, ObjectField, StringListField, as_list
from social.api.inputs import Form
from social.kernel.errors import Invalid
from statuses.models import Interaction
from statuses.policies.interactions import GROUPS_BY_WORD, IMPLIED_WORDS, NO_GROUPS, UNLIMITED, Group, encode_rule


class WordsField(StringListField):
    """Names of groups: a list in any form that clients send, or a single name. Raises Invalid for anything else."""

    by_index = True

    def __init__(self) -> None:
        super().__init__(scalar=True, max_items=20)

    def to_internal_value(self, data: Any) -> tuple[str, ...]:
        items = as_list(data, scalar=True, by_index=True)
        if not all(isinstance(item, str) for item in items) or (data and not items):
            raise _unknown_word()
        return super().to_internal_value(data)


class RuleInput(Form):
    """Groups that may interact freely, and groups that need approval, under their older and newer names."""

    always: Annotated[tuple[str, ...], WordsField()] = ()
    automatic_approval: Annotated[tuple[str, ...], WordsField()] = ()
    with_approval: Annotated[tuple[str, ...], WordsField()] = ()
    manual_approval: Annotated[tuple[str, ...], WordsField()] = ()

    @property
    def automatic(self) -> tuple[str, ...]:
        return self.always + self.automatic_approval

    @property
    def manual(self) -> tuple[str, ...]:
        return self.with_approval + self.manual_approval


class _StrictObjectField(ObjectField):
    """An object, or an empty value, which is ignored. Raises Invalid otherwise, so that no limit is silently ignored."""

    def __init__(self, child: Any) -> None:
        super().__init__(child, non_empty=True)

    def to_internal_value(self, data: Any) -> Any:
        if data and not isinstance(data, dict):
            raise Invalid.sentence(_("A policy and each of its rules must be an object."))
        return super().to_internal_value(data)


_Rule = Annotated[RuleInput, _StrictObjectField(RuleInput)]


class PolicyInput(Form):
    """Policy of a post. A kind of interaction that is left out gets the rule of the author's default policy."""

    can_favourite: _Rule | None = None
    can_reply: _Rule | None = None
    can_reblog: _Rule | None = None
    can_quote: _Rule | None = None

    @property
    def rules(self) -> Mapping[str, int]:
        """Rules by kind. Raises Invalid for a word that is not the name of a group."""
        sent = {
            Interaction.FAVOURITE: self.can_favourite,
            Interaction.REPLY: self.can_reply,
            Interaction.REBLOG: self.can_reblog,
        }
        return {
            kind.value: encode_rule(kind, _groups(rule.automatic), _groups(rule.manual))
            for kind, rule in sent.items()
            if rule is not None
        }

    @property
    def quote_policy(self) -> str | None:
        """Quote policy for `can_quote`; None if `can_quote` is left out. Raises Invalid for a group that a quote policy cannot
        have.
        """
        if self.can_quote is None:
            return None
        groups = _groups(self.can_quote.automatic)
        words = [word for word in QUOTE_POLICIES if GROUPS_BY_WORD.get(word, NO_GROUPS) & groups] or [QUOTES_BY_NOBODY]
        if self.can_quote.manual or groups & ~(Group.PUBLIC | Group.FOLLOWERS):
            raise Invalid.sentence(_("Quoting can be allowed for everybody, for followers only, or for nobody."))
        return words[0]


class PolicyField(_StrictObjectField):
    """A policy, read as rules by kind. The policy's rule about quotes is used unless `quote_approval_policy` is sent."""

    def __init__(self) -> None:
        super().__init__(PolicyInput)

    def to_internal_value(self, data: Any) -> Mapping[str, int]:
        policy: PolicyInput = super().to_internal_value(data)
        return policy.rules


def with_quotes(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters, with the quote policy of `interaction_policy` unless they have a quote policy already."""
    sent = values.get("interaction_policy")
    if not isinstance(sent, dict) or not isinstance(sent.get("can_quote"), dict) or values.get("quote_approval_policy"):
        return values
    policy = PolicyInput.read_mapping(sent).quote_policy
    return values if policy is None else {**values, "quote_approval_policy": policy}


class DefaultPoliciesInput(Form):
    """Policies for new posts by visibility; a visibility that is left out, or null, gets this server's initial rules."""

    public: Annotated[PolicyInput, ObjectField(PolicyInput)] | None = None
    unlisted: Annotated[PolicyInput, ObjectField(PolicyInput)] | None = None
    private: Annotated[PolicyInput, ObjectField(PolicyInput)] | None = None
    direct: Annotated[PolicyInput, ObjectField(PolicyInput)] | None = None

    @property
    def policies(self) -> Mapping[str, int]:
        """Policies that differ from the default, by visibility. Raises Invalid for a word that is not the name of a group."""
        sent: dict[str, PolicyInput | None] = {each.name: getattr(self, each.name) for each in fields(self)}
        found = {name: sum(policy.rules.values()) for name, policy in sent.items() if policy is not None}
        return {name: policy for name, policy in found.items() if policy != UNLIMITED}


class RequestsInput(Form):
    """Filters of interaction requests: the post that they are about, and their kinds."""

    status_id: Annotated[str, ClientString()] = ""
    favourites: bool = True
    replies: bool = True
    reblogs: bool = True

    @property
    def kinds(self) -> list[Interaction]:
        """Kinds of interactions whose requests are listed."""
        listed = {
            Interaction.FAVOURITE: self.favourites,
            Interaction.REPLY: self.replies,
            Interaction.REBLOG: self.reblogs,
        }
        return [kind for kind, is_listed in listed.items() if is_listed]


def _groups(words: Iterable[str]) -> Group:
    groups = NO_GROUPS
    for word in words:
        if word not in GROUPS_BY_WORD and word not in IMPLIED_WORDS:
            raise _unknown_word()
        groups |= GROUPS_BY_WORD.get(word, NO_GROUPS)
    return groups


def _unknown_word() -> Invalid:
    return Invalid.sentence(_("Only these can be named in a policy: %(words)s.") % {"words": _WORDS})


_WORDS: Final = ", ".join([*GROUPS_BY_WORD, *sorted(IMPLIED_WORDS)])
