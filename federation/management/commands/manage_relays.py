import json
from typing import Annotated

from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from federation.models import Relay
from federation.outbound.relaying import add_relay, remove_relay
from social.kernel.clock import iso
from social.management.base import OperatorCommand, undone_if

_Inbox = Annotated[str | None, ("metavar", "INBOX")]


class Command(OperatorCommand):
    """List the relays to which this server is subscribed, subscribe to a relay by its inbox, or end a subscription. A relay
    passes public posts on between the servers that are subscribed to it.

    add: subscribe; the operator of the relay may have to agree
    remove: end the subscription
    """

    def run(self, *, add: _Inbox = None, remove: _Inbox = None, dry_run: bool, json_: bool) -> None:
        with undone_if(dry_run):
            before = _described_relays()
            if add:
                add_relay(by=OPERATOR, inbox_url=add)
            if remove:
                remove_relay(by=OPERATOR, inbox_url=remove)
            after = _described_relays()
        if dry_run:
            removed = {
                inbox: row | {"state": "would be removed"} for inbox, row in before.items() if inbox not in after
            }
            added = {inbox: row | {"state": "would be added"} for inbox, row in after.items() if inbox not in before}
            after = before | removed | added
        if json_:
            self.stdout.write(json.dumps([*after.values()], indent=1))
            return
        for relay in after.values():
            self.stdout.write("  ".join(relay.values()))
        if not after:
            self.stdout.write(_("There are no relays."))


def _described_relays() -> dict[str, dict[str, str]]:
    return {
        relay.inbox_url: {"inbox": relay.inbox_url, "state": relay.state, "since": iso(relay.created_at)}
        for relay in Relay.objects.order_by("id")
    }
