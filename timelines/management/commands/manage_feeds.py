"""`manage.py manage_feeds`: builds or drops the home feeds in Redis."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.management.names import find_users_named
from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from timelines.services.home import list_active, rebuild_feeds
from timelines.stores import feed


class Command(OperatorCommand):
    """Build or drop feeds. A feed is a cache of the database: a missing one is built when its reader next loads it."""

    help = (
        "Build home feeds anew, of some people or of all who were here in the last week, or forget every feed. Feeds are built "
        "by themselves when somebody looks; this takes that work off the first minutes after Redis was emptied."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        build = kinds.add_parser("build", help="build feeds anew")
        build.add_argument("names", nargs="*", metavar="NAME", help="whose feeds")
        build.add_argument("--all", action="store_true", help="of everybody who was here in the last week")
        clear = kinds.add_parser("clear", help="forget the feeds of homes and lists")
        for parser_ in (build, clear):
            parser_.add_argument("--dry-run", action="store_true", help="only say how many people that concerns")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "clear":
            count = list_active().count()
            if not options["dry_run"]:
                feed.drop_all()
            self.stdout.write(f"The feeds of {count} people {'would be ' if options['dry_run'] else 'are '}forgotten.")
            return
        if bool(options["names"]) is options["all"]:
            raise CommandError("Name people, or say --all.")
        if options["all"]:
            rows = list_active().order_by("pk").values_list("account_id", flat=True)
            count, accounts = rows.count(), rows.iterator(chunk_size=1000)
        else:
            users = find_users_named(options["names"])
            count, accounts = len(users), iter([user.account_id for user in users])
        if not options["dry_run"]:
            with progress_bar("Feeds", count) as advance:
                for _account_id in rebuild_feeds(accounts):
                    advance(1)
        self.stdout.write(f"{count} feeds {'would be ' if options['dry_run'] else ''}built.")
