"""Webhooks, for staff: their addresses and events, their secrets, and the last responses."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.models.user import Permission
from moderation.models import Webhook, WebhookEvent
from moderation.models.webhook import WebhookAttempt
from moderation.policies.webhooks import WebhookDraft, webhook_errors
from moderation.queries.webhooks import list_attempts
from moderation.services.webhooks import change_webhook, create_webhook, delete_webhook, renew_secret, switch_webhook
from social.api.staff_acts import Act, Words, switches
from social.api.staff_columns import ENABLED_STATES, address, lines, mark, moment, shortened, shown, table
from social.kernel.crypto import UnreadableSecret, decrypt
from social.kernel.errors import FieldError
from social.kernel.http.client import place_of

_SECRET_CHANGED: Final = _("The webhook has a new secret. Everything sent from now on is signed with it.")


class WebhookForm(DraftForm):
    events = forms.MultipleChoiceField(
        label=_("Events"), choices=WebhookEvent.choices, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Webhook
        fields = ("url", "events", "template")
        labels: ClassVar[dict[str, Any]] = {"url": _("Address"), "template": _("Template")}
        help_texts: ClassVar[dict[str, Any]] = {
            "url": _("For example https://hooks.example/social: each event is sent there by POST as JSON"),
            "template": _(
                "Body to send instead of the event, with variables such as {{event}}, {{object.account.acct}} or "
                "{{object.content}}. Leave empty to send the whole event"
            ),
        }
        widgets: ClassVar[dict[str, Any]] = {
            "url": forms.URLInput({"dir": "ltr", "placeholder": "https://"}),
            "template": forms.Textarea({"rows": 5, "dir": "ltr", "spellcheck": "false"}),
        }

    @property
    def draft(self) -> WebhookDraft:
        sent = self.cleaned_data
        return WebhookDraft(sent.get("url") or "", tuple(sent.get("events") or ()), sent.get("template") or "")

    def draft_errors(self) -> list[FieldError]:
        return webhook_errors(self.draft, may_be_asked=place_of(self.draft.url) is not None)


def _secret(webhook: Webhook) -> SafeString:
    try:
        return format_html('<code class="words" dir="ltr">{}</code>', decrypt(webhook.secret))
    except UnreadableSecret:
        return mark(gettext("It cannot be shown again: create a new one"), "bad")


def _attempts(webhook: Webhook) -> SafeString:
    rows = [
        [moment(attempt.created_at), address(attempt.event), _answer(attempt), address(f"{attempt.milliseconds} ms")]
        for attempt in list_attempts(webhook)
    ]
    return table([_("When"), _("Event"), _("Answer"), _("Duration")], rows)


def _answer(attempt: WebhookAttempt) -> SafeString:
    if not attempt.error:
        return mark(str(attempt.status), "good")
    return shortened(attempt.error, 160)


STATE: Final = ENABLED_STATES.column()
SECRET: Final = shown("secret", _("Secret"), _secret)
WAITING: Final = shown("waiting", _("Waiting"), lambda webhook: webhook.waiting)
ATTEMPTS: Final = shown("attempts", _("Recent deliveries"), _attempts)


@admin.register(Webhook)
class WebhookAdmin(EditedAdmin):
    """Webhooks. The page of a webhook shows its secret and its last responses."""

    permission = Permission.MANAGE_WEBHOOKS
    form = WebhookForm
    writes = Writes(
        create=lambda by, row, form: create_webhook(by=by, draft=form.draft),
        change=lambda by, row, form: change_webhook(by=by, webhook=row, draft=form.draft),
        remove=lambda by, row: delete_webhook(by=by, webhook=row),
    )
    list_display = (
        shown("url", _("Address"), lambda webhook: shortened(webhook.url, 120)),
        STATE,
        shown("events", _("Events"), lambda webhook: address(", ".join(webhook.events)), minor=True),
        WAITING,
    )
    list_filter = (ENABLED_STATES.filter(),)
    ordering = ("id",)
    readonly_fields: ClassVar[Any] = (STATE, SECRET, WAITING, ATTEMPTS)
    acts = (
        *switches(
            lambda by, webhook, enabled: switch_webhook(by=by, webhook=webhook, enabled=enabled),
            on=(
                Words(_("Switch this webhook on? Events are sent to it from now on."), _("The webhook is on.")),
                Words("", ngettext_lazy("%(count)d webhook is on.", "%(count)d webhooks are on.", "count")),
            ),
            off=(
                Words(
                    _("Switch this webhook off? Events that are waiting will not be sent."), _("The webhook is off.")
                ),
                Words("", ngettext_lazy("%(count)d webhook is off.", "%(count)d webhooks are off.", "count")),
            ),
        ),
        Act(
            "renew_secret",
            _("Create a new secret"),
            lambda by, webhook: renew_secret(by=by, webhook=webhook),
            icon="key",
            one=Words(_("Replace the secret? The receiver of the events needs the new one."), _SECRET_CHANGED),
            audit=_("%(by)s created a new secret for the webhook %(target)s"),
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        parts = [lines(None, *WebhookForm.Meta.fields)]
        return parts if obj is None else [*parts, lines(_("State"), *self.readonly_fields)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        rows: QuerySet[Webhook] = super().get_queryset(request)
        return rows.annotate(waiting=Count("calls", filter=Q(calls__dead_at=None)))
