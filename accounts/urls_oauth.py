"""The URLs of OAuth and of the account pages: JSON for machines, pages without scripts for browsers."""

from __future__ import annotations

from allauth.account import views as account_views
from allauth.mfa.base import views as mfa_views
from allauth.mfa.recovery_codes import views as recovery_views
from allauth.mfa.totp import views as totp_views
from allauth.usersessions import views as session_views
from django.urls import path, re_path

from accounts.pages.account_state import resend_confirmation
from accounts.pages.authorize import AuthorizeView, native
from accounts.pages.authorized_applications import AuthorizedApplicationView, authorized_applications
from accounts.pages.front_page import front
from accounts.pages.second_factor import ActivateAppView
from accounts.pages.sign_in import ForgottenPasswordView, SignInView, SignUpView, invitation
from accounts.pages.steps import step
from accounts.viewsets.apps import AppsViewSet
from accounts.viewsets.oauth import OAuthViewSet
from social.api.routing import endpoint
from social.pages.views import page

urlpatterns = [
    endpoint("api/v1/apps", AppsViewSet, {"post": "create"}),
    endpoint("api/v1/apps/verify_credentials", AppsViewSet, {"get": "verify_credentials"}),
    endpoint("oauth/token", OAuthViewSet, {"post": "token"}),
    endpoint("oauth/revoke", OAuthViewSet, {"post": "revoke"}),
    endpoint("oauth/userinfo", OAuthViewSet, {"get": "userinfo", "post": "userinfo"}),
    endpoint(".well-known/oauth-authorization-server", OAuthViewSet, {"get": "metadata"}),
    path("", page(front), name="front"),
    path("oauth/authorize", page(AuthorizeView.as_view(), in_popup=True), name="oauth_authorize"),
    path("oauth/authorize/native", page(native, in_popup=True), name="oauth_native"),
    path("oauth/authorized_applications", page(authorized_applications), name="oauth_authorized_applications"),
    path(
        "oauth/authorized_applications/<int:application_id>",
        page(AuthorizedApplicationView.as_view()),
        name="oauth_authorized_application",
    ),
    path("auth/sign_in", step(SignInView.as_view()), name="account_login"),
    path("auth/sign_up", step(SignUpView.as_view()), name="account_signup"),
    path("invite/<str:code>", page(invitation), name="invitation"),
    path("auth/sign_out", page(account_views.logout, in_popup=True), name="account_logout"),
    path("auth/disabled", page(account_views.account_inactive, in_popup=True), name="account_inactive"),
    path(
        "auth/confirm",
        page(account_views.email_verification_sent, in_popup=True),
        name="account_email_verification_sent",
    ),
    path("auth/confirm/again", page(resend_confirmation, in_popup=True), name="resend_confirmation"),
    re_path(r"^auth/confirm/(?P<key>[-:\w]+)$", step(account_views.confirm_email), name="account_confirm_email"),
    path("auth/password", page(account_views.password_change), name="account_change_password"),
    path("auth/password/set", page(account_views.password_set), name="account_set_password"),
    path("auth/password/reset", step(ForgottenPasswordView.as_view()), name="account_reset_password"),
    path("auth/password/reset/sent", step(account_views.password_reset_done), name="account_reset_password_done"),
    path(
        "auth/password/reset/done",
        step(account_views.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^auth/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)$",
        step(account_views.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path("auth/reauthenticate", page(account_views.reauthenticate), name="account_reauthenticate"),
    path("auth/sessions", page(session_views.list_usersessions), name="usersessions_list"),
    path("auth/second_factor", page(mfa_views.index), name="mfa_index"),
    path("auth/second_factor/sign_in", step(mfa_views.authenticate), name="mfa_authenticate"),
    path("auth/second_factor/reauthenticate", page(mfa_views.reauthenticate), name="mfa_reauthenticate"),
    path("auth/second_factor/app/activate", page(ActivateAppView.as_view()), name="mfa_activate_totp"),
    path("auth/second_factor/app/deactivate", page(totp_views.deactivate_totp), name="mfa_deactivate_totp"),
    path("auth/second_factor/codes", page(recovery_views.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "auth/second_factor/codes/generate",
        page(recovery_views.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "auth/second_factor/codes/download",
        page(recovery_views.download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
]
