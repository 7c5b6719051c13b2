"""Admin pages of spam rules and of the posts that they hold."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_column
from accounts.admin.acting import acting
from accounts.admin.permitted import DraftForm, EditedAdmin, PermittedAdmin, Writes
from accounts.models.user import Permission
from accounts.spam.models import SpamRule
from accounts.spam.policies import AGE_LIMIT, MENTIONS_LIMIT, SpamRuleDraft, rule_errors
from accounts.spam.services.rules import change_rule, create_rule, delete_rule, switch_rule
from moderation.queries.dry_runs import DAYS, try_rule
from moderation.queries.waiting import list_files, list_held
from social.api import staff_columns as columns
from social.api.staff import action
from social.api.staff_acts import Act, ActionVariant, Words, switches
from social.api.staff_columns import lines, shown
from social.api.staff_filters import RelatedDropdownFilter
from social.api.staff_forms import Lines
from social.kernel.errors import FieldError
from statuses.admin import VISIBILITY, files_shown
from statuses.models import HeldPost, Status
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.services.moderating import approve_held, discard_held, discard_held_by_rule, open_held, version_of

# Limits on a dry run, because it runs within a request.
_POSTS_LIMIT, _SECONDS_LIMIT = 50_000, 8.0
#: Session key. The value maps the ids of the held posts that the viewer opened last to the versions that the viewer saw.
_SEEN_VERSIONS = "held_versions"
_SEEN_LIMIT = 100


class SpamRuleForm(DraftForm):
    """Form for a spam rule; the policy validates its conditions."""

    words = Lines(_("Words"), _("One per line, in the text of posts or the reason given at sign-up"))
    link_hosts = Lines(_("Link domains"), _("One per line, subdomains included; only for posts"))
    minimum_mentions = forms.IntegerField(
        label=_("Minimum number of mentions"), required=False, min_value=1, max_value=MENTIONS_LIMIT
    )
    maximum_age_hours = forms.IntegerField(
        label=_("Maximum age of the account on this server, in hours"), required=False, min_value=1, max_value=AGE_LIMIT
    )
    mail_domains = Lines(_("Domains of e-mail addresses"), _("One per line; only for sign-ups"))
    networks = Lines(_("IP addresses or networks"), _("One per line; only for sign-ups"))

    class Meta:
        model = SpamRule
        fields = (
            "name",
            "subject",
            "outcome",
            "words",
            "link_hosts",
            "minimum_mentions",
            "maximum_age_hours",
            "first_contact",
            "origin",
            "mail_domains",
            "networks",
        )
        labels: ClassVar[dict[str, Any]] = {
            "name": _("Name"),
            "subject": _("Applies to"),
            "outcome": _("Action"),
            "first_contact": _("First contact with everybody mentioned"),
            "origin": _("Posts from"),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "name": _("Only staff see the name, not the people whom the rule affects"),
            "first_contact": _("Nobody who is mentioned follows the author or has ever written to the author"),
        }
        widgets: ClassVar[dict[str, Any]] = {"name": forms.TextInput({"dir": "auto"})}

    @property
    def draft(self) -> SpamRuleDraft:
        sent: dict[str, Any] = {name: self.cleaned_data.get(name) for name in self.Meta.fields}
        lists = {name: tuple(value) for name, value in sent.items() if isinstance(value, list)}
        return SpamRuleDraft(**sent | lists)

    def draft_errors(self) -> list[FieldError]:
        return rule_errors(self.draft)


@admin.register(SpamRule)
class SpamRuleAdmin(EditedAdmin):
    """Spam rules. A new rule is disabled, so that it can be tested first."""

    permission = Permission.MANAGE_BLOCKS
    form = SpamRuleForm
    writes = Writes(
        create=lambda by, row, form: create_rule(by=by, draft=form.draft),
        change=lambda by, row, form: change_rule(by=by, rule=row, draft=form.draft),
        remove=lambda by, row: delete_rule(by=by, rule=row),
    )
    list_display = (
        shown("name", _("Rule"), lambda rule: columns.shortened(rule.name, 80), order="name"),
        columns.ENABLED_STATES.column(),
        shown("subject", _("Applies to"), lambda rule: rule.get_subject_display(), minor=True),
        shown("outcome", _("Action"), lambda rule: rule.get_outcome_display(), minor=True),
        shown("met", _("Matches"), lambda rule: rule.met),
        shown("waits", _("Held"), lambda rule: rule.waits),
    )
    list_filter = (columns.ENABLED_STATES.filter(),)
    ordering = ("name",)
    actions_detail = ("try_it",)
    acts = (
        *switches(
            lambda by, rule, enabled: switch_rule(by=by, rule=rule, enabled=enabled),
            on=(
                Words(
                    _("Switch this rule on? It applies to new posts and sign-ups."),
                    _("The rule is on. Within seconds it applies to new posts and sign-ups."),
                ),
                Words("", ngettext_lazy("%(count)d rule is on.", "%(count)d rules are on.", "count")),
            ),
            off=(
                Words(
                    _("Switch this rule off?"),
                    _("The rule is off. The posts that it holds are still waiting for review."),
                ),
                Words("", ngettext_lazy("%(count)d rule is off.", "%(count)d rules are off.", "count")),
            ),
        ),
        Act(
            "discard_all",
            _("Discard all posts that they hold"),
            lambda by, rule: discard_held_by_rule(by=by, rule=rule),
            permission=Permission.MANAGE_REPORTS,
            verb="discard",
            many=Words(
                _("Discard every post that these rules hold? This cannot be undone."),
                ngettext_lazy(
                    "The posts held by %(count)d rule are discarded.",
                    "The posts held by %(count)d rules are discarded.",
                    "count",
                ),
            ),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpamRule]:
        """Return the rules, each with the numbers of its matches in the last 90 days and of its held posts."""
        rows: QuerySet[SpamRule] = super().get_queryset(request)
        return rows.annotate(met=Count("matches", distinct=True), waits=Count("held", distinct=True))

    @action(description=_("Test it on the last 30 days"), icon="science", permissions=["manage"])
    def try_it(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Show what the rule would have matched; nothing is stored."""
        rule = self.require_object(request, object_id)
        dry_run = try_rule(rule, days=DAYS, limit=_POSTS_LIMIT, seconds=_SECONDS_LIMIT)
        context = {
            "title": gettext("What %(rule)s would have matched") % {"rule": rule.name},
            "rule": rule,
            "found": dry_run,
            "accounts": len(dry_run.account_ids),
            "back": reverse("admin:accounts_spamrule_change", args=[rule.pk]),
        }
        return self.page(request, "admin/dry_run.html", **context)


