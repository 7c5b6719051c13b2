from accounts.management.names import LocalUsers, named_or_all
from social.management.base import OperatorCommand, would
from social.management.progress import progress_bar
from timelines.services.home import list_active, rebuild_feeds
from timelines.stores import feed


class Command(OperatorCommand):
    """Rebuild or clear home feeds.

    A feed is a cache that is built when its reader next loads it; building feeds in advance reduces the load in the first
    minutes after Redis was emptied.
    """

    def build(self, names: LocalUsers = (), *, all: bool, dry_run: bool) -> None:
        """Rebuild home feeds.

        names: the readers
        all: the feeds of everybody who was active in the last week
        """
        everybody = list_active().order_by("pk") if all else None
        users, count = named_or_all(names, everybody, "Name the people, or use --all.")
        if not dry_run:
            with progress_bar("Feeds", count) as advance:
                for _account_id in rebuild_feeds(user.account_id for user in users):
                    advance(1)
        self.stdout.write(f"{count} feeds {would(dry_run)}built.")

    def clear(self, *, dry_run: bool) -> None:
        """Clear the feeds of home timelines and lists.

        dry_run: only count the people
        """
        count = list_active().count()
        if not dry_run:
            feed.drop_all()
        self.stdout.write(f"The feeds of {count} people {would(dry_run) or 'are '}forgotten.")
