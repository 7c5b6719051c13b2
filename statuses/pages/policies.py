"""Form fields for who may reply to, boost and favourite a post, and the settings page with the defaults for new posts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.pages.forms import ServiceForm
from accounts.pages.settings import Entry, add_entry, signed_in
from accounts.pages.settings_forms import VISIBILITIES
from accounts.services.preferences import PreferencesChange, change_preferences
from social.pages.frame import show
from statuses.models import Interaction
from statuses.policies.interactions import PREFERENCE, Choice, choice_of_rule, default_policy, rule_of_choice
from statuses.policies.interactions import rule_of as part_of

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

_TITLES: Final[dict[Choice, str | Promise]] = {
    Choice.EVERYBODY: gettext_lazy("Everybody who may read it"),
    Choice.FOLLOWERS: gettext_lazy("Your followers"),
    Choice.FOLLOWING: gettext_lazy("People whom you follow"),
    Choice.MUTUALS: gettext_lazy("People whom you follow and who follow you"),
    Choice.ASKED: gettext_lazy("Everybody, after your approval"),
    Choice.NOBODY: gettext_lazy("Only you"),
}
REPLY_WAITS: Final = gettext_lazy(
    "Your reply waits for the approval of the post’s author. Until then, only the two of you can see it."
)
ASKED_FIRST: Final = gettext_lazy("The author of the post is asked first.")
_DEFAULT_TITLE: Final = gettext_lazy("As in your settings")
#: Form fields by the kind of interaction that they are about; the keys are the names in the client API.
POLICY_MEMBERS: Final = {
    "reply_policy": "can_reply",
    "reblog_policy": "can_reblog",
    "favourite_policy": "can_favourite",
}
_KINDS: Final = {
    "reply_policy": Interaction.REPLY,
    "reblog_policy": Interaction.REBLOG,
    "favourite_policy": Interaction.FAVOURITE,
}


def policy_field(
    label: str | _StrPromise, kind: Interaction, blank: str | Promise | None = _DEFAULT_TITLE
) -> forms.ChoiceField:
    """Return the form field for a kind of interaction. `blank` is the label of an additional empty choice, if not None."""
    titles: dict[Choice, str | Promise] = dict(_TITLES)
    if kind is Interaction.REPLY:
        titles[Choice.NOBODY] = gettext_lazy("Only you and people whom it mentions")
    choices: list[tuple[str, str | Promise]] = [(choice.value, title) for choice, title in titles.items()]
    if blank is not None:
        choices.insert(0, ("", blank))
    return forms.ChoiceField(label=label, required=False, choices=choices)


def rule_of(choice: str) -> dict[str, list[str]]:
    """Return the rule that a choice stands for, as a value of the client API."""
    match Choice(choice):
        case Choice.ASKED:
            return {"automatic_approval": [], "manual_approval": ["public"]}
        case Choice.NOBODY:
            return {"automatic_approval": ["author"]}
        case other:
            return {"automatic_approval": [other.value]}


def chosen_rules(rules: Mapping[str, int] | None) -> dict[str, str | None]:
    """Return the choices of a draft by field; None for a kind of interaction about which the draft says nothing."""
    return {
        name: choice_of_rule(rules[kind], kind) if rules is not None and kind in rules else None
        for name, kind in _KINDS.items()
    }


def rules_of_post(policy: int) -> dict[str, str]:
    """Return the choices of a post by field; empty where its rule is none of the choices."""
    return {name: choice_of_rule(policy, kind) or "" for name, kind in _KINDS.items()}


class PoliciesForm(ServiceForm):
    """Form for the policies of new posts, a choice for each visibility and kind of interaction."""

    def __init__(self, preferences: Mapping[str, Any], data: Any = None) -> None:
        policies = {visibility: default_policy(preferences, visibility) for visibility in VISIBILITIES}
        initial = {
            _name(visibility, name): choice_of_rule(policy, kind) or ""
            for visibility, policy in policies.items()
            for name, kind in _KINDS.items()
        }
        super().__init__(data, initial=initial)
        self._kept = policies
        labels = (_("Who may reply to them"), _("Who may boost them"), _("Who may favourite them"))
        for visibility in VISIBILITIES:
            for (name, kind), label in zip(_KINDS.items(), labels, strict=True):
                field = _name(visibility, name)
                # A rule that a client has set, and that is none of the choices, is kept.
                self.fields[field] = policy_field(
                    label, kind, None if initial[field] else _("As set by an application")
                )

    def groups(self) -> list[tuple[str | Promise, list[forms.BoundField]]]:
        """Return the fields of each visibility, with its title."""
        return [
            (title, [self[_name(visibility, name)] for name in _KINDS]) for visibility, title in VISIBILITIES.items()
        ]

    def policies(self) -> dict[str, int]:
        """Return the policies of a valid form, by visibility."""
        return {
            visibility: sum(
                rule_of_choice(kind, Choice(chosen)) if chosen else part_of(self._kept[visibility], kind)
                for name, kind in _KINDS.items()
                for chosen in (self.cleaned_data[_name(visibility, name)],)
            )
            for visibility in VISIBILITIES
        }


def _name(visibility: str, field: str) -> str:
    return f"{visibility}_{field}"


@require_http_methods(["GET", "HEAD", "POST"])
def policies(request: HttpRequest) -> HttpResponse:
    """`/settings/replies`."""
    user = signed_in(request)
    form = PoliciesForm(user.preferences, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        # Pages do not offer the default of private mentions.
        kept: dict[str, int] = user.preferences.get(PREFERENCE) or {}
        change_preferences(user=user, change=PreferencesChange(interaction_policies=kept | form.policies()))
        messages.success(request, _("Your choice has been saved."))
        return redirect("settings_replies")
    return show(request, "statuses/policies.html", {"form": form}, status=422 if form.is_bound else 200)


def register_entry() -> None:
    """Add the page to the navigation of the settings."""
    add_entry("settings_old_posts", Entry("settings_replies", gettext_lazy("Who may reply")))
