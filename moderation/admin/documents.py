"""Admin pages of the rules and the terms of service of this server."""

from datetime import UTC
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.admin.permitted import EditedAdmin, RowForm, Writes
from accounts.models.user import Permission
from moderation.models import InstanceRule, TermsOfService
from moderation.policies.documents import POSITION_MAXIMUM, RuleDraft, TermsDraft, rule_errors, terms_errors
from moderation.services import documents
from social.api.staff_acts import Act, Words
from social.api.staff_columns import States, shortened, shown
from social.api.staff_forms import text_field
from social.kernel import clock
from social.kernel.errors import FieldError
from social.kernel.identity import default_language


class RuleForm(RowForm):
    """Form for a rule and its translations into the languages of the pages; other stored translations are kept."""

    class Meta:
        model = InstanceRule
        fields = ("text", "hint", "position")
        labels = {"text": _("Rule"), "hint": _("Explanation"), "position": _("Position")}
        widgets = {
            "text": forms.Textarea({"rows": 2, "dir": "auto"}),
            "hint": forms.Textarea({"rows": 3, "dir": "auto"}),
            "position": forms.NumberInput({"min": 0, "max": POSITION_MAXIMUM}),
        }
        help_texts = {"position": _("The rule with the lowest number is the first one.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for code in self._languages():
            words = self.instance.translations.get(code, {})
            for part in ("text", "hint"):
                self.fields[f"{part}_{code}"].initial = words.get(part, "")

    def _languages(self) -> list[str]:
        return [code for code, _name in settings.LANGUAGES if f"text_{code}" in self.fields]

    @property
    def draft(self) -> RuleDraft:
        sent = self.cleaned_data
        translations = dict(self.instance.translations)
        for code in self._languages():
            words = {part: sent[f"{part}_{code}"] or "" for part in ("text", "hint")}
            translations.pop(code, None)
            if any(words.values()):
                translations[code] = words
        return RuleDraft(sent["text"], sent["hint"] or "", translations, sent["position"] or 0)

    def draft_errors(self) -> list[FieldError]:
        return rule_errors(self.draft)


for _code, _name in settings.LANGUAGES:
    for _part, _label in (("text", _("Rule")), ("hint", _("Explanation"))):
        RuleForm.declared_fields[f"{_part}_{_code}"] = RuleForm.base_fields[f"{_part}_{_code}"] = text_field(
            _label, help_text=_name
        )


@admin.register(InstanceRule)
class RuleAdmin(EditedAdmin):
    """Rules of the server. Deleting a rule withdraws the rule but keeps the row, because reports may name it."""

    permission = Permission.MANAGE_RULES
    form = RuleForm
    writes = Writes(
        create=lambda by, row, form: documents.create_rule(by=by, draft=form.draft),
        change=lambda by, row, form: documents.update_rule(by=by, rule=row, draft=form.draft),
        remove=lambda by, row: documents.withdraw_rule(by=by, rule=row),
    )
    list_display = (
        shown("text", _("Rule"), lambda rule: shortened(rule.text, 120)),
        shown("position", _("Position"), order="position"),
        shown("translations", _("Translations"), lambda rule: sorted(rule.translations), minor=True),
    )
    ordering = ("position", "id")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the rule and its translations into all languages except the server's default language."""
        own = default_language()
        return [name for name in RuleForm.base_fields if name not in (f"text_{own}", f"hint_{own}")]

    def get_queryset(self, request: HttpRequest) -> QuerySet[InstanceRule]:
        rows: QuerySet[InstanceRule] = super().get_queryset(request)
        return rows.filter(withdrawn_at=None)


class TermsForm(RowForm):
    class Meta:
        model = TermsOfService
        fields = ("text", "changelog", "effective_date")
        labels = {
            "text": _("Terms of service"),
            "changelog": _("What has changed"),
            "effective_date": _("In force from"),
        }
        help_texts = {"text": _("Markdown"), "changelog": _("Markdown")}
        widgets = {
            "text": forms.Textarea({"rows": 20, "dir": "auto"}),
            "changelog": forms.Textarea({"rows": 4, "dir": "auto"}),
            "effective_date": forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        }

    @property
    def draft(self) -> TermsDraft:
        return TermsDraft(**self.cleaned_data)

    def draft_errors(self) -> list[FieldError]:
        """Return the errors that the policy finds. Django itself refuses a date that another version already has."""
        today = clock.now().astimezone(UTC).date()
        return terms_errors(self.draft, publish=False, today=today, is_date_taken=False)


_STATES = States(
    published=(_("Published"), "good", Q(published_at__isnull=False)),
    draft=(_("Draft"), "waiting", Q(published_at=None)),
)


@admin.register(TermsOfService)
class TermsAdmin(EditedAdmin):
    """Versions of the terms of service; published versions are read-only."""

    permission = Permission.MANAGE_SETTINGS
    form = TermsForm
    writes = Writes(
        create=lambda by, row, form: documents.write_terms(by=by, draft=form.draft),
        change=lambda by, row, form: documents.write_terms(by=by, draft=form.draft, terms=row),
        remove=lambda by, row: documents.delete_terms(by=by, terms=row),
    )
    list_display = (
        shown("name", _("In force from"), str, order="effective_date"),
        _STATES.column(),
        shown("published_at", _("Published"), minor=True),
    )
    ordering = ("-effective_date",)
    acts = (
        Act(
            "publish",
            _("Publish: it cannot be changed afterwards"),
            lambda by, terms: documents.publish_terms(by=by, terms=terms),
            many=Words(
                _("Publish these terms of service? They cannot be changed afterwards."),
                ngettext_lazy("%(count)d version was published.", "%(count)d versions were published.", "count"),
            ),
        ),
    )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether this is a draft: a published version may be neither changed nor deleted."""
        return self.is_permitted(request) and (obj is None or obj.published_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)
