"""Texts of this server about itself, for staff: rules, terms of service, and the texts of the instance documents."""

from __future__ import annotations

from datetime import UTC
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.acting import acting
from accounts.admin.permitted import EditedAdmin, PermittedAdmin, RowForm, Writes
from accounts.models import SiteSetting
from accounts.models.user import Permission
from accounts.pages.forms import ServiceForm
from accounts.queries.site_settings import fixed_site_settings, load_site_texts
from moderation.models import InstanceRule, TermsOfService
from moderation.policies.documents import (
    ACCESS_NAMES,
    AUDIENCES,
    AUDIT_LOG_DAYS,
    DAYS_LIMIT,
    POSITION_MAXIMUM,
    RETENTION_NAMES,
    RuleDraft,
    SiteTexts,
    TermsDraft,
    rule_errors,
    terms_errors,
)
from moderation.services.documents import (
    THUMBNAIL_LIMIT,
    change_site,
    change_thumbnail,
    create_rule,
    delete_terms,
    hide_first_steps,
    publish_terms,
    update_rule,
    withdraw_rule,
    write_terms,
)
from social.api.staff import takes
from social.api.staff_acts import Act, Words
from social.api.staff_columns import mark, shortened, shown
from social.api.staff_forms import Styled
from social.kernel import clock
from social.kernel.errors import Invalid, KernelError
from social.kernel.text.languages import LANGUAGE_NAMES
from timelines.policies.access import Openness

#: Maximum size of the texts of the settings page in bytes, without its picture.
FORM_BYTES: Final = 1024 * 1024
OTHER_LANGUAGES = [(code, name) for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


class RuleForm(RowForm):
    """A rule with its translations into the other languages of the pages; translations into further languages are kept
    unchanged.
    """

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
        for code, _name in OTHER_LANGUAGES:
            words = self.instance.translations.get(code, {})
            for part in ("text", "hint"):
                self.fields[f"{part}_{code}"].initial = words.get(part, "")

    @property
    def draft(self) -> RuleDraft:
        """Return the draft that the form holds."""
        sent = self.cleaned_data
        translations = dict(self.instance.translations)
        for code, _name in OTHER_LANGUAGES:
            words = {part: sent.get(f"{part}_{code}") or "" for part in ("text", "hint")}
            translations.pop(code, None)
            if any(words.values()):
                translations[code] = words
        return RuleDraft(sent["text"], sent.get("hint") or "", translations, sent.get("position") or 0)

    def clean(self) -> dict[str, Any]:
        """Return the values; add the errors of the policy."""
        sent: dict[str, Any] = super().clean() or {}
        if "text" in sent:
            for error in rule_errors(self.draft):
                self.add_error(error.field if error.field in self.fields else None, error.message)
        return sent


for _code, _name in OTHER_LANGUAGES:
    for _part, _label in (("text", _("Rule")), ("hint", _("Explanation"))):
        RuleForm.declared_fields[f"{_part}_{_code}"] = RuleForm.base_fields[f"{_part}_{_code}"] = forms.CharField(
            label=_label, help_text=_name, required=False, widget=forms.Textarea({"rows": 2, "dir": "auto"})
        )


@admin.register(InstanceRule)
class RuleAdmin(EditedAdmin):
    """Rules of the server; a deleted rule is only withdrawn, because reports may name it."""

    permission = Permission.MANAGE_RULES
    form = RuleForm
    writes = Writes(
        create=lambda by, row, form: create_rule(by=by, draft=form.draft),
        change=lambda by, row, form: update_rule(by=by, rule=row, draft=form.draft),
        remove=lambda by, row: withdraw_rule(by=by, rule=row),
    )
    list_display = (
        shown("text", _("Rule"), lambda rule: shortened(rule.text, 120)),
        shown("position", _("Position"), order="position"),
        shown("translations", _("Translations"), lambda rule: sorted(rule.translations), minor=True),
    )
    ordering = ("position", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[InstanceRule]:
        """Return the rules in force."""
        rows: QuerySet[InstanceRule] = super().get_queryset(request)
        return rows.filter(withdrawn_at=None)


_AUDIENCE_NAMES = {"disabled": _("Nobody"), "users": _("Who is signed in"), "all": _("Everybody")}


def _text(label: Any, rows: int = 1, help_text: Any = "") -> forms.CharField:
    widget = forms.Textarea({"rows": rows, "dir": "auto"}) if rows > 1 else forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


def _audience(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value, _AUDIENCE_NAMES[value]) for value in AUDIENCES])


