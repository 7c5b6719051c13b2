"""Stores an account's private notes about others, its endorsements, and its dismissed suggestions."""

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, AccountNote, DismissedSuggestion, Endorsement, Follow
from accounts.models.relations import COMMENT_LIMIT
from accounts.services.following import pair_name
from social.kernel.errors import FieldError, Invalid
from social.kernel.locks import lock


def write_note(*, account: Account, target: Account, comment: str) -> None:
    """Store a private note about `target`; a blank `comment` removes the note. Raises Invalid beyond COMMENT_LIMIT."""
    if len(comment) > COMMENT_LIMIT:
        raise Invalid.of([FieldError.too_long("comment", COMMENT_LIMIT, _("Comment"))])
    if comment.strip():
        AccountNote.objects.update_or_create(account=account, target=target, defaults={"comment": comment})
    else:
        AccountNote.objects.filter(account=account, target=target).delete()


def endorse_account(*, account: Account, target: Account) -> None:
    """Endorse `target` on the account's profile. Raises Invalid for an account that `account` does not follow."""
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        if not Follow.objects.filter(account=account, target=target).exists():
            raise Invalid.sentence(_("You must be already following the person you want to endorse"))
        Endorsement.objects.get_or_create(account=account, target=target)


def unendorse_account(*, account: Account, target: Account) -> None:
    """End the endorsement of `target`, if there is one."""
    Endorsement.objects.filter(account=account, target=target).delete()


def dismiss_suggestion(*, account_id: int, target_id: int) -> None:
    """Dismiss the suggestion of `target_id` to `account_id` for good; unknown accounts and repetitions are not errors."""
    if Account.objects.filter(id=target_id).exists():
        DismissedSuggestion.objects.get_or_create(account_id=account_id, target_id=target_id)
