"""Makes accounts for people who sign up."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection
from dataclasses import replace

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.events import AccountCreated, ConfirmationRequested
from accounts.models import Account, AccountStat, Application, User
from accounts.policies.sign_up import SignUpDraft, draft_errors, in_order, taken
from accounts.queries.sign_up import email_in_use, username_in_use
from social.kernel import links
from social.kernel.errors import FieldError, Forbidden, Invalid
from social.kernel.events import publish


def _taken(draft: SignUpDraft, faulty: Collection[str] = ()) -> list[FieldError]:
    """What somebody else has already; not asked of the fields that are `faulty` in themselves."""
    errors = []
    if "username" not in faulty and username_in_use(draft.username):
        errors.append(taken("username"))
    if "email" not in faulty and email_in_use(draft.email):
        errors.append(taken("email"))
    return errors


def sign_up(
    *,
    draft: SignUpDraft,
    application: Application | None = None,
    confirmed: bool | None = None,
    approved: bool | None = None,
) -> User:
    """Create account, user and e-mail address in one transaction; announces AccountCreated.

    `confirmed` and `approved` default to what CONFIRM_EMAIL and REGISTRATIONS say; given (by an operator's command)
    they also pass closed registrations and may take reserved names and addresses on `localhost`. Raises Forbidden when
    registrations are closed and Invalid with `details` (contract, parameters section 2).
    """
    # Addresses are looked up in lower case at sign-in.
    draft = replace(draft, email=draft.email.strip().lower())
    by_operator = confirmed is not None or approved is not None
    if settings.REGISTRATIONS == "closed" and not by_operator:
        raise Forbidden(_("This action is not allowed"))
    approval = settings.REGISTRATIONS == "approval" and not by_operator
    errors = draft_errors(draft, reason_required=approval)
    if by_operator:
        # Reserved names are those a stranger could pretend to be the server with; its operator is no stranger. And
        # mail may well arrive at a `localhost` that is the operator's own.
        errors = [error for error in errors if error.code not in ("ERR_RESERVED", "ERR_UNREACHABLE")]
    errors += _taken(draft, {error.field for error in errors})
    if errors:
        raise Invalid.of(in_order(errors), details=True)
    verified = confirmed if confirmed is not None else not settings.CONFIRM_EMAIL
    # Hashing takes tens of milliseconds: outside the transaction.
    password = make_password(draft.password)
    locales = {code for code, _name in settings.LANGUAGES}
    try:
        with transaction.atomic():
            account = Account.objects.create(username=draft.username, uri=links.actor_uri(draft.username))
            AccountStat.objects.create(account=account)
            user = User.objects.create(
                account=account,
                email=draft.email,
                password=password,
                locale=draft.locale if draft.locale in locales else None,
                time_zone=draft.time_zone if draft.time_zone in zoneinfo.available_timezones() else None,
                approved=approved if approved is not None else not approval,
                sign_up_reason=draft.reason,
                sign_up_ip=draft.ip,
                created_by_application=application,
            )
            EmailAddress.objects.create(user=user, email=draft.email, primary=True, verified=verified)
            publish(AccountCreated(account_id=account.id))
            if not verified:
                publish(ConfirmationRequested(user_id=user.id))
    except IntegrityError:
        # Two sign-ups for one name at the same moment: the unique index decided, the other one is told.
        errors = _taken(draft)
        if not errors:
            raise
        raise Invalid.of(in_order(errors), details=True) from None
    return user
