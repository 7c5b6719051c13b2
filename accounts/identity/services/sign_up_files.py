"""Files of blocked e-mail domains (`#domain,#allow_with_approval`) and networks (`#ip,#severity,#comment,#expires_at`).

A plain list with one value per line is accepted too, because other server programs export such lists.
"""

import ipaddress
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import UTC, datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.identity.models import BLOCK_COMMENT_LIMIT
from accounts.identity.policies.sign_up import blockable_email_domain
from accounts.identity.queries.sign_up import list_ip_blocks
from accounts.identity.services.sign_up_blocks import block_email_domains, write_network_blocks
from accounts.models import EmailDomainBlock, IpBlock, Severity
from accounts.models.user import Permission
from accounts.policies.networks import is_of_proxies, is_wide, network_of
from accounts.policies.staff import Staff
from accounts.services.block_files import BATCH, Action, BlockFile, D, Entry, Planned, WrongLine, is_true
from social.kernel import clock

_STRICTNESS: Final = {severity: place for place, severity in enumerate(Severity.values)}


class EmailDomainFile(BlockFile[bool]):
    """File of e-mail domains, each refused or allowed with approval by staff."""

    columns = ("#domain", "#allow_with_approval")
    permission = Permission.MANAGE_BLOCKS
    name_title = gettext_lazy("Domain")
    filename = "email_domain_blocks.csv"
    command = "manage.py block_sign_ups email_domain --import"

    def parse(self, values: dict[str, str]) -> tuple[str, bool]:
        written = values.get("domain", "")
        domain = blockable_email_domain(written)
        if domain is None or "." not in domain:
            raise WrongLine(_("%(domain)s is not a domain") % {"domain": written[:253] or "''"})
        return domain, bool(is_true(values.get("allow_with_approval")))

    def plan(self, entries: Sequence[Entry[bool]], *, replace: bool) -> Iterator[Planned[bool]]:
        blocks = EmailDomainBlock.objects.filter(domain__one_of=[entry.name for entry in entries])
        known = dict(blocks.values_list("domain", "allow_with_approval"))
        for entry in entries:
            if entry.name not in known:
                yield Planned(entry, "add")
            elif known[entry.name] == entry.draft:
                yield Planned(entry, "keep", _("it is blocked already"))
            else:
                yield Planned(
                    entry,
                    "keep",
                    _("it has a different block: %(block)s") % {"block": _approval_as_text(known[entry.name])},
                )

    def do(self, by: Staff, plans: Sequence[Planned[bool]]) -> Sequence[Planned[bool]]:
        known = block_email_domains(by=by, domains={plan.entry.name: plan.entry.draft for plan in plans})
        return _keep_existing(plans, known)

    def rows(self) -> Iterator[Sequence[str]]:
        blocks = EmailDomainBlock.objects.order_by("domain")
        for block in blocks.iterator(chunk_size=BATCH):
            yield block.domain, str(block.allow_with_approval).lower()

    def details(self, draft: bool) -> str:
        return _approval_as_text(draft)


def _keep_existing(plans: Sequence[Planned[D]], known: Collection[str]) -> list[Planned[D]]:
    """Return the plans; plans for `known` names, which somebody else has blocked meanwhile, get the action "keep"."""
    reason = _("it is blocked already")
    return [replaced(plan, action="keep", reason=reason) if plan.entry.name in known else plan for plan in plans]


def _approval_as_text(allow_with_approval: bool) -> str:
    return _("Need approval") if allow_with_approval else _("Refused")


@dataclass(frozen=True)
class NetworkDraft:
    """Values of a network block.

    A `comment` of None leaves the comment unchanged; `ends` tells whether the values include an `expires_at`.
    """

    severity: Severity
    comment: str | None = None
    ends: bool = False
    expires_at: datetime | None = None

    def values(self) -> dict[str, Any]:
        """Return the given values, by the names of the columns of IpBlock."""
        values: dict[str, Any] = {"severity": self.severity}
        if self.comment is not None:
            values["comment"] = self.comment
        if self.ends:
            values["expires_at"] = self.expires_at
        return values


