"""The settings page for the automatic deletion of old posts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.pages.forms import ServiceForm, check_field
from accounts.pages.settings import Entry, add_entry, signed_in
from social.pages.frame import show
from statuses.services.retention import AGES, COUNT_LIMIT, RetentionDraft, change_retention, find_retention

_AGES = {
    7: gettext_lazy("1 week"),
    14: gettext_lazy("2 weeks"),
    30: gettext_lazy("1 month"),
    60: gettext_lazy("2 months"),
    90: gettext_lazy("3 months"),
    180: gettext_lazy("6 months"),
    365: gettext_lazy("1 year"),
    730: gettext_lazy("2 years"),
}


def _number(label: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        max_value=COUNT_LIMIT,
        help_text=gettext_lazy("Leave it empty to delete posts regardless of this number."),
    )


class RetentionForm(ServiceForm):
    """Form for the automatic deletion of the user's old posts."""

    enabled = check_field(gettext_lazy("Delete my old posts"))
    min_age = forms.TypedChoiceField(
        label=gettext_lazy("Delete posts older than"), coerce=int, choices=[(days, _AGES[days]) for days in AGES]
    )
    keep_pinned = check_field(gettext_lazy("Keep pinned posts"))
    keep_direct = check_field(gettext_lazy("Keep private mentions"))
    keep_favourited = check_field(gettext_lazy("Keep posts that I have favourited"))
    keep_bookmarked = check_field(gettext_lazy("Keep posts that I have bookmarked"))
    keep_media = check_field(gettext_lazy("Keep posts with media"))
    keep_polls = check_field(gettext_lazy("Keep polls"))
    min_favourites = _number(gettext_lazy("Keep posts with at least this many favourites"))
    min_reblogs = _number(gettext_lazy("Keep posts with at least this many boosts"))

    def exceptions(self) -> list[forms.BoundField]:
        """Return the fields for exceptions from deletion."""
        return [self[name] for name in self.fields if name.startswith(("keep_", "min_favourites", "min_reblogs"))]


@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: HttpRequest) -> HttpResponse:
    """`/settings/old_posts`."""
    account_id = signed_in(request).account_id
    form = RetentionForm(request.POST or None, initial=find_retention(account_id))

    def save() -> None:
        change_retention(account_id=account_id, draft=RetentionDraft(**form.cleaned_data))

    if request.method == "POST" and form.is_accepted_by(save):
        messages.success(request, _("Your choice has been saved."))
        return redirect("settings_old_posts")
    return show(request, "statuses/retention.html", {"form": form}, status=422 if form.errors else 200)


def register_entry() -> None:
    """Add the page to the navigation of the settings."""
    add_entry("settings_delete", Entry("settings_old_posts", gettext_lazy("Delete old posts")))
