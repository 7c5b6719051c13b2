import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.management.block_files import name_follows
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryState, ListMode, TakenAs
from moderation.blocklists.policies import BlocklistDraft, access_errors
from moderation.blocklists.queries import DryRun, count_entries, find_blocklist, list_waiting, try_entries
from moderation.blocklists.services import lists
from moderation.blocklists.services.fetching import Fetched, ListError, fetch_list_now, keep
from moderation.blocklists.services.settling import approve_entries, dismiss_entries, settle_next
from moderation.blocklists.services.taking import compare_list
from moderation.events import BlocklistChanged
from moderation.policies.domain_rules import domain_elsewhere
from social.kernel.clock import iso
from social.kernel.crypto import encrypt
from social.kernel.errors import Invalid, NotFound
from social.management.base import OperatorCommand, undone_if, would

_Name = Annotated[str, ("help", "the list")]
_PasswordFile = Annotated[
    str, ("metavar", "FILE"), ("help", "the file in whose first line the password is; - reads standard input")
]


class Command(OperatorCommand):
    """Subscribe to the blocklists of others. The changes of a list in draft mode (the default) wait until a person approves
    them; an automatic list changes rules by itself, except where follows would end. `try` shows the changes of a list without
    making them. A list is given by its name or its address.
    """

    def list_(self, *, json: bool) -> None:
        """List all subscriptions, with the numbers of servers on the list, in force, and waiting for approval."""
        counted: Any = count_entries(Blocklist.objects.order_by("name"))
        rows = [
            {
                "name": blocklist.name,
                "url": blocklist.url,
                "mode": blocklist.mode if blocklist.enabled else "off",
                "named": blocklist.entries_count,
                "in_force": blocklist.in_force,
                "waiting": blocklist.waiting,
                "checked_at": iso(blocklist.checked_at) if blocklist.checked_at else "",
                "last_error": blocklist.last_error or blocklist.held_reason,
            }
            for blocklist in counted
        ]
        self.print_rows(rows, as_json=json, empty="There are no lists.")

    def add(
        self, name: str, url: str, *, mode: ListMode = ListMode.DRAFT, suspend_as: TakenAs = TakenAs.SUSPEND,
        silence_as: TakenAs = TakenAs.SILENCE, noop_as: TakenAs = TakenAs.IGNORE, take_rejections: bool,
        follows_limit: Annotated[int, range(1_000_001)] = 0, username: str = "",
        password_file: _PasswordFile = "", dry_run: bool,
    ) -> None:  # fmt: skip
        """Subscribe to a list. The worker fetches it soon, and every six hours.

        name: the name of the subscription
        url: the address: CSV (Mastodon), one domain per line, JSON (Mastodon, GoToSocial) or a dataset of FIRES
        mode: whether a person approves each change (draft) or changes are made immediately, except where follows would end
        suspend_as: the effect on servers that the list suspends
        silence_as: the effect on servers that the list limits
        noop_as: the effect on servers that the list only names
        take_rejections: reject files and reports where the list says so
        follows_limit: automatic mode: the number of follows that an update may end without approval
        username: for a list that requires basic authentication
        """
        draft = BlocklistDraft(
            name, url, mode, suspend_as, silence_as, noop_as, take_rejections, follows_limit, username,
            _password_in(password_file),
        )  # fmt: skip
        with undone_if(dry_run):
            lists.subscribe(by=OPERATOR, draft=draft)
        self.stdout.write(f"{name}: {mode}, {would(dry_run)}added.")

    def try_(
        self, url: str, *, username: str = "", password_file: _PasswordFile = ""
    ) -> None:  # fmt: skip
        """Fetch a list and show the changes that it would make if all were approved; nothing is changed.

        url: the address of the list, or the name of a subscription
        username: for a list that requires basic authentication and that you are not subscribed to
        """
        try:
            blocklist = find_blocklist(url)
        except NotFound:
            password = _password_in(password_file)
            if errors := access_errors(username, password or ""):
                raise Invalid.of(errors) from None
            blocklist = Blocklist(name=url, url=url, username=username, password=encrypt(password) if password else "")
        self._try(blocklist, self._fetch(blocklist))

    def fetch(self, name: _Name, *, dry_run: bool) -> None:
        """Fetch a list now, and make the changes that need no approval."""
        blocklist = find_blocklist(name)
        fetched = self._fetch(blocklist)
        if dry_run:
            self._try(blocklist, fetched)
            return
        if not blocklist.enabled:
            raise CommandError(f"{blocklist.name} is off.")
        keep(blocklist, fetched)
        event: BlocklistChanged | None = BlocklistChanged(blocklist_id=blocklist.pk)
        while event is not None:
            event = settle_next(event)
        counted = count_entries(Blocklist.objects.filter(pk=blocklist.pk)).get()
        counts: Any = counted
        self.stdout.write(
            f"{counted.entries_count} named, {counts.in_force} in force, {counts.waiting} wait for approval."
        )

    def drafts(self, name: _Name) -> None:
        """Show the changes that are waiting for approval, and their effects."""
        blocklist = find_blocklist(name)
        self._show(try_entries(blocklist, list(list_waiting().filter(blocklist=blocklist).order_by("id"))))

    def approve(self, name: _Name, domains: Sequence[str] = (), *, dry_run: bool) -> None:
        """Make the changes that are waiting for approval.

        domains: only these servers, even if their changes were dismissed; by default all waiting changes
        """
        rows = self._entries(name, domains)
        count = rows.count() if dry_run else approve_entries(by=OPERATOR, entries=rows)
        self.stdout.write(f"{count} entries {would(dry_run)}approved.")

    def dismiss(self, name: _Name, domains: Sequence[str] = (), *, dry_run: bool) -> None:
        """Refuse the changes that are waiting for approval.

        domains: only these servers; by default all waiting changes
        """
        rows = self._entries(name, domains).filter(state=EntryState.WAITING)
        count = rows.count() if dry_run else dismiss_entries(by=OPERATOR, entries=rows)
        self.stdout.write(f"{count} entries {would(dry_run)}dismissed.")

    def switch(self, name: _Name, *, off: bool, dry_run: bool) -> None:
        """Enable or disable a list; its rules stay.

        off: disable it
        """
        with undone_if(dry_run):
            lists.switch_list(by=OPERATOR, blocklist=find_blocklist(name), enabled=not off)
        self.stdout.write(f"{name}: {would(dry_run)}{'off' if off else 'on'}.")

    def withdraw(self, name: _Name, *, dry_run: bool, yes: bool) -> None:
        """Disable a list, and remove the rules that came from it alone and that nobody has changed since."""
        blocklist = find_blocklist(name)
        self.confirm(_("The rules that came only from this list end."), yes=yes, dry_run=dry_run)
        with undone_if(dry_run):
            lists.withdraw_list(by=OPERATOR, blocklist=blocklist)
        self.stdout.write(f"{name}: {would(dry_run)}withdrawn.")

    def remove(self, name: _Name, *, dry_run: bool) -> None:
        """Remove a subscription; its rules stay, as if staff had written them."""
        with undone_if(dry_run):
            lists.unsubscribe(by=OPERATOR, blocklist=find_blocklist(name))
        self.stdout.write(f"{name}: {would(dry_run)}removed.")

    def exceptions(
        self, *, add: str | None = None, remove: str | None = None, comment: str = "", dry_run: bool, json: bool
    ) -> None:
        """List the servers that no list may block, or add or remove one.

        add: a server to protect, with its subdomains and parent domains
        remove: a server that is no longer to be protected
        comment: the reason, for colleagues
        """
        with undone_if(dry_run):
            if add is not None:
                lists.add_exception(by=OPERATOR, domain=add, comment=comment)
            if remove is not None:
                exception = BlocklistException.objects.filter(domain=domain_elsewhere(remove) or remove).first()
                if exception is None:
                    raise CommandError(f"There is no exception for {remove}.")
                lists.remove_exception(by=OPERATOR, exception=exception)
            rows = list(BlocklistException.objects.order_by("domain").values("domain", "comment"))
        self.print_rows(rows, as_json=json, empty="There are no exceptions.")

    def _fetch(self, blocklist: Blocklist) -> Fetched:
        try:
            return fetch_list_now(blocklist)
        except ListError as error:
            raise CommandError(f"{blocklist.url}: {error}") from None

    def _try(self, blocklist: Blocklist, fetched: Fetched) -> None:
        read = fetched.read
        for problem in read.problems:
            self.stdout.write(problem)
        if (more := read.problems_count - len(read.problems)) > 0:
            self.stdout.write(f"and {more} more lines that cannot be used")
        self._show(try_entries(blocklist, compare_list(blocklist, read)))

    def _entries(self, name: str, domains: Sequence[str]) -> QuerySet[BlocklistEntry]:
        blocklist = find_blocklist(name)
        if not domains:
            return list_waiting().filter(blocklist=blocklist)
        names = [domain_elsewhere(domain) or domain for domain in domains]
        rows = BlocklistEntry.objects.filter(blocklist=blocklist, domain__one_of=names)
        known = set(rows.values_list("domain", flat=True))
        if missing := [domain for domain in names if domain not in known]:
            raise CommandError(f"The list does not name {', '.join(missing)}. Nothing was done.")
        return rows

    def _show(self, dry_run: DryRun) -> None:
        for server in dry_run.servers:
            said = "the rule ends" if server.step == "lift" else server.severity
            reason = "".join(f" ({text})" for text in (server.note, server.comment) if text)
            self.stdout.write(f"{server.domain}: {said}{reason}")
            if server.follows.named:
                name_follows(self, server.domain, server.follows)
        self.stdout.write(
            f"{dry_run.new} new rules, {dry_run.changed} changed, {dry_run.lifted} end, {dry_run.kept} without effect; "
            f"{dry_run.follows_from_here} follows from here and {dry_run.follows_to_here} to here end, "
            f"{dry_run.accounts} accounts with {dry_run.posts} posts vanish."
        )


def _password_in(file: str) -> str | None:
    """Return the password in the first line of a file; None if no file is named. A password on the command line could be seen
    by other users of the machine. Raises CommandError if the file cannot be read, is empty, or has more than one line.
    """
    if not file:
        return None
    try:
        lines = (sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from None
    if len(lines) != 1 or not lines[0]:
        raise CommandError("The file of the password must have one line.")
    return lines[0]
