"""Admin pages of domain rules and allowed servers, which can be imported from files and exported to files."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.block_lists import AddedOnlyAdmin, FiledBlockListAdmin, ending
from accounts.admin.permitted import RowForm, Writes
from accounts.models.user import Permission
from accounts.queries.servers import FollowsUnder, load_follows_under
from moderation.blocklists.queries import list_provenance
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies.domain_rules import DomainRuleDraft, all_below, domain_elsewhere, is_registry
from moderation.services.domain_files import AllowFile, RuleFile
from moderation.services.domain_rules import allow_domain, change_rule, create_rule, disallow_domain, remove_rule
from social.api.staff_columns import CREATION, address, mark, moment, shortened, shown, table
from social.api.staff_forms import text_field
from social.kernel.text.names import normalise_domain, unambiguous_domain

_SEVERITY_KINDS: Final = {
    DomainSeverity.NOOP: "plain",
    DomainSeverity.SILENCE: "waiting",
    DomainSeverity.SUSPEND: "bad",
}


class ServerForm(RowForm):
    """Base of forms that accept the name of a server in any spelling."""

    def clean_domain(self) -> str:
        name = domain_elsewhere(self.cleaned_data["domain"])
        if name is None:
            raise ValidationError(gettext("This is not the domain of another server."))
        return name


class DomainRuleForm(ServerForm):
    """Form for a domain rule; the domain of a stored rule cannot be changed. The form names the follows that the rule would
    end, and asks for confirmation. The form also asks for confirmation of a new rule for a domain below which anybody can
    register a domain (`is_registry`).
    """

    public_comment = text_field(_("Public reason"), DOMAIN_COMMENT_LIMIT)
    private_comment = text_field(_("Note for colleagues"), DOMAIN_COMMENT_LIMIT)
    end_follows = forms.BooleanField(label=_("End these follows"), required=False)
    concern_all = forms.BooleanField(label=_("A rule for all these servers"), required=False)
    # The follows that the submitted rule would end; set for each request.
    follows: FollowsUnder | None = None
    # Whether the submitted rule is a new rule for a domain below which anybody can register a domain; set for each request.
    concerns_all = False

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
            "domain": _("Server"),
            "severity": _("Its accounts are"),
            "reject_media": _("Reject its media files"),
            "reject_reports": _("Reject its reports"),
            "obfuscate": _("Obfuscate its name in the public list"),
        }
        widgets = {"domain": forms.TextInput({"dir": "ltr"})}
        error_messages = {"domain": {"unique": _("This server has a rule already.")}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].disabled = self.instance.pk is not None
        if self.follows is None:
            del self.fields["end_follows"]
        if not self.concerns_all:
            del self.fields["concern_all"]

    def clean_end_follows(self) -> bool:
        if self.follows is not None and not self.cleaned_data["end_follows"]:
            raise ValidationError(gettext("These follows would end: %(follows)s") % {"follows": ending(self.follows)})
        return True

    def clean_concern_all(self) -> bool:
        if not self.cleaned_data["concern_all"]:
            raise ValidationError(capfirst(all_below()))
        return True

    @property
    def draft(self) -> DomainRuleDraft:
        return DomainRuleDraft(
            **{name: self.cleaned_data[name] for name in DomainRuleForm.Meta.fields if name != "domain"}
        )


def _follows_that_end(request: Any, rule: DomainRule | None) -> FollowsUnder | None:
    """Return the follows that the submitted rule would end; None if there are none. Each request reads the follows once."""
    if request.POST.get("severity") != DomainSeverity.SUSPEND or (rule is not None and rule.severity == "suspend"):
        return None
    domain = rule.domain if rule is not None else normalise_domain(request.POST.get("domain", ""))
    if not hasattr(request, "ending_follows"):
        request.ending_follows = load_follows_under([domain] if domain else [])
    return request.ending_follows.get(domain)  # type: ignore[no-any-return]  # kept for this request


def _concerns_all(request: Any, rule: DomainRule | None) -> bool:
    domain = normalise_domain(request.POST.get("domain", ""))
    return rule is None and domain is not None and is_registry(domain)


def severity_mark(severity: str) -> SafeString:
    return mark(DomainSeverity(severity).label, _SEVERITY_KINDS[DomainSeverity(severity)])


def _server(row: DomainRule | DomainAllow) -> Any:
    return address(unambiguous_domain(row.domain))


def _lists(rule: DomainRule) -> Any:
    rows = [
        [
            format_html("<bdi>{}</bdi>", entry.list_name),
            severity_mark(entry.severity),
            shortened(entry.comment, 120),
            moment(entry.created_at),
        ]
        for entry in list_provenance(rule.domain)
    ]
    return table([_("List"), _("The list says"), _("Reason given by the list"), _("Since")], rows)


LIST_MARK = shown("from_lists", _("Written by lists, and not changed since"))
LISTS = shown("lists", _("What lists say"), _lists)


@admin.register(DomainRule)
class DomainRuleAdmin(FiledBlockListAdmin):
    permission = Permission.MANAGE_FEDERATION
    kind_of_file = RuleFile
    form = DomainRuleForm
    writes = Writes(
        create=lambda by, row, form: create_rule(by=by, domain=row.domain, draft=form.draft),
        change=lambda by, row, form: change_rule(by=by, rule=row, draft=form.draft),
        remove=lambda by, row: remove_rule(by=by, rule=row),
    )
    list_display = (
        shown("domain", _("Server"), _server, order="domain"),
        shown("severity", _("Its accounts are"), lambda rule: severity_mark(rule.severity), order="severity"),
        shown("public_comment", _("Public reason"), lambda rule: shortened(rule.public_comment or "", 120)),
        CREATION,
    )
    list_filter = ("severity", "from_lists")
    readonly_fields: ClassVar[Any] = (LIST_MARK, LISTS)
    search_fields = ("domain",)
    search_help_text = _("Part of a domain")
    ordering = ("domain",)

    def get_fields(self, request: HttpRequest, obj: DomainRule | None = None) -> Any:
        return [
            *DomainRuleForm.Meta.fields,
            *((LIST_MARK, LISTS) if obj is not None else ()),
            *(("concern_all",) if _concerns_all(request, obj) else ()),
            *(("end_follows",) if _follows_that_end(request, obj) is not None else ()),
        ]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.follows = _follows_that_end(request, obj)
        form.concerns_all = _concerns_all(request, obj)
        return form


class DomainAllowForm(ServerForm):
    class Meta:
        model = DomainAllow
        fields = ("domain",)
        labels = {"domain": _("Server")}
        widgets = {"domain": forms.TextInput({"dir": "ltr"})}
        error_messages = {"domain": {"unique": _("This server is allowed already.")}}


@admin.register(DomainAllow)
class DomainAllowAdmin(AddedOnlyAdmin, FiledBlockListAdmin):
    permission = Permission.MANAGE_FEDERATION
    kind_of_file = AllowFile
    form = DomainAllowForm
    writes = Writes(
        create=lambda by, row, form: allow_domain(by=by, domain=row.domain),
        remove=lambda by, row: disallow_domain(by=by, allow=row),
    )
    list_display = (shown("domain", _("Server"), _server, order="domain"), shown("created_at", _("Since"), order="id"))
    search_fields = ("domain",)
    search_help_text = _("Part of a domain")
    ordering = ("domain",)
