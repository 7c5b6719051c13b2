"""Tests of subscribed blocklists: entries are applied and removed, within the limits that staff set."""

import sys

import pytest

from accounts.models import Account, AuditEntry, Follow
from accounts.policies.staff import OPERATOR, NotPermitted, Staff
from moderation.blocklists.models import BlocklistEntry
from moderation.blocklists.queries import try_entries
from moderation.blocklists.services import fetching, settling
from moderation.blocklists.services.lists import (
    add_exception,
    change_list,
    fetch_soon,
    remove_exception,
    subscribe,
    switch_list,
    unsubscribe,
    withdraw_list,
)
from moderation.blocklists.services.reading import read_list
from moderation.blocklists.services.settling import approve_entries, dismiss_entries
from moderation.blocklists.services.taking import store_list
from moderation.events import BlocklistChanged
from moderation.models import DomainAllow, DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import change_rule, create_rule, remove_rule
from social.kernel.errors import Conflict, Invalid
from social.kernel.outbox import OutboxRow
from tests.factories.statuses import make_remote_status
from tests.moderation.blocklists import HEADER, draft, fetched, followed, listed, rules, states, subscribed
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_more_entries_than_a_batch_are_tested_approved_and_withdrawn(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "BATCH", 10)
    names = [f"s{number}.example" for number in range(20)]
    followed("s7.example")
    make_remote_status(Account.objects.get(domain="s7.example"), "<p>there</p>")
    blocklist = subscribed(site, listed(*names), mode="draft")
    assert (rules(), blocklist.entries_count) == ({}, 20)
    assert set(states().values()) == {"waiting"}
    found = try_entries(blocklist, list(blocklist.entries.order_by("id")))
    assert (found.new, found.accounts, found.posts) == (20, 1, 1)
    assert (found.follows_from_here, found.follows_to_here, found.servers[0].domain) == (1, 0, "s7.example")
    assert not AuditEntry.objects.filter(target_type="DomainRule").exists()

    by = Staff(None, "@boss", OPERATOR.permissions, None)
    assert approve_entries(by=by, entries=BlocklistEntry.objects.all()) == 20
    assert rules() == dict.fromkeys(sorted(names), "suspend")
    assert AuditEntry.objects.filter(target_type="DomainRule", action="create", account_name="@boss").count() == 20
    # Events of rules for servers without known accounts have no further effect.
    OutboxRow.objects.exclude(key="domain:s7.example").delete()
    work()
    assert not Follow.objects.exists()

    create_rule(by=OPERATOR, domain="mine.example", draft=DomainRuleDraft(severity="suspend"))
    withdraw_list(by=by, blocklist=blocklist)
    for _step in range(3):
        settling.settle_lists([BlocklistChanged(blocklist_id=blocklist.pk)])
    assert (rules(), BlocklistEntry.objects.count()) == ({"mine.example": "suspend"}, 0)
    lifted = AuditEntry.objects.filter(target_type="DomainRule", action="destroy", account_name="list theirs")
    assert lifted.count() == 20


def test_entries_of_an_automatic_list_are_applied_changed_and_removed_without_approval(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example", "b.example", severity="silence"))
    assert rules() == {"a.example": "silence", "b.example": "silence"}
    site.show("/theirs", listed("b.example", "c.example"))
    fetched(blocklist)
    assert rules() == {"b.example": "suspend", "c.example": "suspend"}
    assert states() == {"b.example": "in_force", "c.example": "in_force"}
    acts = AuditEntry.objects.filter(target_type="DomainRule", account_name="list theirs").order_by("id")
    assert [(act.action, act.target_name) for act in acts] == [
        ("create", "a.example"),
        ("create", "b.example"),
        ("destroy", "a.example"),
        ("create", "c.example"),
        ("update", "b.example"),
    ]


def test_a_rule_says_which_list_it_is_from_and_why(site: Site) -> None:
    subscribed(site, HEADER + 'bad.example,suspend,true,true,"spam, and more",true\n')
    rule = DomainRule.objects.get()
    assert (rule.public_comment, rule.private_comment) == ("spam, and more", "From the list theirs")
    assert (rule.obfuscate, rule.from_lists) == (True, True)
    assert (rule.reject_media, rule.reject_reports) == (False, False)
    entry = BlocklistEntry.objects.get()
    assert (entry.blocklist.name, entry.comment, entry.reject_media) == ("theirs", "spam, and more", True)


def test_no_list_is_stricter_than_the_operator_allowed(site: Site) -> None:
    body = HEADER + "s.example,suspend,true,false,,false\nl.example,limit,,,,\nn.example,noop,true,false,,false\n"
    blocklist = subscribed(site, body, suspend_as="silence", silence_as="ignore")
    assert rules() == {"s.example": "silence"}
    chosen = draft(blocklist.url, silence_as="silence", noop_as="noop", take_rejections=True)
    change_list(by=OPERATOR, blocklist=blocklist, draft=chosen)
    work()
    assert rules() == {"s.example": "suspend", "l.example": "silence", "n.example": "noop"}
    rejecting = DomainRule.objects.filter(reject_media=True).order_by("domain")
    assert list(rejecting.values_list("domain", flat=True)) == ["n.example", "s.example"]
    with pytest.raises(Invalid):
        change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, silence_as="suspend"))
    change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, suspend_as="ignore"))
    work()
    assert rules() == {"l.example": "silence"}


