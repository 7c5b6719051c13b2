"""Helpers that create third parties' blocklists and subscriptions to them."""

from typing import Any

from django.db.models.functions import Now

from accounts.models import Domain
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import (
    Blocklist,
    BlocklistEntry,
    BlocklistException,
    BlocklistFetch,
    EntryState,
    EntryStep,
)
from moderation.blocklists.policies import BlocklistDraft
from moderation.blocklists.services.lists import fetch_soon, subscribe
from moderation.models import DomainRule
from social.kernel.runner import Host
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import follow
from tests.support.site import Site
from tests.support.work import work

HEADER = "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n"


def draft(url: str, name: str = "theirs", mode: str = "automatic", **values: Any) -> BlocklistDraft:
    chosen = {
        "suspend_as": "suspend",
        "silence_as": "silence",
        "noop_as": "ignore",
        "take_rejections": False,
        "follows_limit": 0,
    }
    return BlocklistDraft(name=name, url=url, mode=mode, **(chosen | values))


def listed(*domains: str, severity: str = "suspend") -> str:
    return HEADER + "".join(f"{domain},{severity},false,false,,false\n" for domain in domains)


def subscribed(
    site: Site, body: str | bytes, name: str = "theirs", mode: str = "automatic", **values: Any
) -> Blocklist:
    """Create a subscription to a list with this content, fetch it, and run all jobs."""
    blocklist = subscribe(by=OPERATOR, draft=draft(site.show(f"/{name}", body), name, mode, **values))
    work()
    blocklist.refresh_from_db()
    return blocklist


def fetched(blocklist: Blocklist) -> Blocklist:
    """Fetch the list again, and return it."""
    fetch_soon(by=OPERATOR, blocklist=blocklist)
    BlocklistFetch.objects.update(due_at=Now())
    Host.objects.update(retry_at=Now(), asked_at=None)
    work()
    blocklist.refresh_from_db()
    return blocklist


def make_list(number: int, **values: Any) -> Blocklist:
    """Create a subscription that was never fetched."""
    of_number = {"name": f"list {number}", "url": f"https://lists.example/{number}"}
    return Blocklist.objects.get_or_create(**(of_number | values))[0]


def make_draft(number: int) -> BlocklistEntry:
    """Create an entry that is waiting for approval, alternately from a list and by staff."""
    blocklist = make_list(0) if number % 2 else None
    chosen = {"blocklist": blocklist, "domain": f"waits{number}.example"}
    values = {"severity": "suspend", "state": EntryState.WAITING, "step": EntryStep.BLOCK}
    return BlocklistEntry.objects.get_or_create(**chosen, defaults=values)[0]


def make_exception(number: int) -> BlocklistException:
    """Create an exception for a server, which no list may block."""
    return BlocklistException.objects.get_or_create(domain=f"good{number}.example")[0]


def rules() -> dict[str, str]:
    return dict(DomainRule.objects.order_by("domain").values_list("domain", "severity"))


def states() -> dict[str, str]:
    return dict(BlocklistEntry.objects.order_by("domain").values_list("domain", "state"))


def followed(domain: str) -> None:
    """Let a local account follow an account on the server `domain`."""
    Domain.objects.get_or_create(name=domain)
    follow(make_account(), make_remote(domain=domain))
