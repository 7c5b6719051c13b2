from typing import Annotated

from django.core.management.base import CommandError

from social.kernel.ids import MAX_ID
from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from timelines.services.search_index import count_indexed, rebuild_index


class Command(OperatorCommand):
    """Rebuild the search index of posts, newest first, while the server runs. This is needed only after rows of the index were
    lost, because posts are indexed when they arrive. An interrupted command prints the value of --before to continue with.

    before: only posts with smaller ids
    dry_run: only count the posts
    """

    def run(
        self, *, before: Annotated[int, range(1, MAX_ID + 1), ("metavar", "ID")] = MAX_ID, dry_run: bool
    ) -> None:  # fmt: skip
        count = count_indexed()
        if dry_run:
            self.stdout.write(f"{count} posts")
            return
        done, last = 0, before
        try:
            with progress_bar("Posts", count) as advance:
                for written, place in rebuild_index(before=before):
                    last = place
                    done += written
                    advance(written)
        except KeyboardInterrupt:
            raise CommandError(f"Interrupted. To continue: --before {last}") from None
        self.stdout.write(f"{done} posts indexed")
