from collections.abc import Sequence
from typing import Annotated

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from accounts.queries.servers import load_names
from federation.models import Delivery
from federation.outbound.queueing import retry_host
from federation.remote.servers import load_servers
from social.kernel.text.names import normalise_domain
from social.management.base import Limit, OperatorCommand


class Command(OperatorCommand):
    """List known servers with their accounts, follows in both directions, posts, deliveries and failures, or contact failing
    servers again.

    domains: only these servers
    failing: only servers that fail
    limit: at most this many, by name (%(default)s)
    retry: contact the named servers again, and deliver what was given up
    """

    def run(
        self, domains: Annotated[Sequence[str], ("metavar", "DOMAIN")] = (), *, failing: bool, limit: Limit = 100,
        retry: bool, json: bool,
    ) -> None:  # fmt: skip
        hosts = [normalise_domain(name) or name for name in domains]
        names = list(dict.fromkeys(name for known in load_names(hosts).values() for name in known))
        if retry:
            if not names:
                raise CommandError(_("Name the servers to contact again."))
            # A relay without failures is in neither table; only its deliveries show that it is known.
            waiting = Delivery.objects.filter(host__one_of=names).values_list("host", flat=True)
            _require_known(names, {server["domain"] for server in load_servers(names, limit=len(names))} | set(waiting))
            for name in names:
                values = {"name": name, "count": retry_host(by=OPERATOR, name=name)}
                self.stdout.write(_("%(name)s is being contacted again. Deliveries: %(count)d.") % values)
            return
        servers = load_servers(names or None, limit=len(names) or limit, failing=failing)
        if not failing:
            _require_known(names, {server["domain"] for server in servers})
        empty = _("Every known server answers.") if failing else _("No server is known yet.")
        self.print_rows(servers, as_json=json, empty=empty)


def _require_known(names: list[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise CommandError(
                _("This server does not know %(name)s. Give the name alone: social.example.") % {"name": name}
            )
