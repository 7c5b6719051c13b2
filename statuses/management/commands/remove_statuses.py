from datetime import timedelta
from typing import Annotated

from django.template.defaultfilters import filesizeformat

from accounts.policies.staff import OPERATOR
from social.management.base import OperatorCommand, would
from statuses.services.remote_retention import bytes_of_posts, remove_remote_statuses


class Command(OperatorCommand):
    """Remove old posts from other servers that no local account has answered, boosted, quoted, favourited or bookmarked, that
    mention no local account, and whose authors no local account follows or has in a list.

    The server may run meanwhile, and the command can be interrupted and run again. The settings KEEP_REMOTE_POSTS_DAYS and
    REMOTE_POSTS_LIMIT make the server do this regularly.

    days: only posts older than this number of days (%(default)s)
    of_followed: also remove posts of accounts that local accounts follow
    dry_run: only count the posts and the bytes of the database that they take
    """

    def run(self, *, days: Annotated[int, range(1, 36_501)] = 90, of_followed: bool, dry_run: bool) -> None:
        removed, size = 0, bytes_of_posts(1)
        steps = remove_remote_statuses(
            by=OPERATOR, older_than=timedelta(days=days), of_followed=of_followed, dry_run=dry_run
        )
        for number, progress in enumerate(steps, start=1):
            removed = progress.removed
            if not number % 20:
                self.stdout.write(f"{progress.looked_at} looked at, {removed} removed")
        self.stdout.write(f"{removed} {would(dry_run)}removed, about {filesizeformat(removed * size)} of the database")
