"""Lists the tables of federation: what came in, what goes out, and what is known of other servers."""

from federation.models.fetch import Fetch, FetchKind
from federation.models.host import Host
from federation.models.inbound import InboundActivity
from federation.models.outbound import Delivery, OutboundActivity
from federation.models.tombstone import Tombstone

__all__ = ["Delivery", "Fetch", "FetchKind", "Host", "InboundActivity", "OutboundActivity", "Tombstone"]
