"""Pages on which people move from one account to another."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.identity.pages.second_factor import MoveForm, passkey_first
from accounts.models import Account, User
from accounts.pages.person import shown_person
from accounts.pages.settings import counted, signed_in
from accounts.queries.users import find_user
from accounts.serializers.account import counters
from accounts.services.remote_accounts import find_or_resolve
from accounts.transfers.pages.forms import AliasForm
from accounts.transfers.queries import list_moves, load_aliases
from accounts.transfers.services import moving
from social.api import limits
from social.kernel.errors import Invalid, NotFound, Unavailable
from social.kernel.text.names import clean_input
from social.pages.frame import show


@require_http_methods(["GET", "HEAD", "POST"])
def migration(request: HttpRequest) -> HttpResponse:
    """`/settings/migration`: moves the user to another account."""
    user = find_user(signed_in(request).pk)
    detour = passkey_first(request, user)
    if detour is not None:
        return detour
    if request.method != "POST":
        return _show(request, user, MoveForm(user))
    form = MoveForm(user, request.POST)
    if form.is_valid():
        target = _find(request, user, form)
        if target is not None:
            try:
                moving.move_account(user=user, target=target)
            except Invalid as refusal:
                form.add_details(refusal)
            except Unavailable:
                form.add_error("acct", _("The server of this account does not answer. Please try again later."))
            else:
                messages.success(
                    request, _("You have moved. Your followers are being moved to the new account one by one.")
                )
                return redirect("settings_migration")
    return _show(request, user, form, status=422)


@require_POST
def cancel_migration(request: HttpRequest) -> HttpResponse:
    moving.cancel_move(user=signed_in(request))
    messages.success(request, _("This account can be used again."))
    return redirect("settings_migration")


@require_http_methods(["GET", "HEAD", "POST"])
def aliases(request: HttpRequest) -> HttpResponse:
    """`/settings/aliases`: lists and adds aliases, the accounts from which the user may move to this one."""
    user = find_user(signed_in(request).pk)
    form = AliasForm()
    if request.method == "POST":
        form = AliasForm(request.POST)
        alias = _find(request, user, form) if form.is_valid() else None
        if alias is not None and form.is_accepted_by(lambda: moving.add_alias(account=user.account, alias=alias)):
            messages.success(request, _("You can move here from that account now."))
            return redirect("settings_aliases")
    found = [
        {
            "uri": uri,
            "person": shown_person(account) if account is not None else None,
            "moved_here": account is not None and account.moved_to_id == user.account_id,
        }
        for uri, account in load_aliases(user.account)
    ]
    context = {"form": form, "aliases": found}
    return show(request, "accounts/settings/aliases.html", context, status=422 if form.errors else 200)


@require_POST
def forget_alias(request: HttpRequest) -> HttpResponse:
    moving.remove_alias(account=signed_in(request).account, uri=request.POST.get("uri", ""))
    return redirect("settings_aliases")


def _find(request: HttpRequest, user: User, form: Any) -> Account | None:
    """Return the account with the typed address, fetched if necessary; None, with an error in the form, if it is not found."""
    counted(limits.ACCOUNT_LOOK_UPS, user)
    try:
        return find_or_resolve(clean_input(form.cleaned_data["acct"]))
    except NotFound:
        form.add_error("acct", _("There is no such account, or its server does not answer."))
        return None


def _show(request: HttpRequest, user: User, form: MoveForm, *, status: int = 200) -> HttpResponse:
    account = user.account
    context = {
        "form": form,
        "moved_to": shown_person(account.moved_to) if account.moved_to is not None else None,
        "next_move_at": moving.next_move_at(account),
        "moves": list(list_moves(account.id)),
        "followers_count": counters(account)["followers_count"],
        "pause_days": moving.MOVE_INTERVAL.days,
    }
    return show(request, "accounts/settings/migration.html", context, status=status)
