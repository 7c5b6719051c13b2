"""The page on which people invite others."""

from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.identity.queries.sign_up import list_invites
from accounts.identity.services.activation import create_invite, expire_invite
from accounts.models import User
from accounts.models.user import Permission
from accounts.pages.settings import counted, signed_in
from accounts.pages.settings_forms import InvitationForm
from accounts.policies.staff import require, staff_of
from social.api import limits
from social.kernel import links
from social.pages.frame import show
from social.pages.once import once

PAGE_SIZE = 20


@require_http_methods(["GET", "HEAD", "POST"])
@once
def invitations(request: HttpRequest) -> HttpResponse:
    """`/invites`: lists a user's invitations and creates new ones. Raises Forbidden for a user who may not invite."""
    user = signed_in(request)
    require(staff_of(user), Permission.INVITE_USERS)
    form = InvitationForm()
    if request.method == "POST":
        counted(limits.INVITATIONS, user)
        form = InvitationForm(request.POST)
        if form.is_accepted_by(lambda: _create(user, form)):
            return redirect("invitations")
    pages = Paginator(list_invites(user), PAGE_SIZE)
    page = pages.get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "form": form,
        "invites": [
            {"invite": invite, "url": links.web_url(reverse("invitation", args=[invite.code]))} for invite in page
        ],
        "page": page,
    }
    return show(request, "accounts/settings/invitations.html", context, status=422 if form.errors else 200)


def _create(user: User, form: InvitationForm) -> None:
    sent = form.cleaned_data
    create_invite(
        by=staff_of(user),
        inviter=user,
        max_uses=int(sent["max_uses"]) if sent["max_uses"] else None,
        expires_in=timedelta(seconds=int(sent["expires_in"])) if sent["expires_in"] else None,
        autofollow=sent["autofollow"],
        comment=sent["comment"],
    )


@require_POST
def expire(request: HttpRequest, invite_id: int) -> HttpResponse:
    user = signed_in(request)
    expire_invite(by=staff_of(user), inviter=user, invite_id=invite_id)
    return redirect("invitations")