_OPENNESS_NAMES = {
    Openness.PUBLIC: _("Everybody"),
    Openness.AUTHENTICATED: _("Who is signed in"),
    Openness.DISABLED: _("Nobody but who may see closed timelines"),
}


def _openness(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value.value, words) for value, words in _OPENNESS_NAMES.items()])


REGISTRATIONS: Final = {"open": _("Everybody"), "approval": _("Whom staff let in"), "closed": _("Nobody")}


def _days(label: Any, least: int = 1) -> forms.IntegerField:
    words = _("0: for ever") if least == 1 else _("0: for ever, else 30 at least")
    return forms.IntegerField(label=label, help_text=words, min_value=0, max_value=DAYS_LIMIT)


class SiteForm(Styled, ServiceForm):
    """Texts and switches of the instance documents; the service validates them."""

    site_title = _text(_("Name of this server"))
    site_short_description = _text(_("Short description"), 3)
    site_extended_description = _text(_("Long description"), 10, _("Markdown"))
    site_privacy_policy = _text(_("Privacy policy"), 10, _("Markdown; without one, that of this software is shown"))
    site_contact_username = _text(_("Username of the contact"))
    site_contact_email = _text(_("E-mail address of the contact"))
    site_languages = forms.MultipleChoiceField(
        label=_("Languages"), required=False, choices=list(LANGUAGE_NAMES.items())
    )
    site_status_page_url = _text(_("Address of the status page"))
    site_registrations = forms.ChoiceField(
        label=_("Who may sign up"),
        required=False,
        choices=REGISTRATIONS.items(),
        help_text=_("Who has an invitation may sign up in any case"),
    )
    site_closed_message = _text(_("What is said while nobody can sign up"), 3, _("Markdown"))
    site_show_domain_blocks = _audience(_("Who sees which servers are limited"))
    site_show_domain_blocks_rationale = _audience(_("Who sees why"))
    site_publish_activity = forms.BooleanField(label=_("Publish how much happens here"), required=False)
    site_publish_peers = forms.BooleanField(label=_("Publish which servers are known"), required=False)
    site_trends_without_review = forms.BooleanField(
        label=_("Show trends before they were reviewed"),
        required=False,
        help_text=_("Posts, hashtags and links that many people like are shown until you refuse them"),
    )
    site_access_live_feeds_local = _openness(_("Public timeline: posts of this server"))
    site_access_live_feeds_remote = _openness(_("Public timeline: posts of other servers"))
    site_access_hashtag_feeds_local = _openness(_("Timelines of hashtags: posts of this server"))
    site_access_hashtag_feeds_remote = _openness(_("Timelines of hashtags: posts of other servers"))
    site_access_trending_link_feeds_local = _openness(_("Timelines of links: posts of this server"))
    site_access_trending_link_feeds_remote = _openness(_("Timelines of links: posts of other servers"))
    site_keep_addresses_days = _days(_("Days for which network addresses of people are kept"))
    site_keep_audit_log_days = _days(_("Days for which the audit log is kept"), AUDIT_LOG_DAYS)
    site_keep_closed_reports_days = _days(_("Days for which settled reports are kept"))
    site_keep_held_posts_days = _days(_("Days after which posts that nobody has reviewed are discarded"))
    thumbnail = forms.FileField(label=_("Picture"), required=False, help_text=_("Cut to 1200 by 630 pixels"))
    remove_thumbnail = forms.BooleanField(label=_("Remove the picture"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        registrations: Any = self.fields["site_registrations"]
        default = gettext("The default: %(choice)s") % {"choice": REGISTRATIONS[settings.REGISTRATIONS]}
        registrations.choices = [("", default), *registrations.choices]
        for name in fixed_site_settings():
            self.fields[name].disabled = True
            words = gettext("Set in the environment of the server, as %(name)s: it can only be changed there.")
            self.fields[name].help_text = words % {"name": name.removeprefix("site_").upper()}

    @property
    def texts(self) -> SiteTexts:
        """Return the texts that the form holds."""
        sent = {name: value for name, value in self.cleaned_data.items() if name.startswith("site_")}
        return SiteTexts(**sent | {"site_languages": tuple(sent["site_languages"])})


@admin.register(SiteSetting)
class SiteAdmin(PermittedAdmin):
    """Form for all site settings."""

    permission = Permission.MANAGE_SETTINGS

    @takes(THUMBNAIL_LIMIT + FORM_BYTES)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the form in place of a list of rows."""
        if not self.is_permitted(request):
            return super().changelist_view(request, extra_context)
        form = SiteForm(request.POST or None, request.FILES or None, initial=load_site_texts(raw=True) | _switches())
        if request.method == "POST" and form.is_valid() and self._save(request, form):
            self.message_user(request, gettext("What this server says about itself has been saved."), messages.SUCCESS)
            return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("About this server"),
            "opts": self.model._meta,
            "form": form,
        }
        return TemplateResponse(request, "admin/site.html", context, status=422 if form.errors else 200)

    def get_custom_urls(self) -> Any:
        """Return the URL that hides the list of first steps."""
        return (("first-steps/", "first_steps_hide", self._hide_first_steps),)

    def _hide_first_steps(self, request: HttpRequest, **_rest: Any) -> HttpResponse:
        if not self.is_permitted(request):
            raise PermissionDenied
        if request.method == "POST":
            hide_first_steps(by=acting(request))
        return redirect("admin:index")

    def _save(self, request: HttpRequest, form: SiteForm) -> bool:
        by, picture = acting(request), form.cleaned_data["thumbnail"]
        try:
            change_site(by=by, texts=form.texts)
            if picture is not None or form.cleaned_data["remove_thumbnail"]:
                change_thumbnail(by=by, data=picture.read() if picture is not None else None)
        except Invalid as refusal:
            form.add_details(refusal)
        except KernelError as refusal:
            form.add_error(None, refusal.message)
        return not form.errors


def _switches() -> dict[str, Any]:
    """Return the default values of the switches, which apply until staff have chosen values."""
    texts = load_site_texts()
    names = (
        "site_publish_activity",
        "site_publish_peers",
        "site_trends_without_review",
        "site_show_domain_blocks",
        "site_show_domain_blocks_rationale",
        *RETENTION_NAMES,
        *fixed_site_settings(),
    )
    openness = {name: texts.get(name, Openness.PUBLIC) for name in ACCESS_NAMES}
    return openness | {name: texts[name] for name in names}


class TermsForm(RowForm):
    """A version of the terms of service."""

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
        """Return the draft that the form holds."""
        sent = self.cleaned_data
        return TermsDraft(sent["text"], sent.get("changelog") or "", sent.get("effective_date"))

    def clean(self) -> dict[str, Any]:
        """Return the values; add the errors of the policy. Django itself refuses the date of another version."""
        sent: dict[str, Any] = super().clean() or {}
        if "text" in sent:
            today = clock.now().astimezone(UTC).date()
            for error in terms_errors(self.draft, publish=False, today=today, is_date_taken=False):
                self.add_error(error.field, error.message)
        return sent


def _state(terms: TermsOfService) -> Any:
    return mark(gettext("Published"), "good") if terms.published_at is not None else mark(gettext("Draft"), "waiting")


@admin.register(TermsOfService)
class TermsAdmin(EditedAdmin):
    """Versions of the terms of service; published versions are read-only."""

    permission = Permission.MANAGE_SETTINGS
    form = TermsForm
    writes = Writes(
        create=lambda by, row, form: write_terms(by=by, draft=form.draft),
        change=lambda by, row, form: write_terms(by=by, draft=form.draft, terms=row),
        remove=lambda by, row: delete_terms(by=by, terms=row),
    )
    list_display = (
        shown("name", _("In force from"), str, order="effective_date"),
        shown("state", _("State"), _state),
        shown("published_at", _("Published"), minor=True),
    )
    ordering = ("-effective_date",)
    acts = (
        Act(
            "publish",
            _("Publish: it cannot be changed afterwards"),
            lambda by, terms: publish_terms(by=by, terms=terms),
            many=Words(
                _("Publish these terms of service? They cannot be changed afterwards."),
                ngettext_lazy("%(count)d version was published.", "%(count)d versions were published.", "count"),
            ),
        ),
    )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether this is a draft, the only state that may be changed."""
        return self.is_permitted(request) and (obj is None or obj.published_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether this is a draft, the only state that may be deleted."""
        return self.has_change_permission(request, obj)