class NetworkFile(BlockFile[NetworkDraft]):
    """File of networks; the default severity blocks sign-ups. Lines that would block `own_address` are invalid."""

    columns = ("#ip", "#severity", "#comment", "#expires_at")
    permission = Permission.MANAGE_BLOCKS
    name_title = gettext_lazy("Network")
    filename = "ip_blocks.csv"
    command = "manage.py block_sign_ups network --import"
    changes = True

    def __init__(self, own_address: str = "") -> None:
        self.own_address = own_address

    def parse(self, values: dict[str, str]) -> tuple[str, NetworkDraft]:
        written, comment = values.get("ip", ""), values.get("comment")
        severity = values.get("severity", "").lower() or Severity.SIGN_UP_BLOCK
        try:
            network = network_of(written)
        except ValueError:
            raise WrongLine(
                _("%(text)s is neither an address nor a network") % {"text": written[:64] or "''"}
            ) from None
        if severity not in Severity.values:
            raise WrongLine(_("%(severity)s is not a severity") % {"severity": severity[:64]})
        if len(comment or "") > BLOCK_COMMENT_LIMIT:
            raise WrongLine(_("its comment is longer than %(count)d characters") % {"count": BLOCK_COMMENT_LIMIT})
        if severity == Severity.NO_ACCESS and self.own_address and ipaddress.ip_address(self.own_address) in network:
            raise WrongLine(_("your own address, %(address)s, is in it") % {"address": self.own_address})
        if is_wide(network):
            raise WrongLine(_("it covers a large part of all addresses: if you mean to block it, do so separately"))
        if is_of_proxies(network):
            raise WrongLine(_("reverse proxies have such addresses: if you mean to block them, do so separately"))
        ends = "expires_at" in values
        return str(network), NetworkDraft(Severity(severity), comment, ends, _moment(values.get("expires_at", "")))

    def plan(self, entries: Sequence[Entry[NetworkDraft]], *, replace: bool) -> Iterator[Planned[NetworkDraft]]:
        blocks = IpBlock.objects.filter(network__one_of=[entry.name for entry in entries])
        known = {block.network: block for block in blocks}
        for entry in entries:
            action, reason = _decide(entry.draft, known.get(entry.name), replace=replace)
            yield Planned(entry, action, reason)

    def do(self, by: Staff, plans: Sequence[Planned[NetworkDraft]]) -> Sequence[Planned[NetworkDraft]]:
        blocks = {plan.entry.name: plan.entry.draft.values() for plan in plans}
        changing = {plan.entry.name for plan in plans if plan.action == "change"}
        return _keep_existing(plans, write_network_blocks(by=by, blocks=blocks, changing=changing))

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield the values of the blocks that have not expired."""
        for block in list_ip_blocks().order_by("first", "last").iterator(chunk_size=BATCH):
            ends = block.expires_at.astimezone(UTC).isoformat() if block.expires_at is not None else ""
            yield block.network, block.severity, block.comment, ends

    def details(self, draft: NetworkDraft) -> str:
        return str(draft.severity.label)


def _decide(draft: NetworkDraft, known: IpBlock | None, *, replace: bool) -> tuple[Action, str]:
    if known is None:
        return "add", ""
    if all(getattr(known, name) == value for name, value in draft.values().items()):
        return "keep", _("it is blocked already")
    now = known.get_severity_display()
    if replace or _STRICTNESS[draft.severity] > _STRICTNESS[known.severity]:
        return "change", _("now %(severity)s") % {"severity": now}
    return "keep", _("it has a different block: %(block)s") % {"block": now}


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WrongLine(_("%(time)s is not a time") % {"time": text[:64]}) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if moment <= clock.now():
        raise WrongLine(_("it has expired"))
    return moment
