"""Form fields for who may interact with a post, and settings pages: policies of new posts, and deletion of old posts."""

from __future__ import annotations

import re
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

from accounts.pages.forms import OpenChoiceField, ServiceForm, check_field
from accounts.pages.settings import Entry, add_entry, signed_in
from accounts.pages.settings_forms import VISIBILITIES
from accounts.services.preferences import PreferencesChange, change_preferences
from social.pages.frame import show
from statuses.models import Interaction, RetentionPolicy
from statuses.policies.interactions import (
    NO_GROUPS,
    PREFERENCE,
    Choice,
    Group,
    choice_of_rule,
    default_policy,
    groups_of,
    is_rule,
    rule_of_choice,
    words_of,
)
from statuses.policies.interactions import rule_of as part_of
from statuses.services.retention import AGES, COUNT_LIMIT, change_retention, find_retention

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
    "Your reply is waiting for approval by the post’s author. Until then, only the two of you can see it."
)
ASKED_FIRST: Final = gettext_lazy("The author of the post is asked first.")
_DEFAULT_TITLE: Final = gettext_lazy("As in your settings")
_OTHER_TITLE: Final = gettext_lazy("As set by an application")
#: Kinds of interaction, keyed by their form fields.
POLICY_KINDS: Final = {
    "reply_policy": Interaction.REPLY,
    "reblog_policy": Interaction.REBLOG,
    "favourite_policy": Interaction.FAVOURITE,
}
_NUMBER: Final = re.compile(r"[0-9]{1,10}\Z")


class PolicyField(OpenChoiceField):
    """Field for a kind of interaction. If an application has set a rule that is not among the choices, the value of the field
    is the rule's number.
    """

    def __init__(self, label: str | _StrPromise, kind: Interaction, *, blank: bool = True) -> None:
        titles: dict[Choice, str | Promise] = dict(_TITLES)
        if kind is Interaction.REPLY:
            titles[Choice.NOBODY] = gettext_lazy("Only you and people whom it mentions")
        choices: list[tuple[str, str | Promise]] = [(choice.value, title) for choice, title in titles.items()]
        super().__init__(label=label, required=False, choices=[("", _DEFAULT_TITLE), *choices] if blank else choices)
        self.kind = kind

    def title_of(self, value: str) -> str | Promise | None:
        return _OTHER_TITLE if _NUMBER.match(value) and is_rule(int(value), self.kind) else None


def rule_of(value: str, kind: Interaction) -> dict[str, list[str]]:
    """Return the rule that corresponds to the value of a field, as clients of the API send it."""
    groups = groups_of(_part_of(value, kind), kind)
    automatic, manual = (Group.PUBLIC, NO_GROUPS) if groups is None else groups
    return {"automatic_approval": [*words_of(automatic)] or ["author"], "manual_approval": [*words_of(manual)]}


def _part_of(value: str, kind: Interaction) -> int:
    return int(value) if value.isdigit() else rule_of_choice(kind, Choice(value))


def _value_of(policy: int, kind: Interaction) -> str:
    return choice_of_rule(policy, kind) or str(part_of(policy, kind))


def chosen_rules(rules: Mapping[str, int] | None) -> dict[str, str | None]:
    """Return the initial values for a draft's rules, keyed by form field; None for kinds of interaction without a rule."""
    return {
        name: _value_of(rules[kind], kind) if rules is not None and kind in rules else None
        for name, kind in POLICY_KINDS.items()
    }


def rules_of_post(policy: int) -> dict[str, str]:
    """Return the initial values for a post's policy, keyed by form field."""
    return {name: _value_of(policy, kind) for name, kind in POLICY_KINDS.items()}


