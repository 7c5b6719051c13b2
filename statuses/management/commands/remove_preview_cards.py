from datetime import timedelta
from typing import Annotated

from django.template.defaultfilters import filesizeformat
from django.utils.translation import ngettext

from social.management.base import OperatorCommand
from statuses.services.cards import count_old_pictures, remove_old_pictures


class Command(OperatorCommand):
    """Remove old pictures of preview cards. The cards stay, and a page is fetched again when a post links to it.

    days: only pictures that were fetched more than this number of days ago (%(default)s)
    dry_run: only count the pictures
    """

    # Pages are fetched again after fourteen days, so younger pictures may still be in use.
    def run(self, *, days: Annotated[int, range(14, 36_501)] = 180, dry_run: bool) -> None:
        age = timedelta(days=days)
        count, size = count_old_pictures(age)
        summary = ngettext("%(count)d picture", "%(count)d pictures", count) % {"count": count}
        done = 0
        for removed in remove_old_pictures(age) if count and not dry_run else ():
            done += removed
            self.stdout.write(f"{done}/{max(count, done)}")
        self.stdout.write(f"{summary}, {filesizeformat(size)}" if count else summary)
