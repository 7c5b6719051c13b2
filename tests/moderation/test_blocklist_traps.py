"""Tests of surprising entries in blocklists: wide patterns, and servers that staff have decided about before, need approval."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import AccountStat, Domain
from accounts.policies.staff import OPERATOR
from accounts.services.block_files import read_file
from moderation.admin.domain_rules import DomainRuleForm
from moderation.blocklists import queries
from moderation.blocklists.models import BlocklistEntry
from moderation.blocklists.queries import try_entries
from moderation.blocklists.services.lists import withdraw_list
from moderation.blocklists.services.settling import approve_entries, dismiss_entries
from moderation.models import DomainRule
from moderation.policies.documents import SiteTexts
from moderation.policies.domain_rules import digest_of, is_registry
from moderation.services.documents import change_site
from moderation.services.domain_files import RuleFile
from social.api import limits
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_remote_status
from tests.moderation.blocklists import HEADER, fetched, listed, rules, states, subscribed
from tests.support.client import signed_in
from tests.support.site import Site
from tests.support.work import work
from tests.timelines.plans import looked_at

pytestmark = pytest.mark.django_db
WIDE = "it would concern all servers whose names end like this"


@pytest.mark.parametrize(
    ("domain", "wide"),
    [
        *((name, True) for name in ("com", "xn--p1ai", "co.uk", "com.br", "gv.at", "or.jp", "net.au")),
        *((name, False) for name in ("bad.com", "bad.co.uk", "coop.example", "co.example", "bbc.uk", "127.0.0.1")),
    ],
)
def test_domains_under_which_anybody_can_register_are_recognised(domain: str, wide: bool) -> None:
    assert is_registry(domain) is wide


def test_a_list_cannot_block_a_country_without_approval(site: Site) -> None:
    make_remote(domain="friends.co.uk")
    blocklist = subscribed(site, listed("com.br", "co.uk", "bad.co.uk", severity="silence"))
    assert rules() == {"bad.co.uk": "silence"}
    assert states() == {"bad.co.uk": "in_force", "co.uk": "waiting", "com.br": "waiting"}
    assert set(BlocklistEntry.objects.filter(state="waiting").values_list("note", flat=True)) == {WIDE}
    found = try_entries(blocklist, list(BlocklistEntry.objects.filter(state="waiting")))
    assert {server.note for server in found.servers} == {WIDE}
    fetched(blocklist)
    assert rules() == {"bad.co.uk": "silence"}
    approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.filter(domain="co.uk"))
    assert rules() == {"bad.co.uk": "silence", "co.uk": "silence"}, "staff can block the domain"


def test_staff_are_warned_before_they_block_a_country(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client, page = signed_in(make_user("boss", role="Owner")), "/admin/moderation/domainrule/add/"
    values = {"domain": "CO.uk", "severity": "silence"}
    asked = client.post(page, values)
    assert WIDE[1:] in str(asked.context["adminform"].form.errors)
    assert not DomainRule.objects.exists()
    assert client.post(page, values | {"concern_all": "on"}).status_code == 302
    assert rules() == {"co.uk": "silence"}
    change = page.replace("add/", f"{DomainRule.objects.get().pk}/change/")
    assert client.post(change, values | {"public_comment": "spam"}).status_code == 302, (
        "the block was confirmed when it was created"
    )
    assert client.post(page, {"domain": "bad.example", "severity": "silence"}).status_code == 302
    assert "concern_all" in DomainRuleForm.base_fields
    kind = RuleFile()
    (plan,) = kind.plan(read_file(kind, HEADER + "com.br,suspend,false,false,,false\n"), replace=False)
    assert (plan.action, plan.reason) == ("add", WIDE)


def test_a_new_comment_does_not_reopen_a_dismissed_entry(site: Site) -> None:
    names = [f"s{number}.example" for number in range(20)]
    blocklist = subscribed(site, listed(*names))
    site.show("/theirs", listed(*names, severity="silence"))
    fetched(blocklist)
    assert dismiss_entries(by=OPERATOR, entries=BlocklistEntry.objects.filter(state="waiting")) == 20
    site.show("/theirs", listed(*names, "new.example", severity="silence").replace("false,,", "false,again,"))
    fetched(blocklist)
    assert blocklist.held_reason == ""
    assert states() == dict.fromkeys(sorted(names), "dismissed") | {"new.example": "in_force"}
    site.show("/theirs", listed(*names, severity="noop"))
    fetched(blocklist)
    assert set(states().values()) == {"waiting"}, "the comment has changed"


def test_an_entry_that_became_unusable_ends_no_rule(site: Site) -> None:
    names = ["bad-one.example", "bad-two.example", "worse.example", "fine.example"]
    blocklist = subscribed(site, listed(*names))
    assert rules() == dict.fromkeys(sorted(names), "suspend")
    site.show(
        "/theirs",
        HEADER
        + f"bad****.e*****e,suspend,,,,true\nBad-Two.Example,suspend,,,{'x' * 50_000},\nworse.example,strict,,,,\n"
        "other.example,suspend,,,,\n",
    )
    fetched(blocklist)
    assert set(rules()) == {*names, "other.example"} - {"fine.example"}, "only missing entries end their rules"
    named = {"domain": "wor**.exa****", "digest": digest_of("worse.example"), "severity": "suspend", "comment": ""}
    site.show("/theirs", json.dumps([named, {"domain": "new.example", "severity": "suspend"}]))
    fetched(blocklist)
    assert set(rules()) == {"worse.example", "new.example"}


def test_a_dry_run_reads_no_posts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    blocklist = subscribed(site, listed("loud.example", "other.example"), mode="draft")
    for domain in ("loud.example", "other.example"):
        Domain.objects.create(name=domain)
    loud = make_remote("loud", "loud.example")
    for _post in range(3):
        make_remote_status(loud)
    entries = list(blocklist.entries.order_by("id"))
    assert looked_at(lambda: try_entries(blocklist, entries), of="statuses_status") == 0
    assert try_entries(blocklist, entries).posts == 3
    for number in range(5):
        AccountStat.objects.create(account=make_remote(f"a{number}", "other.example"), statuses_count=1)
    monkeypatch.setattr(queries, "COUNT_LIMIT", 2)
    assert try_entries(blocklist, entries).accounts == 2


def test_generating_the_published_list_for_strangers_is_rate_limited(settings: Any) -> None:
    settings.RATE_LIMITS = True
    change_site(by=OPERATOR, texts=SiteTexts(site_show_domain_blocks="all"))
    for _request in range(limits.PUBLISHED_LIST.limit):
        assert Client().get("/blocklist.csv", REMOTE_ADDR="192.0.2.7").status_code == 200
    refused = Client().get("/blocklist.csv", REMOTE_ADDR="192.0.2.7")
    assert refused.status_code == 429
    assert Client().get("/blocklist.csv", REMOTE_ADDR="192.0.2.8").status_code == 200


def test_a_withdrawn_list_shows_no_reason_for_waiting_changes(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example", "b.example"))
    site.show("/theirs", HEADER)
    assert fetched(blocklist).held_reason == "The list has suddenly become empty."
    withdraw_list(by=OPERATOR, blocklist=blocklist)
    work()
    blocklist.refresh_from_db()
    assert (rules(), blocklist.held_reason, blocklist.enabled) == ({}, "", False)
