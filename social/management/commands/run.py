import sys

from social.management.base import OperatorCommand
from social.runtime.options import add_options


class Command(OperatorCommand):
    """Run everything: PostgreSQL and Valkey (unless DATABASE_URL and REDIS_URL are set), the web server, streaming, the
    worker and the scheduler. Ctrl-C or SIGTERM stops all of them.
    """

    # `manage.py` itself starts the supervisor, without loading Django; this command only serves --help.
    requires_system_checks: list[str] = []
    also = (add_options,)

    def run(self) -> None:
        from social.runtime.launch import run

        sys.exit(run())