class PoliciesForm(ServiceForm):
    """Form for the policies of new posts, with a choice for each visibility and kind of interaction."""

    def __init__(self, preferences: Mapping[str, Any], data: Any = None) -> None:
        initial = {
            _name(visibility, name): value
            for visibility in VISIBILITIES
            for name, value in rules_of_post(default_policy(preferences, visibility)).items()
        }
        super().__init__(data, initial=initial)
        labels = (_("Who may reply to them"), _("Who may boost them"), _("Who may favourite them"))
        for visibility in VISIBILITIES:
            for (name, kind), label in zip(POLICY_KINDS.items(), labels, strict=True):
                self.fields[_name(visibility, name)] = PolicyField(label, kind, blank=False)
        self.offer_values()

    def groups(self) -> list[tuple[str | Promise, list[forms.BoundField]]]:
        """Return the form fields of each visibility, with the title of the visibility."""
        return [
            (title, [self[_name(visibility, name)] for name in POLICY_KINDS])
            for visibility, title in VISIBILITIES.items()
        ]

    def policies(self) -> dict[str, int]:
        """Return the policies of a valid form, keyed by visibility."""
        values = {name: value or self.initial[name] for name, value in self.cleaned_data.items()}
        return {
            visibility: sum(_part_of(values[_name(visibility, name)], kind) for name, kind in POLICY_KINDS.items())
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
        # The pages do not offer a default policy for private mentions.
        kept: dict[str, int] = user.preferences.get(PREFERENCE) or {}
        change_preferences(user=user, change=PreferencesChange(interaction_policies=kept | form.policies()))
        messages.success(request, _("Your choice has been saved."))
        return redirect("settings_replies")
    return show(request, "statuses/policies.html", {"form": form}, status=422 if form.is_bound else 200)


_AGES = {
    7: gettext_lazy("1 week"),
    14: gettext_lazy("2 weeks"),
    30: gettext_lazy("1 month"),
    60: gettext_lazy("2 months"),
    90: gettext_lazy("3 months"),
    180: gettext_lazy("6 months"),
    365: gettext_lazy("1 year"),
    730: gettext_lazy("2 years"),
}


def _number(label: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        max_value=COUNT_LIMIT,
        help_text=gettext_lazy("Leave it empty to delete posts regardless of this number."),
    )


class RetentionForm(ServiceForm):
    """Form for the automatic deletion of the user's old posts."""

    enabled = check_field(gettext_lazy("Delete my old posts"))
    min_age = forms.TypedChoiceField(
        label=gettext_lazy("Delete posts older than"), coerce=int, choices=[(days, _AGES[days]) for days in AGES]
    )
    keep_pinned = check_field(gettext_lazy("Keep pinned posts"))
    keep_direct = check_field(gettext_lazy("Keep private mentions"))
    keep_favourited = check_field(gettext_lazy("Keep posts that I have favourited"))
    keep_bookmarked = check_field(gettext_lazy("Keep posts that I have bookmarked"))
    keep_media = check_field(gettext_lazy("Keep posts with media"))
    keep_polls = check_field(gettext_lazy("Keep polls"))
    min_favourites = _number(gettext_lazy("Keep posts with at least this many favourites"))
    min_reblogs = _number(gettext_lazy("Keep posts with at least this many boosts"))

    def exceptions(self) -> list[forms.BoundField]:
        """Return the fields that exempt posts from deletion."""
        return [self[name] for name in self.fields if name.startswith(("keep_", "min_favourites", "min_reblogs"))]


@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: HttpRequest) -> HttpResponse:
    """`/settings/old_posts`."""
    account_id = signed_in(request).account_id
    form = RetentionForm(request.POST if request.method == "POST" else None, initial=find_retention(account_id))

    def save() -> None:
        change_retention(RetentionPolicy(account_id=account_id, **form.cleaned_data))

    if request.method == "POST" and form.is_accepted_by(save):
        messages.success(request, _("Your choice has been saved."))
        return redirect("settings_old_posts")
    return show(request, "statuses/retention.html", {"form": form}, status=422 if form.errors else 200)


def register_entries() -> None:
    """Add the pages to the navigation of the settings."""
    add_entry("settings_delete", Entry("settings_old_posts", gettext_lazy("Delete old posts")))
    add_entry("settings_old_posts", Entry("settings_replies", gettext_lazy("Who may reply")))
