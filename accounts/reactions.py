"""Reactions: which event calls which service, task or query."""

from collections.abc import Callable
from typing import Any, Final

from accounts import events
from accounts.copies.services.copying import COPIES
from accounts.identity.services.activation import follow_inviters
from accounts.identity.services.confirmations import (
    send_confirmation_mails,
    send_email_change_mails,
    send_email_changed_mails,
)
from accounts.identity.services.mails import send_approval_mails, send_password_reset_mails, send_security_mails
from accounts.identity.services.tokens import forget_revoked
from accounts.models.relations import SeveranceType
from accounts.services.erasing import begin_erasure, go_on_erasing
from accounts.services.follow_requests import accept_more
from accounts.services.profile_links import verify_profile_links
from accounts.services.severing import sever_blocked_domains, sever_suspended
from accounts.transfers.services.archives import send_archive_mails, write_archives
from accounts.transfers.services.importing import work_off_imports
from accounts.transfers.services.moving import begin_carrying_over, carry_over
from social.kernel.events import on

# Handlers that send mails, each with its former module, because pending events still name the former module.
_MAILS: Final[tuple[tuple[type[Any], Callable[[Any], None], str], ...]] = (
    (events.ConfirmationRequested, send_confirmation_mails, "confirmations"),
    (events.EmailChangeRequested, send_email_change_mails, "email_changes"),
    (events.EmailChanged, send_email_changed_mails, "email_changes"),
    (events.PasswordResetRequested, send_password_reset_mails, "mails"),
    (events.SecurityChanged, send_security_mails, "mails"),
    (events.UserApproved, send_approval_mails, "mails"),
    (events.ArchiveReady, send_archive_mails, "mails"),
)
for _event, _handler, _module in _MAILS:
    _name = f"accounts.services.{_module}.{_handler.__name__}"
    # Mail servers may be slow, so a call sends few mails and has a long time-out.
    on(_event, _handler, queue="mailers", batch=5, seconds=90, name=_name)
on(
    events.UserActivated,
    follow_inviters,
    when=lambda event: event.invited,
    name="accounts.services.activation.follow_inviters",
)
# Most of these services work in steps; each step publishes the event for the next step.
on(events.AccountDeleted, begin_erasure, database=True)
on(events.AccountErasureDue, go_on_erasing, batch=1, seconds=30)
on(
    events.ArchiveDue,
    write_archives,
    queue="transfers",
    batch=1,
    seconds=600,
    name="accounts.services.archives.write_archives",
)
on(events.AccountMoved, begin_carrying_over, database=True, name="accounts.services.moving.begin_carrying_over")
on(events.CarryOverDue, carry_over, batch=1, name="accounts.services.moving.carry_over")
on(events.ImportDue, work_off_imports, queue="transfers", batch=1, name="accounts.services.importing.work_off_imports")
on(events.AccountUnlocked, accept_more, batch=1)
on(events.ProfileLinksChanged, verify_profile_links, queue="links", batch=5)
COPIES.subscribe()
on(events.DomainBlocked, sever_blocked_domains, batch=1)
# Follows of a suspended server's accounts are ended together, by `moderation`.
on(
    events.AccountSuspended,
    sever_suspended,
    batch=1,
    when=lambda event: not event.local and event.severance_type == SeveranceType.ACCOUNT_SUSPENSION,
)
# The tokens are removed from the cache once more, in case Redis was unavailable when they were revoked.
on(events.TokenRevoked, forget_revoked, name="accounts.services.tokens.forget_revoked")
