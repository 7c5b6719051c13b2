"""The URLs for signing in through issuers."""

from functools import partial

from allauth.socialaccount.providers.base.constants import AuthProcess
from django.urls import path

from accounts.identity.pages.steps import step
from accounts.issuers.adapter import REAUTHENTICATE
from accounts.issuers.pages import IssuerSignUpView, again, begin, callback, identities, sign_out, unlink
from accounts.pages.settings import settings_page
from social.pages.views import page

_link = partial(begin, process=AuthProcess.CONNECT)
_again = partial(begin, process=REAUTHENTICATE)
urlpatterns = [
    path("auth/sign_out", page(sign_out, in_popup=True), name="account_logout"),
    path("auth/with/<slug:issuer_id>", step(begin), name="issuer_begin"),
    path("auth/with/<slug:provider_id>/callback", page(callback, in_popup=True), name="openid_connect_callback"),
    path("auth/with", step(IssuerSignUpView.as_view()), name="socialaccount_signup"),
    path("auth/identities", settings_page(identities), name="identities"),
    path("auth/identities/again", settings_page(again), name="identity_again"),
    path("auth/identities/again/<slug:issuer_id>", settings_page(_again), name="begin_again"),
    path("auth/identities/<int:identity_id>/unlink", settings_page(unlink, asks_again=True), name="unlink_identity"),
    path("auth/identities/link/<slug:issuer_id>", settings_page(_link, asks_again=True), name="link_identity"),
]
