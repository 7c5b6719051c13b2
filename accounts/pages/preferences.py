"""The page on which people say how they read and post."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.pages.settings import signed_in
from accounts.pages.settings_forms import PreferencesForm
from accounts.queries.users import find_user
from accounts.services.preferences import change_preferences
from accounts.services.profiles import update_profile
from social.api import languages
from social.kernel.errors import Invalid
from social.pages.frame import show


@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    """`/settings/preferences`."""
    user = find_user(signed_in(request).pk)
    if request.method != "POST":
        return show(request, "accounts/settings/preferences.html", _context(PreferencesForm(user)))
    form = PreferencesForm(user, request.POST)
    if form.is_valid():
        try:
            with transaction.atomic():
                update_profile(user=user, change=form.profile_change())
                change_preferences(user=user, change=form.change())
        except Invalid as refusal:
            form.add_details(refusal)
        else:
            return _saved(request, form)
    return show(request, "accounts/settings/preferences.html", _context(form), status=422)


def _context(form: PreferencesForm) -> dict[str, Any]:
    return {"form": form, **{name: form.section(name) for name in form.parts}}


def _saved(request: HttpRequest, form: PreferencesForm) -> HttpResponse:
    response = redirect("settings_preferences")
    chosen = form.cleaned_data["locale"]
    if chosen and "locale" in form.changed_data:
        # The cookie of a choice made on some page before would count more than this one.
        languages.keep(response, chosen)
    with translation.override(chosen or translation.get_language()):
        messages.success(request, _("Your preferences have been saved."))
    return response
