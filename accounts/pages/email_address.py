"""The pages on which people change their e-mail address."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.pages.forms import NewEmailForm
from accounts.services.email_changes import address_in, cancel_email_change, change_email, request_email_change
from social.api.addresses import client_ip
from social.kernel.errors import Invalid, NotFound
from social.pages.frame import show


class ChangeEmailView(View):
    """`/auth/email`: GET shows the address and asks for another one, POST has a link sent there."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        return self._show(request, NewEmailForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        """Send the link. Raises RateLimited."""
        assert isinstance(request.user, User)
        form = NewEmailForm(request.POST)
        if form.is_valid():
            try:
                request_email_change(user=request.user, email=form.cleaned_data["email"], address=client_ip(request))
            except Invalid as refusal:
                form.add_details(refusal)
            else:
                messages.success(request, _("We have sent a mail to the new address. Open the link in it."))
                return redirect("change_email")
        return self._show(request, form)

    def _show(self, request: HttpRequest, form: NewEmailForm) -> HttpResponse:
        assert isinstance(request.user, User)
        context: dict[str, Any] = {"form": form, "email": request.user.email, "new_email": request.user.new_email}
        return show(request, "accounts/email.html", context)


@require_POST
def keep_email(request: HttpRequest) -> HttpResponse:
    """`POST /auth/email/cancel`: the address stays as it is."""
    assert isinstance(request.user, User)
    cancel_email_change(user=request.user)
    return redirect("change_email")


class ConfirmNewEmailView(View):
    """`/auth/email/confirm/:key`, the link in the mail: GET asks once more, POST changes the address.

    Only for who is signed in: a mail to a mistyped address shall not hand the account to a stranger.
    """

    def get(self, request: HttpRequest, key: str) -> HttpResponse:
        """The question, or that the link no longer works."""
        assert isinstance(request.user, User)
        try:
            email = address_in(key, user=request.user)
        except NotFound:
            return _void(request)
        return show(request, "accounts/email_confirm.html", {"email": email})

    def post(self, request: HttpRequest, key: str) -> HttpResponse:
        """Change it."""
        assert isinstance(request.user, User)
        session_key = request.session.session_key
        try:
            change_email(user=request.user, key=key, session_key=session_key, address=client_ip(request))
        except NotFound:
            return _void(request)
        messages.success(request, _("This is the e-mail address of your account now."))
        return redirect("change_email")


def _void(request: HttpRequest) -> HttpResponse:
    return show(request, "accounts/email_confirm.html", {}, status=404)
