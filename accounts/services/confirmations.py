"""Asks people to show that an e-mail address is theirs (contract, behaviours sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.db import transaction
from django.urls import reverse

from accounts.events import ConfirmationRequested
from accounts.models import User
from accounts.services.mails import Letter, send_all
from social.api import gate
from social.api.limits import limited, refuse_exceeded
from social.kernel import links
from social.kernel.events import publish


def request_confirmation(*, user: User, address: str) -> None:
    """Have the confirmation mail sent (again). Announces ConfirmationRequested; the mail leaves after the commit.

    `address` is the rate key of whoever asks. Raises RateLimited beyond 25 in 5 minutes per address or 5 in 30 minutes
    per user.
    """
    by_address, by_user = limited("confirmations")
    counts = [gate.count(by_address, address=address), gate.count(by_user, subject=str(user.pk))]
    refuse_exceeded([count for count in counts if count is not None])
    with transaction.atomic():
        publish(ConfirmationRequested(user_id=user.pk))


def confirmation_url(address: EmailAddress) -> str:
    """The absolute link that confirms an address: signed, good for three days and until the address is confirmed."""
    return links.web_url(reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key]))


def send_confirmation_mails(events: Sequence[ConfirmationRequested]) -> None:
    """The reaction to ConfirmationRequested: a mail to those who still have not confirmed. Raises Unavailable."""
    waiting = EmailAddress.objects.select_related("user__account").filter(
        user_id__one_of={event.user_id for event in events}, primary=True, verified=False
    )
    send_all(
        Letter(address.user, address.email, "confirmation", {"link": confirmation_url(address)})
        for address in waiting.order_by("pk")
    )
