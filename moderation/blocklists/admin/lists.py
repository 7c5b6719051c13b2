"""Admin page of the subscriptions to blocklists: their options, their state, and dry runs of their changes."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.models.user import Permission
from moderation.admin.audit_sentences import sentence
from moderation.admin.domain_rules import severity_mark
from moderation.blocklists.models import Blocklist, EntryStep, TakenAs
from moderation.blocklists.policies import BlocklistDraft, allowed_effects, blocklist_errors
from moderation.blocklists.queries import SERVERS_LIMIT, count_entries, list_log, list_waiting, try_entries
from moderation.blocklists.services import lists
from moderation.blocklists.services.settling import approve_entries
from moderation.models import DomainSeverity
from social.api.staff import ActionVariant, action
from social.api.staff_acts import Act, Words, switches
from social.api.staff_columns import States, address, lines, link, mark, moment, shortened, shown, table
from social.kernel.errors import FieldError
from social.kernel.text.names import unambiguous_domain

APPROVAL_LIMIT: Final = 1000
_TRIAL_LIMIT: Final = 20_000


_STATES: Final = States(
    ending=(_("Is being removed"), "plain", Q(ending=True)),
    off=(_("Off"), "plain", Q(enabled=False, ending=False)),
    failing=(_("Cannot be fetched"), "bad", Q(enabled=True, failing_since__isnull=False)),
    held=(_("Changes are waiting"), "waiting", Q(enabled=True, failing_since__isnull=True, held_reason__gt="")),
    on=(_("On"), "good", Q(enabled=True, failing_since__isnull=True, held_reason="")),
)


class BlocklistForm(DraftForm):
    password = forms.CharField(
        label=_("Password"),
        required=False,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password", "dir": "ltr"}),
        help_text=_(
            "Stored encrypted and not shown again. Leave empty to keep the stored password, unless the list moves to "
            "another server"
        ),
    )

    class Meta:
        model = Blocklist
        fields = (
            "name",
            "url",
            "username",
            "password",
            "content_type",
            "mode",
            "follows_limit",
            "suspend_as",
            "silence_as",
            "noop_as",
            "take_rejections",
        )
        labels: ClassVar[dict[str, Any]] = {
            "name": _("Name"),
            "url": _("Address"),
            "username": _("Username"),
            "content_type": _("Preferred format"),
            "mode": _("Mode"),
            "follows_limit": _("Follows that an update may end without approval"),
            "suspend_as": _("Servers that the list suspends are"),
            "silence_as": _("Servers that the list limits are"),
            "noop_as": _("Servers that the list only names are"),
            "take_rejections": _("Reject files and reports where the list says so"),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "url": _(
                "CSV as Mastodon exports it, one domain per line, JSON of Mastodon or GoToSocial, or a dataset of FIRES"
            ),
            "username": _(
                "For a list that requires basic authentication. Leave empty to send neither username nor password"
            ),
        }
        widgets: ClassVar[dict[str, Any]] = {
            "username": forms.TextInput({"autocomplete": "off", "dir": "ltr"}),
            "name": forms.TextInput({"dir": "auto"}),
            "url": forms.URLInput({"dir": "ltr", "placeholder": "https://"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for theirs in DomainSeverity:
            field: Any = self.fields[f"{theirs}_as"]
            field.choices = [(value, TakenAs(value).label) for value in allowed_effects(theirs)]

    @property
    def draft(self) -> BlocklistDraft:
        sent = self.cleaned_data
        return BlocklistDraft(**sent | {"name": sent["name"].strip(), "password": sent["password"] or None})

    def draft_errors(self) -> list[FieldError]:
        return blocklist_errors(self.draft)


def _entries_url(blocklist: Blocklist, state: str) -> str:
    path = reverse("admin:moderation_blocklistentry_changelist")
    return f"{path}?blocklist__id__exact={blocklist.pk}&state={state}"


def _count_link(blocklist: Any, state: str, count: int) -> Any:
    return link(_entries_url(blocklist, state), str(count)) if count else str(count)


def _failure(blocklist: Blocklist) -> Any:
    if blocklist.failing_since is None:
        return None
    return format_html("{}<br>{}", moment(blocklist.failing_since), shortened(blocklist.last_error, 300))


def _problems(blocklist: Blocklist) -> Any:
    if not blocklist.problems_count:
        return None
    more = blocklist.problems_count - len(blocklist.problems)
    texts = [*blocklist.problems, *([gettext("and %(count)d more") % {"count": more}] if more > 0 else [])]
    return format_html_join("", "{}<br>", ((shortened(text, 300),) for text in texts))


def _log(blocklist: Blocklist) -> SafeString:
    rows = [[moment(entry.created_at), shortened(sentence(entry), 300)] for entry in list_log(blocklist)]
    return table([_("When"), _("What was done")], rows)


STATE: Final = _STATES.column()
ENFORCED: Final = shown("in_force", _("In force"), lambda row: _count_link(row, "in_force", row.in_force))
WAITING: Final = shown("waiting", _("Waiting for approval"), lambda row: _count_link(row, "waiting", row.waiting))
NAMED: Final = shown("entries_count", _("Servers on the list"), minor=True)
CHECKED: Final = shown("checked_at", _("Last fetched"), minor=True)
CHANGED: Final = shown("changed_at", _("Last changed"))
HELD: Final = shown("held_reason", _("Why its last changes are waiting"))
FAILURE: Final = shown("failing_since", _("Failing since"), _failure)
PROBLEMS: Final = shown("problems", _("Lines that cannot be used"), _problems)
LOG: Final = shown("log", _("What was done last"), _log)
_STATE_LINES: Final = (STATE, ENFORCED, WAITING, NAMED, CHECKED, CHANGED, HELD, FAILURE, PROBLEMS, LOG)


@admin.register(Blocklist)
class BlocklistAdmin(EditedAdmin):
    permission = Permission.MANAGE_FEDERATION
    form = BlocklistForm
    writes = Writes(
        create=lambda by, row, form: lists.subscribe(by=by, draft=form.draft),
        change=lambda by, row, form: lists.change_list(by=by, blocklist=row, draft=form.draft),
        remove=lambda by, row: lists.unsubscribe(by=by, blocklist=row),
    )
    list_display = (
        shown("name", _("Name"), lambda blocklist: format_html("<bdi>{}</bdi>", blocklist.name), order="name"),
        STATE,
        shown("mode", _("Mode"), lambda blocklist: blocklist.get_mode_display(), minor=True),
        NAMED,
        ENFORCED,
        WAITING,
        CHECKED,
    )
    list_filter = (_STATES.filter(),)
    ordering = ("name",)
    readonly_fields: ClassVar[Any] = _STATE_LINES
    actions_detail = ("try_it",)
    acts = (
        Act(
            "approve_all",
            _("Approve all"),
            lambda by, blocklist: approve_entries(
                by=by, entries=list_waiting().filter(blocklist=blocklist), limit=APPROVAL_LIMIT
            ),
            icon="check",
            variant=ActionVariant.PRIMARY,
            one=Words(
                _("Make all changes of this list that are waiting for approval (1,000 at most)?"),
                _("The changes are made."),
            ),
            fits=lambda blocklist: blocklist.waiting > 0,
        ),
        Act(
            "fetch_now",
            _("Fetch"),
            lambda by, blocklist: lists.fetch_soon(by=by, blocklist=blocklist),
            icon="refresh",
            one=Words(_("Fetch this list now?"), _("The list will be fetched in a moment.")),
            fits=lambda blocklist: blocklist.enabled,
            recorded="fetch",
            audit=_("%(by)s requested a fetch of the list %(target)s"),
        ),
        *switches(
            lambda by, blocklist, enabled: lists.switch_list(by=by, blocklist=blocklist, enabled=enabled),
            on=(
                Words(_("Switch this list on? It is fetched in a moment."), _("The list is on.")),
                Words("", ngettext_lazy("%(count)d list is on.", "%(count)d lists are on.", "count")),
            ),
            off=(
                Words(_("Switch this list off? The rules that came from it stay."), _("The list is off.")),
                Words("", ngettext_lazy("%(count)d list is off.", "%(count)d lists are off.", "count")),
            ),
        ),
        Act(
            "withdraw",
            _("Withdraw"),
            lambda by, blocklist: lists.withdraw_list(by=by, blocklist=blocklist),
            icon="undo",
            variant=ActionVariant.DANGER,
            one=Words(
                _(
                    "Switch this list off, and remove the rules that came only from it and that nobody has "
                    "changed since? Follows that these rules have ended are not restored."
                ),
                _("The list is off, and its rules are being removed."),
            ),
            audit=_("%(by)s withdrew the rules of the list %(target)s"),
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        parts = [lines(None, *BlocklistForm.Meta.fields)]
        return parts if obj is None else [*parts, lines(_("State"), *_STATE_LINES)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Blocklist]:
        return count_entries(super().get_queryset(request))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return only the names of the lists. The entries of the lists are deleted as well, but are too many to show."""
        return [self.name_of(row) for row in objs], {}, set(), []

    @action(description=_("What would happen"), icon="science", permissions=["manage"])
    def try_it(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Show the effects of the changes that are waiting for a decision; nothing is written."""
        blocklist = self.require_object(request, object_id)
        dry_run = try_entries(blocklist, list(list_waiting().filter(blocklist=blocklist).order_by("id")[:_TRIAL_LIMIT]))
        context = {
            "title": gettext("What the list %(list)s would do") % {"list": blocklist.name},
            "found": dry_run,
            "follows": dry_run.follows_from_here + dry_run.follows_to_here,
            "servers": _servers(dry_run.servers[:SERVERS_LIMIT]),
            "more": max(0, len(dry_run.servers) - SERVERS_LIMIT),
            "entries": _entries_url(blocklist, "waiting"),
            "approve": reverse("admin:moderation_blocklist_approve_all", args=[blocklist.pk]),
            "back": reverse("admin:moderation_blocklist_change", args=[blocklist.pk]),
        }
        return self.page(request, "admin/blocklist_dry_run.html", **context)


def _servers(servers: Any) -> SafeString:
    rows = [
        [
            address(unambiguous_domain(server.domain)),
            format_html("{} {}", _change(server.step, server.severity), shortened(server.note, 200)),
            server.follows.from_here + server.follows.to_here,
            server.accounts,
            server.posts,
            shortened(server.comment, 120),
        ]
        for server in servers
    ]
    follows, reason = _("Follows that would end"), _("Reason given by the list")
    return table([_("Server"), _("What changes"), follows, _("Accounts"), _("Posts"), reason], rows)


def _change(step: str, severity: str) -> SafeString:
    return mark(gettext("the rule ends"), "good") if step == EntryStep.LIFT else severity_mark(severity)