def test_an_entry_that_would_end_follows_waits_for_approval(site: Site) -> None:
    followed("known.example")
    blocklist = subscribed(site, listed("known.example", "other.example"))
    assert (rules(), Follow.objects.count()) == ({"other.example": "suspend"}, 1)
    entry = BlocklistEntry.objects.get(state="waiting")
    assert (entry.domain, entry.note) == ("known.example", "1 follow would end")
    approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.filter(pk=entry.pk))
    work()
    assert (len(rules()), Follow.objects.count()) == (2, 0)
    followed("third.example")
    change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, follows_limit=1))
    site.show("/theirs", listed("known.example", "other.example", "third.example"))
    fetched(blocklist)
    assert "third.example" in rules()


def test_excepted_and_allowed_servers_and_this_server_are_never_blocked(site: Site) -> None:
    add_exception(by=OPERATOR, domain="good.example", comment="friends")
    DomainAllow.objects.create(domain="sub.allowed.example")
    body = listed(
        "good.example", "sub.good.example", "allowed.example", "social.localhost", "*.wild.example", "x.example"
    )
    blocklist = subscribed(site, body)
    assert rules() == {"wild.example": "suspend", "x.example": "suspend"}
    assert blocklist.problems == ["Line 5, social.localhost: social.localhost is not the domain of another server"]
    assert BlocklistEntry.objects.get(domain="good.example").note == "an exception protects it"
    found = add_exception(by=OPERATOR, domain="deep.x.example")
    work()
    assert rules() == {"wild.example": "suspend"}
    remove_exception(by=OPERATOR, exception=found)
    work()
    assert rules() == {"wild.example": "suspend", "x.example": "suspend"}
    with pytest.raises(Invalid):
        add_exception(by=OPERATOR, domain="good.example")
    acts = AuditEntry.objects.filter(target_type="BlocklistException").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["create", "create", "destroy"]


def test_a_later_decision_of_staff_takes_precedence(site: Site) -> None:
    names = ["changed.example", "removed.example", "mine.example", "stays.example"]
    create_rule(by=OPERATOR, domain="mine.example", draft=DomainRuleDraft(severity="silence"))
    blocklist = subscribed(site, listed(*names))
    assert rules()["mine.example"] == "silence"
    change_rule(
        by=OPERATOR, rule=DomainRule.objects.get(domain="changed.example"), draft=DomainRuleDraft(severity="silence")
    )
    remove_rule(by=OPERATOR, rule=DomainRule.objects.get(domain="removed.example"))
    remove_rule(by=OPERATOR, rule=DomainRule.objects.get(domain="mine.example"))
    site.show("/theirs", listed(*names, "new.example"))
    change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, noop_as="noop"))
    fetched(blocklist)
    assert rules() == {"changed.example": "silence", "new.example": "suspend", "stays.example": "suspend"}
    assert states()["removed.example"] == "dismissed"
    assert states()["mine.example"] == "waiting"
    site.show("/theirs", listed("new.example"))
    fetched(blocklist)
    assert rules() == {"changed.example": "silence", "new.example": "suspend"}
    site.show("/theirs", listed(*names, "new.example"))
    fetched(blocklist)
    assert rules() == {"changed.example": "silence", "new.example": "suspend", "stays.example": "suspend"}


