"""The URLs of OAuth and of the account pages: JSON for machines, pages for browsers."""

from http import HTTPStatus

from allauth.account import views as account_views
from allauth.mfa.base import views as mfa_views
from django.urls import path, re_path

from accounts.identity.pages import sign_in
from accounts.identity.pages.account_state import resend_confirmation
from accounts.identity.pages.authorize import AuthorizeView, native
from accounts.identity.pages.email_address import ChangeEmailView, ConfirmNewEmailView, ConfirmView, keep_email
from accounts.identity.pages.second_factor import (
    ActivateAppView,
    AddPasskeyView,
    DeactivateAppView,
    PasskeyAgainView,
    PasskeySignInView,
    RecoveryCodesView,
    RemovePasskeyView,
    RenamePasskeyView,
    SecondFactorView,
    overview,
)
from accounts.identity.pages.sessions import AuthorizedApplicationView, SessionsView, authorized_applications, end_one
from accounts.identity.pages.sign_in import recover
from accounts.identity.pages.steps import step
from accounts.identity.viewsets import AppsViewSet, OAuthViewSet
from accounts.pages.front_page import front
from accounts.pages.settings import settings_page
from social.api.routing import endpoint
from social.pages.views import page, with_script

urlpatterns = [
    endpoint("api/v1/apps", AppsViewSet, {"post": "create"}),
    endpoint("api/v1/apps/verify_credentials", AppsViewSet, {"get": "verify_credentials"}),
    endpoint("oauth/token", OAuthViewSet, {"post": "token"}),
    endpoint("oauth/revoke", OAuthViewSet, {"post": "revoke"}),
    endpoint("oauth/introspect", OAuthViewSet, {"post": "introspect"}),
    endpoint("oauth/token/info", OAuthViewSet, {"get": "token_info"}),
    endpoint("oauth/userinfo", OAuthViewSet, {"get": "userinfo", "post": "userinfo"}),
    endpoint(".well-known/oauth-authorization-server", OAuthViewSet, {"get": "metadata"}),
    path("", page(front), name="front"),
    # Clients that authorize by following redirects expect 302, which Mastodon sends.
    path(
        "oauth/authorize",
        page(AuthorizeView.as_view(), in_popup=True, after_form=HTTPStatus.FOUND),
        name="oauth_authorize",
    ),
    path("oauth/authorize/native", page(native, in_popup=True), name="oauth_native"),
    path("oauth/authorized_applications", settings_page(authorized_applications), name="oauth_authorized_applications"),
    path(
        "oauth/authorized_applications/<int:application_id>",
        settings_page(AuthorizedApplicationView.as_view()),
        name="oauth_authorized_application",
    ),
    path("auth/sign_in", step(with_script(sign_in.SignInView.as_view())), name="account_login"),
    path("auth/sign_up", step(sign_in.SignUpView.as_view()), name="account_signup"),
    path("invite/<str:code>", page(sign_in.invitation), name="invitation"),
    path("auth/disabled", page(account_views.account_inactive, in_popup=True), name="account_inactive"),
    path(
        "auth/confirm",
        page(sign_in.check_mailbox, in_popup=True),
        name="account_email_verification_sent",
    ),
    path("auth/confirm/again", page(resend_confirmation, in_popup=True), name="resend_confirmation"),
    re_path(r"^auth/confirm/(?P<key>[-:\w]+)$", step(ConfirmView.as_view()), name="account_confirm_email"),
    path("auth/password", settings_page(account_views.password_change), name="account_change_password"),
    path("auth/email", settings_page(ChangeEmailView.as_view(), asks_again=True), name="change_email"),
    path("auth/email/cancel", settings_page(keep_email), name="keep_email"),
    re_path(
        r"^auth/email/confirm/(?P<key>[-:\w]+)$", settings_page(ConfirmNewEmailView.as_view()), name="confirm_new_email"
    ),
    path(".well-known/change-password", sign_in.change_password_page),
    path("auth/password/set", settings_page(account_views.password_set, asks_again=True), name="account_set_password"),
    path("auth/recover/<str:token>", page(recover, in_popup=True), name="recover"),
    path("auth/password/reset", step(sign_in.ForgottenPasswordView.as_view()), name="account_reset_password"),
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
    path("auth/sessions", settings_page(SessionsView.as_view()), name="usersessions_list"),
    path("auth/sessions/<int:session_id>", settings_page(end_one), name="end_session"),
    path("auth/second_factor", settings_page(overview), name="mfa_index"),
    path("auth/second_factor/sign_in", step(with_script(SecondFactorView.as_view())), name="mfa_authenticate"),
    path("auth/second_factor/reauthenticate", page(mfa_views.reauthenticate), name="mfa_reauthenticate"),
    path("auth/second_factor/app/activate", settings_page(ActivateAppView.as_view()), name="mfa_activate_totp"),
    path("auth/second_factor/app/deactivate", settings_page(DeactivateAppView.as_view()), name="mfa_deactivate_totp"),
    path(
        "auth/second_factor/codes", settings_page(RecoveryCodesView.as_view(), asks_again=True), name="recovery_codes"
    ),
    path("auth/passkeys/add", settings_page(with_script(AddPasskeyView.as_view())), name="mfa_add_webauthn"),
    path("auth/passkeys/<int:pk>", settings_page(RenamePasskeyView.as_view()), name="mfa_edit_webauthn"),
    path("auth/passkeys/<int:pk>/remove", settings_page(RemovePasskeyView.as_view()), name="mfa_remove_webauthn"),
    path("auth/passkeys/sign_in", step(PasskeySignInView.as_view()), name="mfa_login_webauthn"),
    path(
        "auth/passkeys/reauthenticate",
        page(with_script(PasskeyAgainView.as_view())),
        name="mfa_reauthenticate_webauthn",
    ),
]
