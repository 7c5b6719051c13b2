"""Decisions about single changes that wait, with an answer for the one who decides."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from moderation.blocklists.models import BlocklistEntry, BlocklistException, EntryState
from moderation.blocklists.services.lists import add_exception
from moderation.blocklists.services.settling import approve_entries, dismiss_entries
from moderation.models import DomainRule
from social.kernel.errors import Conflict, NotFound, require_found
from social.kernel.locks import lock


def accept_entry(*, by: Staff, entry: BlocklistEntry, overwrite: bool = False) -> DomainRule:
    """Make the change that a waiting entry asks for; return the rule. A rule that is there is changed only with `overwrite`,
    and one that staff have written not by a list. Raises Forbidden, NotFound; Conflict, with the reason, if the change
    cannot be made: then the entry still waits.
    """
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        lock("domain_rules")
        rows = BlocklistEntry.objects.filter(pk=entry.pk, state=EntryState.WAITING)
        is_ruled = DomainRule.objects.filter(domain=entry.domain).exists()
        if is_ruled and not overwrite and rows.exists():
            raise Conflict(_("There is a rule for %(domain)s already.") % {"domain": entry.domain})
        if not approve_entries(by=by, entries=rows):
            raise NotFound
        settled = BlocklistEntry.objects.filter(pk=entry.pk).first()
        if settled is not None and settled.state != EntryState.IN_FORCE:
            raise Conflict(settled.note or None)
        return require_found(DomainRule.objects.filter(domain=entry.domain).first())


def dismiss_entry(*, by: Staff, entry: BlocklistEntry, protect: bool = False) -> None:
    """Refuse the change that a waiting entry asks for; with `protect` no list may block the server from now on. Publishes
    BlocklistChanged. Raises Forbidden, NotFound.
    """
    with transaction.atomic():
        lock("domain_rules")
        if not dismiss_entries(by=by, entries=BlocklistEntry.objects.filter(pk=entry.pk)):
            raise NotFound
        if protect and not BlocklistException.objects.filter(domain=entry.domain).exists():
            add_exception(by=by, domain=entry.domain)
