"""What follows the link in a confirmation mail: the person goes on to the application they came from."""

from __future__ import annotations

from urllib.parse import urlsplit

from allauth.account.views import ConfirmEmailView
from django.http import HttpResponse

from accounts.models import Application, User
from accounts.pages.account_state import text_of
from accounts.pages.steps import shown_name
from accounts.policies.redirects import OUT_OF_BAND
from accounts.queries.identities import find_sign_in_state
from social.pages.frame import show


class ConfirmView(ConfirmEmailView):
    """`/auth/confirm/:key`.

    In the browser that signed up the sign-in goes on where it had stopped; in others the link leads to where that was.
    Who signed up in an application is shown the way back to it.
    """

    def respond(self, success: bool) -> HttpResponse:
        """Lead on, or show what is wrong with the link."""
        user: User = self.object.email_address.user
        application = user.created_by_application
        if not success or self.get_next_url() or application is None:
            response: HttpResponse = super().respond(success)
            return response
        url = address_of(application)
        context = {
            "created_by": shown_name(application),
            "created_by_url": url,
            "standing": text_of(find_sign_in_state(user)),
        }
        response = show(self.request, "account/email_confirmed.html", context)
        if urlsplit(url).scheme not in ("http", "https", ""):
            # Opens the application by itself where the device has it; elsewhere the page stays.
            response.headers["Refresh"] = f"0; url={url}"
        return response


def address_of(application: Application) -> str:
    """What opens an application: its own scheme, else its page; empty for one that has neither.

    Its address for codes would show an error without a code if it is a page.
    """
    own = [uri for uri in application.registered_redirect_uris if uri != OUT_OF_BAND]
    for uri in own:
        if urlsplit(uri).scheme not in ("http", "https"):
            return str(uri)
    if application.website:
        return application.website
    return f"{urlsplit(own[0]).scheme}://{urlsplit(own[0]).netloc}/" if own else ""