def test_a_dismissed_entry_stays_dismissed_until_the_list_changes_it(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example", severity="silence"), mode="draft")
    assert dismiss_entries(by=OPERATOR, entries=BlocklistEntry.objects.all()) == 1
    site.show("/theirs", listed("a.example", "b.example", severity="silence"))
    fetched(blocklist)
    assert states() == {"a.example": "dismissed", "b.example": "waiting"}
    site.show("/theirs", listed("a.example", "b.example"))
    fetched(blocklist)
    assert states() == {"a.example": "waiting", "b.example": "waiting"}
    approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.all())
    site.show("/theirs", listed("c.example"))
    fetched(blocklist)
    assert states() == dict.fromkeys(["a.example", "b.example", "c.example"], "waiting")
    dismiss_entries(by=OPERATOR, entries=BlocklistEntry.objects.filter(domain="a.example"))
    approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.filter(domain="b.example"))
    assert list(DomainRule.objects.values_list("domain", "from_lists")) == [("a.example", False)]


def test_two_lists_may_name_the_same_server(site: Site) -> None:
    first = subscribed(site, listed("bad.example", severity="silence"), "first")
    second = subscribed(site, listed("bad.example", "worse.example"), "second")
    assert rules() == {"bad.example": "suspend", "worse.example": "suspend"}
    site.show("/second", listed("worse.example"))
    fetched(second)
    assert rules()["bad.example"] == "silence"
    unsubscribe(by=OPERATOR, blocklist=first)
    rule = DomainRule.objects.get(domain="bad.example")
    assert (rule.severity, rule.from_lists) == ("silence", False)
    withdraw_list(by=OPERATOR, blocklist=second)
    work()
    assert rules() == {"bad.example": "silence"}


def test_a_server_below_a_removed_rule_gets_a_rule_of_its_own(site: Site) -> None:
    below = "sub.big.example,silence,,,,\n"
    blocklist = subscribed(site, listed("big.example") + below)
    assert (rules(), states()["sub.big.example"]) == ({"big.example": "suspend"}, "kept")
    site.show("/theirs", HEADER + below)
    fetched(blocklist)
    assert rules() == {"sub.big.example": "silence"}


@pytest.mark.parametrize("shorter", ["", HEADER, "[]", listed(*(f"s{number}.example" for number in range(10)))])
def test_an_empty_or_much_shorter_list_ends_no_rules_without_approval(site: Site, shorter: str) -> None:
    names = [f"s{number}.example" for number in range(20)]
    blocklist = subscribed(site, listed(*names))
    before = rules()
    site.show("/theirs", shorter)
    fetched(blocklist)
    assert rules() == before
    waiting = BlocklistEntry.objects.filter(state="waiting", step="lift")
    assert waiting.count() == 20 - blocklist.entries_count
    assert waiting[0].note == blocklist.held_reason != ""
    site.show("/theirs", shorter + ("\n" if not shorter.startswith("[") else " "))
    fetched(blocklist)
    assert rules() == before
    site.show("/theirs", listed(*names))
    fetched(blocklist)
    assert (rules(), set(states().values())) == (before, {"in_force"})


def test_a_list_that_suddenly_changes_completely_waits_for_approval(site: Site) -> None:
    names = [f"s{number}.example" for number in range(20)]
    blocklist = subscribed(site, listed(*names), noop_as="ignore")
    before = rules()
    for body, step in (
        (listed(*names, severity="noop"), "lift"),
        (listed(*names, severity="silence"), "change"),
        ("ok.example\n", "block"),
    ):
        site.show("/theirs", body)
        fetched(blocklist)
        waiting = BlocklistEntry.objects.filter(state="waiting")
        assert (rules(), waiting.count(), waiting.filter(step=step).exists()) == (before, max(20, len(waiting)), True)
        assert set(waiting.values_list("note", flat=True)) == {blocklist.held_reason} != {""}
        site.show("/theirs", listed(*names))
        fetched(blocklist)
        assert (rules(), blocklist.held_reason, set(states().values())) == (before, "", {"in_force"})
    site.show("/theirs", listed(*names[:10]))
    fetched(blocklist)
    assert approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.all()) == 10
    blocklist.refresh_from_db()
    assert (len(rules()), blocklist.held_reason) == (10, "")


