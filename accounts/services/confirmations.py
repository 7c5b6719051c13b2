"""Asks people to show that an e-mail address is theirs (contract, behaviours sections 4 and 6)."""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Sequence

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.events import ConfirmationRequested
from accounts.models import User
from social.api import gate
from social.api.limits import limited, refuse_exceeded
from social.kernel import links
from social.kernel.events import publish

logger = logging.getLogger(__name__)


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
    """The reaction to ConfirmationRequested: a mail to those who still have not confirmed, each in their language.

    A mail may come twice when the mail server fails halfway. Raises OSError when it does not answer: the outbox tries
    again later. An address that it refuses for good is left alone.
    """
    waiting = EmailAddress.objects.select_related("user__account").filter(
        user_id__in={event.user_id for event in events}, primary=True, verified=False
    )
    mails = [_confirmation_mail(address) for address in waiting.order_by("pk")]
    if not mails:
        return
    # Opened before anything is sent: a dead mail server fails the whole batch without a single mail sent twice.
    with get_connection() as connection:
        for mail in mails:
            try:
                connection.send_messages([mail])
            except smtplib.SMTPRecipientsRefused as refused:
                logger.warning("the mail server refuses an address: %s", refused.recipients)


def _confirmation_mail(address: EmailAddress) -> EmailMessage:
    user = address.user
    with translation.override(user.locale or settings.LANGUAGE_CODE):
        context = {
            "username": user.account.username,
            "address": f"@{user.account.username}@{settings.LOCAL_DOMAIN}",
            "link": confirmation_url(address),
        }
        subject = _("Confirm your address for %(domain)s") % {"domain": settings.LOCAL_DOMAIN}
        return EmailMessage(subject, render_to_string("mail/confirmation.txt", context), to=[address.email])
