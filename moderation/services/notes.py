"""Notes of staff about accounts, visible to staff only."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from moderation.models import StaffNote
from moderation.models.note import NOTE_LIMIT
from social.kernel.errors import FieldError, Invalid, require_found

_WRITERS: Final = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS


def write_note(*, by: Staff, account: Account, text: str) -> StaffNote:
    """Store a note about an account for colleagues. Raises Forbidden; Invalid for an empty or too long text."""
    require(by, _WRITERS)
    stripped = text.strip()
    if not stripped:
        raise Invalid.of([FieldError("text", "ERR_BLANK", _("can't be blank"))])
    if len(stripped) > NOTE_LIMIT:
        message = _("is too long (maximum is %(count)d characters)") % {"count": NOTE_LIMIT}
        raise Invalid.of([FieldError("text", "ERR_TOO_LONG", message)])
    with transaction.atomic():
        note = StaffNote(account=account, author_id=by.account_id, text=stripped)
        note.save(force_insert=True)
        record_about(by, "write_note", account)
    return note


def remove_note(*, by: Staff, note_id: int) -> None:
    """Remove a note; its text stays in the audit log. Raises Forbidden, NotFound."""
    require(by, _WRITERS)
    with transaction.atomic():
        found = StaffNote.objects.select_for_update(of=("self",)).select_related("account").filter(id=note_id).first()
        note = require_found(found)
        record_about(by, "remove_note", note.account, text=note.text)
        note.delete()
