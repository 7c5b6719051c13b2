"""The form in which signed-in people write posts, replies and quotes."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.pages.forms import ServiceForm
from accounts.pages.member import back, back_path
from accounts.pages.settings import signed_in
from accounts.pages.settings_forms import VISIBILITIES
from accounts.policies.visibility import default_visibility
from social.api import limits
from social.kernel.errors import Invalid, NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input
from social.pages.frame import show
from statuses.pages.acts import counted_all
from statuses.pages.posts import load_shown, reader_of
from statuses.services.composing import Draft
from statuses.services.publishing import publish_status


class PostForm(ServiceForm):
    """Form for a post without files."""

    text = forms.CharField(label=gettext_lazy("Text"), widget=forms.Textarea({"rows": 6, "dir": "auto"}))
    spoiler_text = forms.CharField(
        label=gettext_lazy("Content warning"), required=False, widget=forms.TextInput({"dir": "auto"})
    )
    visibility = forms.ChoiceField(
        label=gettext_lazy("Who may read it"),
        choices=[*VISIBILITIES.items(), ("direct", gettext_lazy("Only people whom it mentions"))],
    )
    # Idempotency key: a form that is sent twice creates one post.
    key = forms.CharField(widget=forms.HiddenInput, max_length=100)

    def publish(self, user: User, **values: Any) -> bool:
        """Publish the post of a valid form, and return whether it was published. Errors are shown beside the fields."""
        if not self.is_valid():
            return False
        draft_values: dict[str, Any] = {
            name: clean_input(self.cleaned_data[name]) for name in ("text", "spoiler_text", "visibility")
        }
        try:
            publish_status(
                author=user.account, draft=Draft(**draft_values, **values), idempotency_key=self.cleaned_data["key"]
            )
        except Invalid as refusal:
            self.add_details(refusal)
            return False
        return True


def initial_of(user: User, text: str = "", visibility: str = "public") -> dict[str, str]:
    """Return the initial values of a form; `visibility` is the parent's visibility, which the default visibility of a
    reply does not exceed.
    """
    own = default_visibility(user.default_privacy, locked=user.account.locked)
    return {"text": text, "visibility": visibility if own == "public" else own, "key": secrets.token_urlsafe(16)}


@require_http_methods(["GET", "HEAD", "POST"])
def write(request: HttpRequest) -> HttpResponse:
    """`/write`: the form, also for a reply (`reply_to`) or a quote (`quote`). Raises NotFound for a post that the reader may
    not see.
    """
    user = signed_in(request)
    values = request.POST if request.method == "POST" else request.GET
    parent = _found(values.get("reply_to", ""), user)
    quoted = _found(values.get("quote", ""), user)
    text, visibility = values.get("text", ""), "public"
    if parent is not None:
        visibility = parent["visibility"]
        text = text or _mentions(parent, user)
    form = PostForm(request.POST if request.method == "POST" else None, initial=initial_of(user, text, visibility))
    if request.method == "POST":
        counted_all(limits.family("statuses"), user)
        numbers = {
            "in_reply_to_id": parent["number"] if parent is not None else None,
            "quoted_status_id": quoted["number"] if quoted is not None else None,
        }
        if form.publish(user, **{name: value for name, value in numbers.items() if value is not None}):
            messages.success(
                request, _("Your reply has been published.") if parent else _("Your post has been published.")
            )
            return (
                back(request, f"post-{parent['number']}" if parent else "") if "next" in request.POST else redirect("/")
            )
    context = {"form": form, "parent": parent, "quoted": quoted, "next": back_path(request)}
    return show(request, "statuses/write.html", context, status=422 if form.errors else 200)


def _found(number: str, user: User) -> dict[str, Any] | None:
    if not number:
        return None
    for post in load_shown([parse_id(number) or 0], reader_of(user, "")):
        return post
    raise NotFound


def _mentions(parent: dict[str, Any], user: User) -> str:
    """Return the addresses with which a reply begins: the author of the parent, and whom it mentions."""
    people = [parent["account"]["acct"], *(mention["acct"] for mention in parent["mentions"])]
    own = user.account.acct
    return "".join(f"@{acct} " for acct in dict.fromkeys(people) if acct != own)
