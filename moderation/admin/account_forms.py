"""Questions that staff answer before they act on an account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from accounts.models import Role
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.policies.sign_up import EMAIL_LIMIT
from accounts.policies.staff import OPERATOR
from moderation.models import InstanceRule
from moderation.models.note import NOTE_LIMIT
from moderation.models.report import STRIKE_TEXT_LIMIT
from social.api.staff_forms import StaffForm


def _house_rules() -> list[tuple[int, str]]:
    rows = InstanceRule.objects.filter(withdrawn_at=None).order_by("position", "id").values_list("id", "text")
    return [(number, Truncator(text).chars(100)) for number, text in rows]


class WordsForm(StaffForm):
    """A message to the person."""

    text = forms.CharField(
        label=_("What you write to the person (may be empty)"),
        required=False,
        max_length=STRIKE_TEXT_LIMIT,
        widget=forms.Textarea({"rows": 5, "dir": "auto"}),
    )


class SanctionForm(WordsForm):
    """A message to the person, the rules that were broken, and whether the person is notified."""

    field_order = ("house_rule_ids", "text", "notify")

    house_rule_ids = forms.TypedMultipleChoiceField(
        label=_("Rules of this server that were broken"),
        choices=_house_rules,
        coerce=int,
        empty_value=None,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They stand in the statement of reasons; without a choice those of the report do."),
    )
    notify = forms.BooleanField(label=_("Tell them by mail and by a notification"), required=False, initial=True)


class NoteForm(StaffForm):
    text = forms.CharField(
        label=_("What colleagues should know"), max_length=NOTE_LIMIT, widget=forms.Textarea({"rows": 5, "dir": "auto"})
    )


class RoleForm(StaffForm):
    """The role to give, which ranks below the role of the moderator `by`, or no role."""

    by = OPERATOR
    role = forms.ModelChoiceField(
        Role.objects.exclude(pk=EVERYONE_ROLE_ID).order_by("-position"),
        label=_("Role"),
        required=False,
        empty_label=_("No role"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.by.position is not None:
            field: Any = self.fields["role"]
            field.queryset = field.queryset.filter(position__lt=self.by.position)


class EmailForm(StaffForm):
    """A new e-mail address in place of the current one."""

    email = forms.EmailField(label=_("New e-mail address"), max_length=EMAIL_LIMIT)


class HoldForm(StaffForm):
    """The reason of a hold."""

    reason = forms.CharField(
        label=_("Why it is held (stands in the audit log only)"),
        max_length=NOTE_LIMIT,
        widget=forms.Textarea({"rows": 3, "dir": "auto"}),
    )
