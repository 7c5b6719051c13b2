"""Drafts of rules (entries without a list), which other staff approve. Lists never change rules made from drafts."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about, record_each
from moderation.blocklists.models import BlocklistEntry, EntryState, EntryStep
from moderation.models import DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies.domain_rules import DomainRuleDraft, domain_elsewhere
from moderation.services.domain_rules import write_rules
from social.kernel.errors import FieldError, Invalid
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.locks import lock


def draft_rule(
    *, by: Staff, domain: str, obfuscate: bool = False, public_comment: str = "", private_comment: str = ""
) -> BlocklistEntry:
    """Store the draft of a rule that suspends a server; the draft then waits for approval. Raises Forbidden, and Invalid for a
    name that is not another server's domain or already has a draft, and for a comment that is too long.
    """
    require(by, Permission.MANAGE_FEDERATION)
    name = domain_elsewhere(domain)
    errors = [FieldError.invalid("domain")] if name is None else []
    for field, text, limit in (
        ("public_comment", public_comment, DOMAIN_COMMENT_LIMIT),
        ("private_comment", private_comment, MESSAGE_LIMIT),
    ):
        if len(text) > limit:
            errors.append(FieldError.too_long(field, limit))
    if name is None or errors:
        raise Invalid.of(errors)
    with transaction.atomic():
        lock("domain_rules")
        if BlocklistEntry.objects.filter(blocklist=None, domain=name).exists():
            raise Invalid.of([FieldError.taken("domain")])
        is_ruled = DomainRule.objects.filter(domain=name).exists()
        entry = BlocklistEntry.objects.create(
            domain=name,
            severity=DomainSeverity.SUSPEND,
            obfuscate=obfuscate,
            comment=public_comment,
            note=private_comment,
            state=EntryState.WAITING,
            step=EntryStep.CHANGE if is_ruled else EntryStep.BLOCK,
        )
        record_about(by, "draft", entry)
    return entry


def write_drafts(by: Staff, entries: Sequence[BlocklistEntry]) -> None:
    """Make rules from these drafts, or change the existing rules for their servers, and delete the drafts. Rules for parent
    domains cannot prevent this, because no rule is stricter than a draft, which always suspends its server. Must run inside a
    transaction that holds the lock of the rules.
    """
    drafts = {
        entry.domain: DomainRuleDraft(
            entry.severity,
            obfuscate=entry.obfuscate,
            public_comment=entry.comment or None,
            private_comment=entry.note or None,
        )
        for entry in entries
    }
    ruled = DomainRule.objects.filter(domain__one_of=list(drafts)).values_list("domain", flat=True)
    write_rules(by=by, drafts=drafts, changing=set(ruled))
    BlocklistEntry.objects.filter(id__one_of=[entry.pk for entry in entries]).delete()


def remove_drafts(by: Staff, entries: Sequence[BlocklistEntry]) -> None:
    """Delete these drafts. Must run inside a transaction."""
    targets = [(entry.pk, entry.domain) for entry in entries]
    record_each(by=by, action="remove_draft", target_type="BlocklistEntry", targets=targets)
    BlocklistEntry.objects.filter(id__one_of=[number for number, _domain in targets]).delete()
