"""Where staff write the rules of this server, in the languages of its pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from accounts.admin.permitted import EditedAdmin, RowForm
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import InstanceRule
from moderation.policies.documents import RuleDraft, rule_errors
from moderation.services.documents import create_rule, update_rule, withdraw_rule
from social.api.staff_columns import shortened, shown

OTHERS = [(code, name) for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


class RuleForm(RowForm):
    """A rule, and its words in the other languages of the pages; translations into further ones are kept."""

    class Meta:
        model = InstanceRule
        fields = ("text", "hint", "position")
        labels = {
            "text": gettext_lazy("Rule"),
            "hint": gettext_lazy("Explanation"),
            "position": gettext_lazy("Position"),
        }
        widgets = {
            "text": forms.Textarea({"rows": 2, "dir": "auto"}),
            "hint": forms.Textarea({"rows": 3, "dir": "auto"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for code, _name in OTHERS:
            words = self.instance.translations.get(code, {})
            for part in ("text", "hint"):
                self.fields[f"{part}_{code}"].initial = words.get(part, "")

    @property
    def draft(self) -> RuleDraft:
        """What was written."""
        sent = self.cleaned_data
        translations = dict(self.instance.translations)
        for code, _name in OTHERS:
            words = {part: sent.get(f"{part}_{code}") or "" for part in ("text", "hint")}
            translations.pop(code, None)
            if any(words.values()):
                translations[code] = words
        return RuleDraft(sent["text"], sent.get("hint") or "", translations, sent.get("position") or 0)

    def clean(self) -> dict[str, Any]:
        """With what the policy finds."""
        sent: dict[str, Any] = super().clean() or {}
        if "text" in sent:
            for error in rule_errors(self.draft):
                self.add_error(error.field if error.field in self.fields else None, error.message)
        return sent


for _code, _name in OTHERS:
    for _part, _label in (("text", gettext_lazy("Rule")), ("hint", gettext_lazy("Explanation"))):
        RuleForm.declared_fields[f"{_part}_{_code}"] = RuleForm.base_fields[f"{_part}_{_code}"] = forms.CharField(
            label=_label, help_text=_name, required=False, widget=forms.Textarea({"rows": 2, "dir": "auto"})
        )


@admin.register(InstanceRule)
class RuleAdmin(EditedAdmin):
    """Rules; deleting one withdraws it, because reports may name it."""

    permission = Permission.MANAGE_RULES
    form = RuleForm
    list_display = (
        shown("text", gettext_lazy("Rule"), lambda rule: shortened(rule.text, 120)),
        shown("position", gettext_lazy("Position"), order="position"),
        shown("translations", gettext_lazy("Translations"), lambda rule: sorted(rule.translations), minor=True),
    )
    ordering = ("position", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[InstanceRule]:
        """Those in force."""
        rows: QuerySet[InstanceRule] = super().get_queryset(request)
        return rows.filter(withdrawn_at=None)

    def save_model(self, request: HttpRequest, obj: InstanceRule, form: Any, change: bool) -> None:
        """Write it by the service."""
        if change:
            update_rule(by=acting(request), rule=obj, draft=form.draft)
        else:
            obj.pk = create_rule(by=acting(request), draft=form.draft).pk

    def delete_model(self, request: HttpRequest, obj: InstanceRule) -> None:
        """Withdraw it by the service."""
        withdraw_rule(by=acting(request), rule=obj)
