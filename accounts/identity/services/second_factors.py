"""Parts of second factors that allauth lacks: recovery codes, counters that reveal copied passkeys, and ending sessions."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.identity.policies.second_factors import CODES, digest_of, is_newer, new_code
from accounts.identity.services.mails import PASSKEY_REFUSED, RECOVERY_CODE_USED, report_security_change
from accounts.identity.services.sessions import end_sessions
from accounts.models import RecoveryCode, User


def make_recovery_codes(*, user: User) -> list[str]:
    """Replace the recovery codes and return the new codes, which are stored as digests only."""
    codes = [new_code() for _ in range(CODES)]
    with transaction.atomic():
        # The row is locked, so that only one of two concurrent calls stores its codes.
        User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        RecoveryCode.objects.filter(user=user).delete()
        rows = [RecoveryCode(user=user, digest=digest_of(code)) for code in codes]
        RecoveryCode.objects.bulk_create(rows, batch_size=CODES)
    return codes


def use_recovery_code(*, user: User, typed: str, address: str) -> bool:
    """Use up a recovery code; return whether it was valid. Only one concurrent call succeeds. Publishes SecurityChanged."""
    with transaction.atomic():
        used, _by_model = RecoveryCode.objects.filter(user=user, digest=digest_of(typed)).delete()
        if used:
            report_security_change(user=user, kind=RECOVERY_CODE_USED, address=address)
    return bool(used)


def accept_app_code(*, authenticator: Authenticator, counter: int) -> bool:
    """Accept a code of time step `counter`; return False if this or a later step was used before (RFC 6238 section 5.2)."""
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        if counter <= locked.data.get("last_counter", -1):
            return False
        _store_facts(locked, authenticator, last_counter=counter)
    return True


def store_passkey_facts(*, authenticator: Authenticator, count: int, verified: bool) -> None:
    """Store the signature counter of a new passkey, and whether it has verified its user."""
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        _store_facts(locked, authenticator, sign_count=count, verified=verified)


def accept_signature(*, authenticator: Authenticator, count: int, address: str) -> bool:
    """Store the counter of a passkey's signature; if the counter suggests a copy, send the owner a mail and return False."""
    with transaction.atomic():
        locked = Authenticator.objects.select_for_update(of=("self",)).select_related("user").get(pk=authenticator.pk)
        if not is_newer(count, locked.data.get("sign_count", 0)):
            report_security_change(user=locked.user, kind=PASSKEY_REFUSED, address=address)
            return False
        _store_facts(locked, authenticator, sign_count=count)
    return True


def factor_added(*, user: User, session_key: str | None) -> list[str]:
    """End all other sessions after a factor was added (security row 24); return new recovery codes if the user had none."""
    with transaction.atomic():
        end_sessions(user=user, except_key=session_key)
        has_codes = RecoveryCode.objects.filter(user=user).exists()
        return [] if has_codes else make_recovery_codes(user=user)


def factor_removed(*, user: User, session_key: str | None) -> None:
    """End other sessions after a factor was removed; the recovery codes are deleted with the last factor."""
    with transaction.atomic():
        end_sessions(user=user, except_key=session_key)
        if not Authenticator.objects.filter(user=user).exists():
            RecoveryCode.objects.filter(user=user).delete()


def remove_all_factors(*, user: User) -> bool:
    """Delete every second factor and recovery code; return whether there was a factor. The caller ends the sessions."""
    with transaction.atomic():
        removed, _by_model = Authenticator.objects.filter(user=user).delete()
        RecoveryCode.objects.filter(user=user).delete()
    return bool(removed)


def _store_facts(locked: Authenticator, shown: Authenticator, **facts: int | bool) -> None:
    locked.data = {**locked.data, **facts}
    locked.save(update_fields=["data"])
    shown.data = locked.data
