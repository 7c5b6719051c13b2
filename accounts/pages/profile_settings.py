"""Pages on which people change their profile and their preferences, and unsubscribe from mails (RFC 8058)."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from accounts.models.tag import FEATURED_TAGS_LIMIT
from accounts.pages.person import person
from accounts.pages.settings import signed_in
from accounts.pages.settings_forms import FeaturedTagForm, NotificationMailsForm, PreferencesForm, ProfileForm
from accounts.policies.mails import STAFF_SWITCHES, SWITCHES, signed_switch
from accounts.queries.tags import list_featured_tags
from accounts.queries.users import find_user
from accounts.services.preferences import change_preferences, end_mails
from accounts.services.profile_pictures import delete_picture
from accounts.services.profiles import update_profile
from accounts.services.tags import feature_tag, unfeature_tag
from social.api import languages
from social.kernel.errors import Invalid, NotFound
from social.pages.frame import show


@require_http_methods(["GET", "HEAD", "POST"])
def profile_settings(request: HttpRequest) -> HttpResponse:
    user = find_user(signed_in(request).pk)
    if request.method != "POST":
        return _show(request, user, ProfileForm(user.account), FeaturedTagForm())
    form = ProfileForm(user.account, request.POST, request.FILES)
    if form.is_accepted_by(lambda: update_profile(user=user, change=form.change())):
        for name in form.pictures_to_remove():
            delete_picture(account_id=user.account_id, name=name)
        messages.success(request, _("Your profile has been saved."))
        return redirect("settings_profile")
    return _show(request, user, form, FeaturedTagForm())


@require_POST
def feature(request: HttpRequest) -> HttpResponse:
    user = find_user(signed_in(request).pk)
    form = FeaturedTagForm(request.POST)
    if form.is_valid():
        try:
            feature_tag(account=user.account, name=form.cleaned_data["name"])
        except Invalid as refusal:
            form.add_error("name", refusal.message)
        else:
            return redirect("settings_profile")
    return _show(request, user, ProfileForm(user.account), form)


@require_POST
def unfeature(request: HttpRequest, featured_tag_id: int) -> HttpResponse:
    unfeature_tag(account=signed_in(request).account, featured_tag_id=featured_tag_id)
    return redirect("settings_profile")


def _show(request: HttpRequest, user: User, form: ProfileForm, tag_form: FeaturedTagForm) -> HttpResponse:
    account = user.account
    context: dict[str, Any] = {
        **person(account),
        "form": form,
        **form.sections(),
        "tag_form": tag_form,
        "header": f"{settings.MEDIA_URL}{account.header}" if account.header else "",
        "featured": list(list_featured_tags(account)),
        "most_featured": FEATURED_TAGS_LIMIT,
    }
    return show(request, "accounts/settings/profile.html", context, status=_status(form, tag_form))


def _status(*forms: Any) -> int:
    return 422 if any(form.errors for form in forms) else 200


@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    user = find_user(signed_in(request).pk)
    if request.method != "POST":
        return show(request, "accounts/settings/preferences.html", _context(PreferencesForm(user)))
    form = PreferencesForm(user, request.POST)

    @transaction.atomic
    def save() -> None:
        update_profile(user=user, change=form.profile_change())
        change_preferences(user=user, change=form.change())

    if form.is_accepted_by(save):
        return _saved(request, form)
    return show(request, "accounts/settings/preferences.html", _context(form), status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def notification_mails(request: HttpRequest) -> HttpResponse:
    """`/settings/preferences/notifications`: shows and changes which notifications are mailed."""
    user = find_user(signed_in(request).pk)
    form = NotificationMailsForm(user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        change_preferences(user=user, change=form.change())
        messages.success(request, _("Your choice has been saved."))
        return redirect("settings_notification_mails")
    context = {"form": form, "address": user.email, "refused": user.preferences.get("refused_address") == user.email}
    return show(request, "accounts/settings/notification_mails.html", context, status=_status(form))


def _context(form: PreferencesForm) -> dict[str, Any]:
    return {"form": form, **form.sections()}


def _saved(request: HttpRequest, form: PreferencesForm) -> HttpResponse:
    response = redirect("settings_preferences")
    chosen = form.cleaned_data["locale"]
    if chosen and "locale" in form.changed_data:
        # A language cookie from an earlier choice would override the saved preference.
        languages.store_in_cookie(response, chosen)
    with translation.override(chosen or translation.get_language()):
        messages.success(request, _("Your preferences have been saved."))
    return response


# The signed link is the permission, and mail programs send no CSRF token (RFC 8058 section 3.1).
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, signed: str) -> HttpResponse:
    """`/unsubscribe/<signed>`: GET asks for confirmation, because scanners open links; POST unsubscribes. Raises NotFound."""
    found = signed_switch(signed)
    if found is None:
        raise NotFound
    user_id, switch = found
    if request.method == "POST":
        end_mails(user_id=user_id, switch=switch)
    page = "settings_preferences" if switch in STAFF_SWITCHES else "settings_notification_mails"
    context = {"title": SWITCHES[switch], "ended": request.method == "POST", "choose": reverse(page)}
    return show(request, "accounts/unsubscribe.html", context)