SourceFilter = columns.condition_filter(
    "home",
    _("home"),
    here=(_("This server"), Q(document=None)),
    elsewhere=(_("Other servers"), Q(document__isnull=False)),
)


def _words(held: HeldPost) -> Any:
    if held.visibility not in OPEN_VISIBILITIES:
        return columns.mark(gettext("Not public"), "plain")
    return columns.shortened(held.excerpt, 70) if held.excerpt else gettext("(no text)")


def _kind(held: HeldPost) -> Any:
    return gettext("Post") if held.status_id is None else columns.row_link(Status, held.status_id, gettext("Edit"))


def _files(held: HeldPost) -> Any:
    draft = held.draft or (held.scheduled.draft if held.scheduled is not None else {})
    files = files_shown(list_files(held))
    if files and (draft.get("sensitive") or draft.get("spoiler_text")):
        cover = '<details class="staff-covered"><summary>{}</summary>{}</details>'
        return format_html(cover, gettext("Sensitive media"), files)
    return files


HELD_KIND = shown("kind", _("Kind"), _kind, minor=True)
HELD_AUTHOR = account_column("account", _("Account"))
HELD_RULE = shown("rule_name", _("Rule"), minor=True)
HELD_HOSTS = shown("link_hosts", _("Links to"), minor=True)
HELD_MENTIONS = shown("mentions_count", _("Mentions"), minor=True)


@admin.register(HeldPost)
class HeldPostAdmin(PermittedAdmin):
    """Posts that are waiting for review. Viewing a post that is not public is logged."""

    permission = Permission.MANAGE_REPORTS
    person_column = "account_id"
    list_display = (
        shown("excerpt", _("Post"), _words),
        HELD_KIND,
        HELD_AUTHOR,
        HELD_RULE,
        HELD_HOSTS,
        HELD_MENTIONS,
        columns.CREATION,
    )
    list_filter = (("rule", RelatedDropdownFilter), SourceFilter)
    acts = (
        Act(
            "approve",
            _("Publish"),
            lambda by, held: approve_held(by=by, held=held),
            icon="check",
            variant=ActionVariant.PRIMARY,
            one=Words(_("Publish this post?"), _("The post is published, with the time at which it was written.")),
            many=Words(
                _("Publish these posts?"),
                ngettext_lazy("%(count)d post was approved.", "%(count)d posts were approved.", "count"),
            ),
            audit=_("%(by)s published a held post of %(target)s"),
        ),
        Act(
            "discard",
            _("Discard"),
            lambda by, held: discard_held(by=by, held=held),
            icon="delete",
            variant=ActionVariant.DANGER,
            one=Words(_("Discard this post? This cannot be undone."), _("The post is discarded.")),
            many=Words(
                _("Discard these posts? This cannot be undone."),
                ngettext_lazy("%(count)d post was discarded.", "%(count)d posts were discarded.", "count"),
            ),
            audit=_("%(by)s discarded a held post of %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None,
            HELD_KIND,
            HELD_AUTHOR,
            shown("excerpt", _("Text")),
            shown("files", _("Pictures"), _files),
            HELD_HOSTS,
            HELD_MENTIONS,
            VISIBILITY,
            HELD_RULE,
            shown("written_at", _("Written")),
            shown("created_at", _("Held since")),
            shown("uri", _("ActivityPub id")),
        ),
    )

    def name_of(self, row: HeldPost) -> str:
        """Return the author and the first words; "Not public" replaces the words of a post that is not public."""
        words = " ".join(row.excerpt.split())[:60] if row.visibility in OPEN_VISIBILITIES else gettext("Not public")
        return f"@{row.account.acct}: {words}"

    def version_of(self, row: HeldPost) -> str:
        return version_of(row)

    def seen_version(self, request: HttpRequest, row: HeldPost) -> str:
        """Return the version of the post that the viewer saw last; the current version if the viewer never opened it."""
        return str(request.session.get(_SEEN_VERSIONS, {}).get(str(row.pk)) or self.version_of(row))

    def get_queryset(self, request: HttpRequest) -> QuerySet[HeldPost]:
        return list_held().defer("document")

    def waiting(self) -> QuerySet[HeldPost]:
        return list_held()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Render the post; the view is logged if the post is not public."""
        held = context["original"]
        open_held(by=acting(request), held=held)
        others = [seen for seen in request.session.get(_SEEN_VERSIONS, {}).items() if seen[0] != str(held.pk)]
        request.session[_SEEN_VERSIONS] = dict([*others, (str(held.pk), self.version_of(held))][-_SEEN_LIMIT:])
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer
