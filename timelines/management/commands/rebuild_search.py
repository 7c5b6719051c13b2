"""`manage.py rebuild_search`: writes the search documents of posts again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from social.kernel.ids import MAX_ID
from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from timelines.services.search_index import count_indexed, rebuild_index


class Command(OperatorCommand):
    """Rebuild the search index; posts can be found meanwhile, by their old documents until they are rewritten."""

    help = (
        "Write what the search keeps of posts anew, the newest first, while the server runs. Needed only after rows of it were "
        "lost: posts are indexed by themselves. One that was interrupted says with which --before it goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--before", type=int, default=MAX_ID, metavar="ID", help="only posts with smaller ids")
        parser.add_argument("--dry-run", action="store_true", help="only count the posts")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 < options["before"] <= MAX_ID:
            raise CommandError("--before wants the id of a post.")
        count = count_indexed()
        if options["dry_run"]:
            self.stdout.write(f"{count} posts")
            return
        done, last = 0, options["before"]
        try:
            with progress_bar("Posts", count) as advance:
                for written, place in rebuild_index(before=options["before"]):
                    last = place
                    done += written
                    advance(written)
        except KeyboardInterrupt:
            raise CommandError(f"Interrupted. To go on: --before {last}") from None
        self.stdout.write(f"{done} posts indexed")
