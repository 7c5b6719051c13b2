"""Pages on which people change their e-mail address, and the page behind the link in a confirmation mail."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.views import ConfirmEmailView
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.identity.pages.account_state import text_of
from accounts.identity.pages.forms import NewEmailForm
from accounts.identity.pages.steps import shown_name
from accounts.identity.policies.authorization import OUT_OF_BAND
from accounts.identity.queries.tokens import find_sign_in_state
from accounts.identity.services.captcha import is_solved
from accounts.identity.services.confirmations import address_in, cancel_email_change, change_email, request_email_change
from accounts.models import Application, User
from accounts.pages.settings import signed_in
from social.api.addresses import client_ip
from social.kernel.errors import NotFound, Unavailable
from social.pages.frame import allow_widget, show


class ChangeEmailView(View):
    """`/auth/email`: GET shows the e-mail address and a form, POST requests a mail with a link for confirming a new address."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(request, NewEmailForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        """Request the mail with the confirmation link. Raises RateLimited."""
        form, user = NewEmailForm(request.POST), signed_in(request)
        if form.is_accepted_by(
            lambda: request_email_change(user=user, email=form.cleaned_data["email"], address=client_ip(request))
        ):
            messages.success(request, _("We have sent an e-mail to the new address. Open the link in it."))
            return redirect("change_email")
        return self._show(request, form)

    def _show(self, request: HttpRequest, form: NewEmailForm) -> HttpResponse:
        user = signed_in(request)
        context = {"form": form, "email": user.email, "new_email": user.new_email}
        return show(request, "accounts/email.html", context)


@require_POST
def keep_email(request: HttpRequest) -> HttpResponse:
    """`POST /auth/email/cancel`: cancels the change of the address."""
    cancel_email_change(user=signed_in(request))
    return redirect("change_email")


class ConfirmNewEmailView(View):
    """`/auth/email/confirm/:key`, the link in the mail: GET asks for confirmation, POST changes the address.

    The person must be signed in, because the mail may have been sent to a stranger whose address was typed by mistake.
    """

    def get(self, request: HttpRequest, key: str) -> HttpResponse:
        try:
            email = address_in(key, user=signed_in(request))
        except NotFound:
            return _invalid_link(request)
        return show(request, "accounts/email_confirm.html", {"email": email})

    def post(self, request: HttpRequest, key: str) -> HttpResponse:
        user, session_key = signed_in(request), request.session.session_key
        try:
            change_email(user=user, key=key, session_key=session_key, address=client_ip(request))
        except NotFound:
            return _invalid_link(request)
        messages.success(request, _("This is now the e-mail address of your account."))
        return redirect("change_email")


def _invalid_link(request: HttpRequest) -> HttpResponse:
    return show(request, "accounts/email_confirm.html", {}, status=404)


class ConfirmView(ConfirmEmailView):
    """`/auth/confirm/:key`: the link in the mail after a sign-up.

    After the confirmation, the sign-in that was waiting for it continues; people who signed up in an application get a link
    back to the application. If the server has a captcha, people must solve it first, unless their invitation is for a limited
    number of people.
    """

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self._needs_captcha():
            return self._show_captcha("", 200)
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self._needs_captcha():
            try:
                if not is_solved(request.POST.get("h-captcha-response", "")):
                    return self._show_captcha(_("The check was not passed. Please try again."), 422)
            except Unavailable as failure:
                return self._show_captcha(failure.message, 503)
        return super().post(request, *args, **kwargs)

    def _needs_captcha(self) -> bool:
        if settings.CAPTCHA is None:
            return False
        try:
            self.object = self.get_object()
        except Http404:
            return False
        user: User = self.object.email_address.user
        limited = user.invite is not None and user.invite.max_uses is not None
        return user.activated_at is None and not self.object.email_address.verified and not limited

    def _show_captcha(self, problem: str, status: int) -> HttpResponse:
        captcha = settings.CAPTCHA
        assert captcha is not None  # the caller has checked that there is a captcha
        host = urlsplit(captcha.script_url).hostname
        context = self.get_context_data() | {"captcha": captcha, "captcha_host": host, "problem": problem}
        response = show(self.request, "account/captcha.html", context, status=status)
        return allow_widget(response, captcha.sources)

    def respond(self, success: bool) -> HttpResponse:
        user: User = self.object.email_address.user
        application = user.created_by_application
        if not success or self.get_next_url() or application is None:
            return super().respond(success)
        url = address_of(application)
        context = {
            "created_by": shown_name(application),
            "created_by_url": url,
            "standing": text_of(find_sign_in_state(user)),
        }
        response = show(self.request, "account/email_confirmed.html", context)
        if urlsplit(url).scheme not in ("http", "https", ""):
            # Opens the application if it is installed on the device; otherwise this page stays open.
            response.headers["Refresh"] = f"0; url={url}"
        return response


def address_of(application: Application) -> str:
    """Return the address that opens an application; empty if there is none.

    The address is the first of these that exists: a redirect URI with a custom scheme, the website, the origin of the first
    redirect URI (the whole URI would show an error).
    """
    own = [uri for uri in application.registered_redirect_uris if uri != OUT_OF_BAND]
    for uri in own:
        if urlsplit(uri).scheme not in ("http", "https"):
            return str(uri)
    if application.website:
        return application.website
    return f"{urlsplit(own[0]).scheme}://{urlsplit(own[0]).netloc}/" if own else ""
