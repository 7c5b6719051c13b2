"""Pages that list a signed-in person's scheduled posts and drafts, reschedule scheduled posts, and delete both."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.pages.member import back, refuse
from accounts.pages.settings import counted, signed_in
from social.api import limits
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from social.pages.frame import path_of, show
from social.pages.paging import PAGE_SIZE
from statuses.models import ScheduledStatus
from statuses.pages.post_form import AUDIENCES
from statuses.pages.posts import load_shown, reader_of
from statuses.policies.publishing import DRAFTS_FROM, is_draft
from statuses.queries.listings import find_scheduled, list_drafts, list_scheduled
from statuses.serializers.scheduled_status import ScheduledStatusSerializer
from statuses.services.scheduling import cancel_status, reschedule_status

#: A post that is still unpublished this long after it was due counts as failed; its author was sent a mail.
_LATE: Final = timedelta(minutes=5)


class TimeForm(forms.Form):
    """The new time of a scheduled post, in the reader's time zone."""

    scheduled_at = forms.DateTimeField()


@require_safe
def scheduled(request: HttpRequest) -> HttpResponse:
    """`/scheduled`: the scheduled posts of the reader, soonest first."""
    rows = list_scheduled(signed_in(request).account_id).filter(scheduled_at__lt=DRAFTS_FROM)
    return _show(request, "statuses/scheduled.html", rows.order_by("scheduled_at", "id"))


@require_safe
def drafts(request: HttpRequest) -> HttpResponse:
    """`/drafts`: the drafts of the reader, newest first."""
    return _show(request, "statuses/drafts.html", list_drafts(signed_in(request).account_id).order_by("-id"))


def _show(request: HttpRequest, template: str, rows: QuerySet[ScheduledStatus]) -> HttpResponse:
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    posts = _for_template([*page], signed_in(request))
    return show(request, template, {"page": page, "posts": posts, "zone": timezone.get_current_timezone_name()})


def _for_template(rows: Sequence[ScheduledStatus], user: User) -> list[dict[str, Any]]:
    """Return the scheduled posts for the template, with the addresses of the posts that they reply to or quote."""
    entities = ScheduledStatusSerializer(rows, many=True).data
    titles, late = dict(AUDIENCES), clock.now() - _LATE
    numbers = {
        int(entity["params"][name])
        for entity in entities
        for name in ("in_reply_to_id", "quoted_status_id")
        if entity["params"][name]
    }
    urls = {str(post["number"]): post["url"] for post in load_shown(numbers, reader_of(user, ""))} if numbers else {}
    shown = []
    for row, entity in zip(rows, entities, strict=True):
        sent, moment = entity["params"], datetime.fromisoformat(entity["scheduled_at"])
        shown.append(
            {
                "id": entity["id"],
                "moment": moment,
                "late": moment < late,
                "saved": row.created_at,
                "text": sent["text"],
                "warning": sent["spoiler_text"] or "",
                "audience": titles.get(sent["visibility"], ""),
                "options": (sent["poll"] or {}).get("options", []),
                "files": [
                    {"preview": path_of(file["preview_url"]), "description": file["description"] or ""}
                    for file in entity["media_attachments"]
                ],
                "answered_url": urls.get(sent["in_reply_to_id"] or "", ""),
                "quoted_url": urls.get(sent["quoted_status_id"] or "", ""),
            }
        )
    return shown


@require_POST
def change_scheduled(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /scheduled/:id`: set the time `scheduled_at`, or delete a post or draft (`act=delete`). Raises NotFound."""
    user = signed_in(request)
    counted(limits.INTERACTIONS, user)
    if request.POST.get("act") == "delete":
        try:
            found = find_scheduled(id, user.account_id)
            cancel_status(scheduled=found)
        except NotFound:
            messages.info(request, _("This has already been done."))
        else:
            is_kept = is_draft(found.scheduled_at)
            text = _("The draft has been deleted.") if is_kept else _("The scheduled post has been deleted.")
            messages.success(request, text)
        return back(request)
    found, form = find_scheduled(id, user.account_id), TimeForm(request.POST)
    if not form.is_valid():
        refuse(request, _("Enter a date and a time."))
        return back(request, f"scheduled-{found.id}")
    try:
        # The field shows no seconds. If the shown time was not changed, the stored time keeps its seconds.
        shown, typed = found.scheduled_at.replace(second=0, microsecond=0), form.cleaned_data["scheduled_at"]
        reschedule_status(scheduled=found, scheduled_at=found.scheduled_at if typed == shown else typed)
    except Invalid as refusal:
        refuse(request, refusal)
    else:
        messages.success(request, _("The time has been changed."))
    return back(request, f"scheduled-{found.id}")
