"""Pages on which people see the strikes against their account, and appeal against them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.identity.pages.steps import to_sign_in
from accounts.models import User
from accounts.pages.forms import ServiceForm
from accounts.pages.settings import counted, signed_in
from moderation.models import Strike
from moderation.models.report import APPEAL_PERIOD, APPEAL_TEXT_LIMIT
from moderation.policies.reports import may_be_appealed, opens
from moderation.policies.statements import read_statement
from moderation.queries.reports import find_strike, list_strikes
from moderation.services.strikes import file_appeal
from social.api import limits
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from social.pages.frame import show, with_query
from social.pages.once import once
from statuses.queries.statuses import list_excerpts

PAGE_SIZE = 20


class AppealForm(ServiceForm):
    text = forms.CharField(
        label=gettext_lazy("Why should the decision be undone?"),
        max_length=APPEAL_TEXT_LIMIT,
        widget=forms.Textarea({"rows": 6, "dir": "auto"}),
        help_text=gettext_lazy("A moderator will read this. You can appeal once."),
    )


@require_safe
def strikes(request: HttpRequest) -> HttpResponse:
    """`/disputes/strikes`: the strikes against the account of the signed-in user."""
    user = signed_in(request)
    page = Paginator(list_strikes(user.account_id), PAGE_SIZE).get_page(request.GET.get("page"))
    return show(request, "moderation/strikes.html", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@once
def strike(request: HttpRequest, strike_id: int) -> HttpResponse:
    """`/disputes/strikes/:id`: a strike; the person concerned must sign in, or use the key from the mail. Raises NotFound."""
    key = request.GET.get("key", "")
    disputed = _find(request, strike_id, key)
    if disputed is None:
        return to_sign_in(request, reverse("strike", args=[strike_id]))
    form = AppealForm(request.POST or None)
    if request.method == "POST":
        counted(limits.APPEALS, disputed.target_account.user)
        if form.is_valid():
            try:
                file_appeal(strike=disputed, text=form.cleaned_data["text"])
            except Invalid as refusal:
                form.add_details(refusal)
            else:
                messages.success(request, _("Your appeal has been sent. You will get an e-mail when it is decided."))
                return redirect(with_query(reverse("strike", args=[strike_id]), key=key))
    return show(request, "moderation/strike.html", _context(disputed, form), status=422 if form.errors else 200)


def _find(request: HttpRequest, strike_id: int, key: str) -> Strike | None:
    if key:
        strike = list_strikes(None).filter(id=strike_id).first() if opens(key, strike_id) else None
        if strike is None or strike.target_account.deleted_at is not None:
            raise NotFound
        return strike
    user = request.user
    return find_strike(user.account_id, strike_id) if isinstance(user, User) else None


def _context(strike: Strike, form: AppealForm) -> dict[str, Any]:
    appeal = getattr(strike, "appeal", None)
    now = clock.now()
    return {
        "strike": strike,
        "appeal": appeal,
        "reasons": read_statement(strike.statement),
        "posts": list_excerpts(strike.status_ids or (), strike.target_account_id),
        "form": form,
        "may_appeal": may_be_appealed(strike, appeal, now=now),
        "until": strike.created_at + APPEAL_PERIOD,
        "username": strike.target_account.username,
    }
