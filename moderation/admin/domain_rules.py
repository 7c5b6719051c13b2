"""Rules for other servers and the servers that are let in, for staff: made, changed, taken back, and brought as a file."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.permitted import EditedAdmin, RowForm
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import DomainAllow, DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_csv import Planned, export_rules, import_rules, plan_import, read_rules
from moderation.services.domain_rules import allow_domain, change_rule, create_rule, disallow_domain, remove_rule
from social.api.staff import action
from social.api.staff_columns import address, shortened, shown, table
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError
from social.kernel.text.names import normalise_domain

LINES_SHOWN: Final = 200
NAMES_SHOWN: Final = 3
_ACTIONS: Final = {
    "add": gettext_lazy("new"),
    "change": gettext_lazy("changed"),
    "keep": gettext_lazy("stays as it is"),
    "refuse": gettext_lazy("refused"),
}


class ServerForm(RowForm):
    """A form that names a server, in any spelling."""

    def clean_domain(self) -> str:
        """Return the name as it is stored; the service says what is no other server's."""
        sent: str = self.cleaned_data["domain"]
        return normalise_domain(sent) or sent


class DomainRuleForm(ServerForm):
    """A rule for a server; for whom it is does not change."""

    class Meta:
        model = DomainRule
        fields = (
            "domain",
            "severity",
            "reject_media",
            "reject_reports",
            "obfuscate",
            "public_comment",
            "private_comment",
        )
        labels = {
            "domain": gettext_lazy("Server"),
            "severity": gettext_lazy("Its people are"),
            "reject_media": gettext_lazy("Its files are not kept"),
            "reject_reports": gettext_lazy("Its reports are not taken"),
            "obfuscate": gettext_lazy("Its name is covered in the public list"),
            "public_comment": gettext_lazy("Public reason"),
            "private_comment": gettext_lazy("Note for colleagues"),
        }
        widgets = {"domain": forms.TextInput({"dir": "ltr"})} | {
            name: forms.Textarea({"rows": 2, "dir": "auto"}) for name in ("public_comment", "private_comment")
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].disabled = self.instance.pk is not None
        for name in ("public_comment", "private_comment"):
            self.fields[name].required = False

    @property
    def draft(self) -> DomainRuleDraft:
        """The draft that was written."""
        sent = self.cleaned_data
        return DomainRuleDraft(
            severity=sent["severity"],
            reject_media=sent["reject_media"],
            reject_reports=sent["reject_reports"],
            obfuscate=sent["obfuscate"],
            public_comment=sent["public_comment"] or "",
            private_comment=sent["private_comment"] or "",
        )


class RulesFileForm(StaffForm):
    """A file of rules, which is only looked at unless that is switched off."""

    rules = forms.FileField(label=gettext_lazy("File"), help_text=gettext_lazy("CSV, as other servers export it"))
    replace = forms.BooleanField(label=gettext_lazy("The file decides where there is a rule"), required=False)
    only_show = forms.BooleanField(label=gettext_lazy("Only show what would happen"), required=False, initial=True)


