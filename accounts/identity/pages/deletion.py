"""The page on which people delete their account, and the page after it."""

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from accounts.identity.pages.second_factor import ConfirmationForm, passkey_first
from accounts.pages.settings import signed_in
from accounts.services.erasing import delete_user
from social.kernel.errors import Conflict
from social.pages.frame import show


@require_http_methods(["GET", "HEAD", "POST"])
def deletion(request: HttpRequest) -> HttpResponse:
    """`/settings/delete`: deletes the user's account."""
    user = signed_in(request)
    detour = passkey_first(request, user)
    if detour is not None:
        return detour
    form = ConfirmationForm(user)
    if request.method == "POST":
        form = ConfirmationForm(user, request.POST)
        if form.is_valid():
            try:
                delete_user(user=user)
            except Conflict as refusal:
                form.add_error(None, refusal.message)
            else:
                logout(request)
                return redirect("account_deleted")
    context = {"form": form, "username": user.account.username}
    return show(request, "accounts/settings/deletion.html", context, status=422 if form.errors else 200)


@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    return show(request, "accounts/deleted.html", {})
