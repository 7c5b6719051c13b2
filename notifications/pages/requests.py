"""Pages on which users change their notification policy, and accept or dismiss the senders whose messages it holds."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from accounts.pages.forms import ServiceForm
from accounts.pages.member import back
from accounts.pages.person import shown_author
from accounts.pages.settings import counted, signed_in
from accounts.serializers.account import present_counted_accounts
from notifications.models import Handling
from notifications.models.policy import POLICY_COLUMNS
from notifications.policies.outcomes import FOLLOWER_AGE, NEW_ACCOUNT_AGE
from notifications.queries.requests import find_policy, is_merged, list_requests, load_request_page
from notifications.serializers.inputs.notifications import PolicyInput, RequestsInput
from notifications.services.requests import accept_requests, change_policy, dismiss_requests
from social.api import limits
from social.pages.frame import show
from social.pages.paging import PAGE_SIZE, cursor_of, links, one_page
from statuses.pages.posts import posts_for_templates, reader_of

_HANDLINGS: Final = (
    (Handling.ACCEPT, gettext_lazy("Notify me")),
    (Handling.FILTER, gettext_lazy("Hold as requests")),
    (Handling.DROP, gettext_lazy("Do not notify me")),
)
_SENDERS: Final = {
    "for_not_following": gettext_lazy("People you do not follow"),
    "for_not_followers": gettext_lazy("People who do not follow you, or have followed you for less than %(days)d days"),
    "for_new_accounts": gettext_lazy("Accounts that are less than %(days)d days old"),
    "for_private_mentions": gettext_lazy("Private mentions from people you do not follow, unless they reply to yours"),
    "for_limited_accounts": gettext_lazy("Accounts that the moderators of this server have limited"),
    "for_bots": gettext_lazy("Automated accounts"),
}
_DAYS: Final = {"for_not_followers": FOLLOWER_AGE.days, "for_new_accounts": NEW_ACCOUNT_AGE.days}


class PolicyForm(ServiceForm):
    """Form for the notification policy: a choice for each kind of sender."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in POLICY_COLUMNS:
            label = str(_SENDERS[name])
            label = label % {"days": _DAYS[name]} if name in _DAYS else label
            self.fields[name] = forms.ChoiceField(label=label, choices=_HANDLINGS)


@require_http_methods(["GET", "HEAD", "POST"])
def policy(request: HttpRequest) -> HttpResponse:
    """`/notifications/policy`: the settings for each kind of sender: deliver, hold or drop their notifications."""
    account_id = signed_in(request).account_id
    stored = find_policy(account_id)
    form = PolicyForm(request.POST or None, initial={name: getattr(stored, name) for name in POLICY_COLUMNS})
    if request.method == "POST" and form.is_valid():
        change_policy(account_id=account_id, settings=PolicyInput.read_mapping(form.cleaned_data).settings)
        messages.success(request, _("Your choice has been saved."))
        return redirect("notification_policy")
    return show(request, "notifications/policy.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def notification_requests(request: HttpRequest) -> HttpResponse:
    """`/notifications/requests`: the senders whose messages are held, the newest request first. A POST request accepts or
    dismisses (parameter `act`) the requests with the ids in `id`, and redirects back (303); repeating it has no effect.
    """
    user = signed_in(request)
    if request.method == "POST":
        counted(limits.INTERACTIONS, user)
        _decide(request, user.account_id)
        return back(request)
    cursor = cursor_of(request, PAGE_SIZE)
    pending = cursor.cut(list_requests(user.account_id))
    rows = one_page(pending, cursor)
    page = load_request_page(rows, user.account_id)
    people = present_counted_accounts(page.accounts)
    posts = {post["number"]: post for post in posts_for_templates(page.statuses, reader_of(user, "notifications"))}
    context = {
        **links(request, pending, cursor, [row.id for row in rows]),
        "of_others": True,
        "merging": not is_merged(user.account_id),
        "requests": [
            {
                "id": row.id,
                "person": shown_author(people[row.from_account_id], member=True),
                "count": row.notifications_count,
                "post": posts.get(row.last_status_id or 0),
            }
            for row in rows
        ],
    }
    return show(request, "notifications/requests.html", context)


def _decide(request: HttpRequest, account_id: int) -> None:
    numbers = RequestsInput.read_mapping({"id": request.POST.getlist("id")}).id
    if request.POST.get("act") == "accept":
        number = accept_requests(account_id=account_id, request_ids=numbers)
        text = ngettext("%(number)d request has been accepted.", "%(number)d requests have been accepted.", number)
    else:
        number = dismiss_requests(account_id=account_id, request_ids=numbers)
        text = ngettext("%(number)d request has been dismissed.", "%(number)d requests have been dismissed.", number)
    messages.success(request, text % {"number": number} if number else _("This has already been done."))