def test_later_changes_of_a_list_wait_while_earlier_ones_wait_for_approval(site: Site) -> None:
    names = [f"s{number}.example" for number in range(20)]
    blocklist = subscribed(site, listed(*names[:19]) + "s19.example,silence,,,,\n")
    before = rules()
    site.show("/theirs", listed("s19.example", "new.example"))
    reason = fetched(blocklist).held_reason
    assert (rules(), states()["s19.example"], reason != "") == (before, "waiting", True)
    site.show("/theirs", listed("new.example", "later.example"))
    assert (fetched(blocklist).held_reason, rules()) == (reason, before)
    assert set(states().values()) == {"waiting"}
    approve_entries(by=OPERATOR, entries=BlocklistEntry.objects.all())
    blocklist.refresh_from_db()
    assert (rules(), blocklist.held_reason) == ({"new.example": "suspend", "later.example": "suspend"}, "")
    site.show("/theirs", listed("new.example", "later.example", "last.example"))
    fetched(blocklist)
    assert rules()["last.example"] == "suspend"


def test_an_import_killed_in_the_middle_leaves_consistent_rules(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "BATCH", 2)
    names = [f"s{number}.example" for number in range(5)]
    blocklist = subscribe(by=OPERATOR, draft=draft(site.show("/theirs", listed(*names))))
    fetching.FETCHES.run()
    step = [BlocklistChanged(blocklist_id=blocklist.pk)]
    with monkeypatch.context() as patch:
        real = settling.write_rules
        patch.setattr(settling, "write_rules", lambda **arguments: (real(**arguments), sys.exit("killed")))
        with pytest.raises(SystemExit):
            settling.settle_lists(step)
    assert (rules(), set(states().values())) == ({}, {"pending"})
    settling.settle_lists(step)
    assert (len(rules()), sorted(states().values())) == (2, ["in_force"] * 2 + ["pending"] * 3)
    work()
    assert (rules(), set(states().values())) == (dict.fromkeys(names, "suspend"), {"in_force"})
    assert AuditEntry.objects.filter(target_type="DomainRule").count() == 5


def test_managing_lists_requires_the_permission_for_federation(site: Site) -> None:
    nobody = Staff(1, "@nobody", 0, 10)
    blocklist = subscribed(site, listed("a.example"), mode="draft")
    chosen = draft(blocklist.url)
    for act in (
        lambda: subscribe(by=nobody, draft=chosen),
        lambda: change_list(by=nobody, blocklist=blocklist, draft=chosen),
        lambda: switch_list(by=nobody, blocklist=blocklist, enabled=False),
        lambda: fetch_soon(by=nobody, blocklist=blocklist),
        lambda: withdraw_list(by=nobody, blocklist=blocklist),
        lambda: unsubscribe(by=nobody, blocklist=blocklist),
        lambda: add_exception(by=nobody, domain="b.example"),
        lambda: approve_entries(by=nobody, entries=BlocklistEntry.objects.all()),
        lambda: dismiss_entries(by=nobody, entries=BlocklistEntry.objects.all()),
    ):
        with pytest.raises(NotPermitted):
            act()
    assert not rules()
    for wrong in (draft("ftp://x.example/l"), draft("https://x.example/l", "theirs"), draft(blocklist.url, "other")):
        with pytest.raises((Invalid, Conflict)):
            subscribe(by=OPERATOR, draft=wrong)


@pytest.mark.parametrize("mode", ["draft", "automatic"])
def test_a_list_disabled_during_its_import_blocks_nobody(site: Site, mode: str) -> None:
    blocklist = subscribe(by=OPERATOR, draft=draft(site.show("/theirs", listed("a.example")), mode=mode))
    fetching.FETCHES.run()
    switch_list(by=OPERATOR, blocklist=blocklist, enabled=False)
    work()
    assert (rules(), states()) == ({}, {"a.example": "waiting"})
    withdraw_list(by=OPERATOR, blocklist=blocklist)
    body = listed("a.example").encode()
    store_list(blocklist, read_list(body), body=body, etag="", last_modified="")
    work()
    assert (rules(), states()) == ({}, {})