@admin.register(DomainRule)
class DomainRuleAdmin(EditedAdmin):
    """Rules for servers."""

    permission = Permission.MANAGE_FEDERATION
    form = DomainRuleForm
    list_display = (
        shown("domain", gettext_lazy("Server"), lambda rule: address(rule.domain), order="domain"),
        shown("severity", gettext_lazy("Its people are"), lambda rule: rule.get_severity_display(), order="severity"),
        shown("public_comment", gettext_lazy("Public reason"), lambda rule: shortened(rule.public_comment or "", 120)),
        shown("created_at", gettext_lazy("Since"), order="id", minor=True),
    )
    list_filter = ("severity",)
    search_fields = ("domain",)
    ordering = ("domain",)
    actions_list = ("import_file", "export_file")

    def save_model(self, request: HttpRequest, obj: DomainRule, form: Any, change: bool) -> None:
        """Write it by the service."""
        if change:
            change_rule(by=acting(request), rule=obj, draft=form.draft)
        else:
            obj.pk = create_rule(by=acting(request), domain=obj.domain, draft=form.draft).pk

    def delete_model(self, request: HttpRequest, obj: DomainRule) -> None:
        """Take it back by the service."""
        remove_rule(by=acting(request), rule=obj)

    @action(description=gettext_lazy("Import a file"), icon="upload", permissions=["manage"])
    def import_file(self, request: HttpRequest) -> HttpResponse:
        """Take in the rules of a file, or show what that would do."""
        question = gettext_lazy("Import rules for servers")
        sent = self.ask_for(request, RulesFileForm, question)
        if isinstance(sent, TemplateResponse):
            return sent
        try:
            planned = plan_import(read_rules(sent["rules"].read()), replace=sent["replace"])
        except KernelError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect(request.path)
        if sent["only_show"]:
            return self._show(request, planned)
        counts = Counter(done.action for done in import_rules(by=acting(request), planned=planned))
        text = _("%(added)d rules are new, %(changed)d changed, %(kept)d stay, %(refused)d lines were refused.") % {
            "added": counts["add"],
            "changed": counts["change"],
            "kept": counts["keep"],
            "refused": counts["refuse"],
        }
        self.message_user(request, text, messages.SUCCESS)
        return redirect("admin:moderation_domainrule_changelist")

    @action(description=gettext_lazy("Export all"), icon="download", permissions=["manage"])
    def export_file(self, request: HttpRequest) -> StreamingHttpResponse:
        """Give all rules out as a file."""
        answer = StreamingHttpResponse(export_rules(), content_type="text/csv; charset=utf-8")
        answer.headers["Content-Disposition"] = 'attachment; filename="domain_blocks.csv"'
        return answer

    def _show(self, request: HttpRequest, planned: list[Planned]) -> TemplateResponse:
        """The page of a dry run, with the follows that would end."""
        rows = [
            (address(plan.entry.domain), plan.entry.draft.severity, _ACTIONS[plan.action], plan.reason, _ending(plan))
            for plan in planned[:LINES_SHOWN]
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": _("What would happen"),
            "opts": self.model._meta,
            "rules": table([_("Server"), _("Severity"), _("Rule"), _("Reason"), _("Follows that end")], rows),
            "more": max(0, len(planned) - LINES_SHOWN),
            "back": request.path,
        }
        return TemplateResponse(request, "admin/rules_file.html", context)


def _ending(plan: Planned) -> str:
    if plan.follows is None:
        return ""
    named = ", ".join(f"{follower} → {followed}" for follower, followed in plan.follows.named[:NAMES_SHOWN])
    return f"{plan.follows.from_here + plan.follows.to_here}: {named}"


class DomainAllowForm(ServerForm):
    """A server that is let in."""

    class Meta:
        model = DomainAllow
        fields = ("domain",)
        labels = {"domain": gettext_lazy("Server")}
        widgets = {"domain": forms.TextInput({"dir": "ltr"})}


@admin.register(DomainAllow)
class DomainAllowAdmin(EditedAdmin):
    """Servers that are let in where federation is limited."""

    permission = Permission.MANAGE_FEDERATION
    form = DomainAllowForm
    list_display = (
        shown("domain", gettext_lazy("Server"), lambda allow: address(allow.domain), order="domain"),
        shown("created_at", gettext_lazy("Since"), order="id"),
    )
    search_fields = ("domain",)
    ordering = ("domain",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse everybody: a name is removed and another one added."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return the name for a row that is there."""
        return ["domain"] if obj is not None else []

    def save_model(self, request: HttpRequest, obj: DomainAllow, form: Any, change: bool) -> None:
        """Let it in by the service."""
        obj.pk = allow_domain(by=acting(request), domain=obj.domain).pk

    def delete_model(self, request: HttpRequest, obj: DomainAllow) -> None:
        """Take it back by the service."""
        disallow_domain(by=acting(request), allow=obj)
