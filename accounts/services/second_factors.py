"""Keeps second factors: recovery codes, the counters that refuse a copy, and what a change of factors ends.

allauth keeps the factors themselves; what it lacks is here.
"""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.models import RecoveryCode, User
from accounts.policies.second_factors import CODES, digest_of, is_newer, new_code
from accounts.services.mails import PASSKEY_REFUSED, RECOVERY_CODE_USED, report_security_change
from accounts.services.sessions import end_sessions


def make_recovery_codes(*, user: User) -> list[str]:
    """New codes in place of the old ones; they can be read here and never again."""
    codes = [new_code() for _ in range(CODES)]
    with transaction.atomic():
        # Two at the same moment: the codes that are kept are those of one of them.
        User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        RecoveryCode.objects.filter(user=user).delete()
        rows = [RecoveryCode(user=user, digest=digest_of(code)) for code in codes]
        RecoveryCode.objects.bulk_create(rows, batch_size=CODES)
    return codes


def use_recovery_code(*, user: User, typed: str, address: str) -> bool:
    """Tell whether this is a code of the user that has not been used; now it has been. Announces SecurityChanged.

    Two at the same moment with the same code: one of them deletes the row.
    """
    with transaction.atomic():
        used, _by_model = RecoveryCode.objects.filter(user=user, digest=digest_of(typed)).delete()
        if used:
            report_security_change(user=user, kind=RECOVERY_CODE_USED, address=address)
    return bool(used)


def accept_app_code(*, authenticator: Authenticator, counter: int) -> bool:
    """Tell whether this code of an authenticator app, of this step of time, is newer than the last one that was taken.

    No code is taken twice (RFC 6238 section 5.2).
    """
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        if counter <= locked.data.get("last_counter", -1):
            return False
        _keep(locked, authenticator, last_counter=counter)
    return True


def keep_passkey(*, authenticator: Authenticator, count: int, verified: bool) -> None:
    """Keep of a new passkey where its signature counter stands, and whether it has verified who uses it."""
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        _keep(locked, authenticator, sign_count=count, verified=verified)


def accept_signature(*, authenticator: Authenticator, count: int, address: str) -> bool:
    """Tell whether a signature of a passkey is not that of a copy; its counter is the last one from now on.

    Refused ones are reported to the owner. Announces SecurityChanged.
    """
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update(of=("self",)).select_related("user").get(pk=authenticator.pk)
        if not is_newer(count, locked.data.get("sign_count", 0)):
            report_security_change(user=locked.user, kind=PASSKEY_REFUSED, address=address)
            return False
        _keep(locked, authenticator, sign_count=count)
    return True


def factor_added(*, user: User, session_key: str | None) -> list[str]:
    """Ends all sessions but the one that added the factor (security row 24).

    Returns recovery codes where there are none yet.
    """
    with transaction.atomic():
        end_sessions(user=user, except_key=session_key)
        has_codes = RecoveryCode.objects.filter(user=user).exists()
        return [] if has_codes else make_recovery_codes(user=user)


def factor_removed(*, user: User, session_key: str | None) -> None:
    """Ends other sessions after a factor was removed; codes go with the last factor."""
    with transaction.atomic():
        end_sessions(user=user, except_key=session_key)
        if not Authenticator.objects.filter(user=user).exists():
            RecoveryCode.objects.filter(user=user).delete()


def remove_all_factors(*, user: User) -> bool:
    """Take every second factor and recovery code away; whether there was one. Sessions are for the caller to end."""
    with transaction.atomic():
        removed, _by_model = Authenticator.objects.filter(user=user).delete()
        RecoveryCode.objects.filter(user=user).delete()
    return bool(removed)


def _keep(locked: Authenticator, shown: Authenticator, **facts: int | bool) -> None:
    locked.data = {**locked.data, **facts}
    locked.save(update_fields=["data"])
    shown.data = locked.data
