from social.management.base import OperatorCommand
from statuses.services.recounting import Progress, recount_statuses


class Command(OperatorCommand):
    """Recount the replies, boosts, favourites and quotes of all posts, the posts of all accounts, the votes in polls and the
    use of featured hashtags, and correct wrong numbers. The server may keep running meanwhile.
    """

    def run(self, *, dry_run: bool) -> None:
        done = "wrong" if dry_run else "corrected"
        last: Progress | None = None
        for number, progress in enumerate(recount_statuses(dry_run=dry_run), start=1):
            if last is not None and last.kind != progress.kind:
                self._print_progress(last, done)
            for wrong in progress.found if dry_run else ():
                self.stdout.write(f"{progress.kind}: {wrong}")
            if not number % 20:
                self._print_progress(progress, "wrong so far")
            last = progress
        if last is not None:
            self._print_progress(last, done)

    def _print_progress(self, progress: Progress, what: str) -> None:
        self.stdout.write(f"{progress.kind}: {progress.counted} counted, {progress.wrong} {what}")
