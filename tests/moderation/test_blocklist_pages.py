"""Tests of blocklists in the admin and on the command line, and of the published list of this server."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException
from moderation.blocklists.services import settling
from moderation.blocklists.services.lists import subscribe, withdraw_list
from moderation.blocklists.services.staff_drafts import draft_rule
from moderation.models import DomainRule
from moderation.policies.documents import SiteTexts
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.documents import change_site
from moderation.services.domain_rules import create_rule
from tests.factories.accounts import make_user
from tests.moderation.blocklists import HEADER, draft, followed, listed, rules, states, subscribed
from tests.support.client import signed_in
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db
LISTS = "/admin/moderation/blocklist/"
ENTRIES = "/admin/moderation/blocklistentry/"
EXCEPTIONS = "/admin/moderation/blocklistexception/"
FORM = {
    "name": "theirs",
    "mode": "draft",
    "follows_limit": "0",
    "suspend_as": "suspend",
    "silence_as": "silence",
    "noop_as": "ignore",
    "content_type": "text/csv",
}


@pytest.fixture
def client() -> Client:
    return signed_in(make_user("boss", role="Owner"))


def test_staff_subscribe_to_a_list_and_decide_about_its_entries(client: Client, site: Site) -> None:
    followed("bad.example")
    url = site.show("/list", HEADER + "bad.example,suspend,,,spam,\nloud.example,silence,,,,\nno domain,,,,,\n")
    assert client.post(f"{LISTS}add/", {**FORM, "url": "nowhere"}).status_code == 200
    client.post(f"{LISTS}add/", {**FORM, "url": url})
    work()
    blocklist = Blocklist.objects.get(name="theirs", entries_count=2)
    shown = client.get(f"{LISTS}{blocklist.pk}/change/").content.decode()
    assert ("Line 4, no domain" in shown, "created the list theirs" in shown) == (True, True)
    tried = client.get(f"{LISTS}{blocklist.pk}/try_it/").content.decode()
    assert "New rules: 2." in tried
    assert "1 from here and 0 to here. Accounts of other servers that would vanish: 1" in tried
    assert (tried.index("bad.example") < tried.index("loud.example"), "spam" in tried) == (True, True)
    assert not rules()
    waiting = client.get(f"{ENTRIES}?state=waiting").content.decode()
    assert ("bad.example" in waiting, "loud.example" in waiting) == (True, True)

    bad, loud = BlocklistEntry.objects.order_by("domain")
    for action, entry in (("approve", bad), ("dismiss", loud)):
        sent = {"action": action, "_selected_action": str(entry.pk)}
        assert client.post(ENTRIES, sent).status_code == 200
        client.post(ENTRIES, {**sent, "confirmed": "yes"}, follow=True)
    assert (rules(), states()) == ({"bad.example": "suspend"}, {"bad.example": "in_force", "loud.example": "dismissed"})
    assert AuditEntry.objects.get(target_type="DomainRule").account_name == "@boss"
    rule = client.get(f"/admin/moderation/domainrule/{DomainRule.objects.get().pk}/change/").content.decode()
    assert ("<bdi>theirs</bdi>" in rule, "spam" in rule, "From the list theirs" in rule) == (True, True, True)

    client.post(f"{ENTRIES}{loud.pk}/approve/", {"confirmed": "yes"})
    client.post(f"{LISTS}{blocklist.pk}/change/", {**FORM, "url": url, "silence_as": "ignore"})
    work()
    assert states()["loud.example"] == "waiting"
    client.post(f"{LISTS}{blocklist.pk}/approve_all/", {"confirmed": "yes"})
    assert rules() == {"bad.example": "suspend"}
    client.post(f"{LISTS}{blocklist.pk}/withdraw/", {"confirmed": "yes"})
    work()
    blocklist.refresh_from_db()
    assert (rules(), blocklist.enabled) == ({}, False)
    client.post(f"{LISTS}{blocklist.pk}/delete/", {"post": "yes"})
    log = client.get("/admin/accounts/auditentry/").content.decode()
    assert ("removed the list theirs" in log, "withdrew the rules of the list theirs" in log) == (True, True)


def test_drafts_of_staff_are_decided_on_the_page_of_waiting_entries(client: Client, site: Site) -> None:
    create_rule(by=OPERATOR, domain="both.example", draft=DomainRuleDraft("silence"))
    subscribed(site, listed("listed.example"), mode="draft")
    drafts = [draft_rule(by=OPERATOR, domain=f"{name}.example") for name in ("new", "both", "gone")]
    shown = client.get(f"{ENTRIES}?state=waiting").content.decode()
    assert (shown.count("drafted by staff"), "listed.example" in shown) == (3, True)
    assert "drafted by staff" in client.get(f"{ENTRIES}{drafts[0].pk}/change/").content.decode()
    chosen = {"_selected_action": [str(entry.pk) for entry in BlocklistEntry.objects.exclude(domain="gone.example")]}
    client.post(ENTRIES, {"action": "approve", "confirmed": "yes", **chosen})
    client.post(f"{ENTRIES}{drafts[2].pk}/dismiss/", {"confirmed": "yes"})
    assert rules() == dict.fromkeys(["both.example", "listed.example", "new.example"], "suspend")
    assert states() == {"listed.example": "in_force"}
    assert list(DomainRule.objects.filter(from_lists=True).values_list("domain", flat=True)) == ["listed.example"]
    log = client.get("/admin/accounts/auditentry/").content.decode()
    assert ("drafted a rule for new.example" in log, "removed the draft of a rule for gone.example" in log) == (
        True,
        True,
    )


def test_a_list_that_is_being_removed_is_shown_until_its_rules_have_ended(client: Client, site: Site) -> None:
    blocklist = subscribed(site, listed("bad.example"))
    withdraw_list(by=OPERATOR, blocklist=blocklist, remove=True)
    assert "Is being removed" in client.get(LISTS).content.decode()
    client.post(f"{LISTS}{blocklist.pk}/enable/", {"confirmed": "yes"})
    client.post(f"{LISTS}{blocklist.pk}/change/", {**FORM, "url": "https://lists.example/other"})
    blocklist.refresh_from_db()
    assert (blocklist.enabled, blocklist.ending) == (False, True)
    work()
    assert (rules(), Blocklist.objects.exists()) == ({}, False)


def test_exceptions_are_made_and_removed(client: Client, site: Site) -> None:
    subscribed(site, listed("bad.example"))
    client.post(f"{EXCEPTIONS}add/", {"domain": "Bad.Example", "comment": "friends"})
    work()
    found = BlocklistException.objects.get(domain="bad.example", comment="friends")
    assert not rules()
    assert "friends" in client.get(EXCEPTIONS).content.decode()
    client.post(f"{EXCEPTIONS}{found.pk}/delete/", {"post": "yes"})
    work()
    assert rules() == {"bad.example": "suspend"}


def test_pages_take_a_fixed_number_of_statements(client: Client, site: Site) -> None:
    asked = []
    for count in (2, 6):
        blocklist = subscribed(
            site, listed(*(f"n{count}x{n}.example" for n in range(count))), f"list{count}", mode="draft"
        )
        counts = []
        for path in (LISTS, ENTRIES, f"{LISTS}{blocklist.pk}/change/", f"{LISTS}{blocklist.pk}/try_it/"):
            client.get(path)
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200
            counts.append(len(queries))
        asked.append(counts)
    assert asked[0] == asked[1]


def test_the_pages_require_the_permission_for_federation(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"), mode="draft")
    nobody = signed_in(make_user("mod", role="Moderator"))
    for path in (LISTS, ENTRIES, EXCEPTIONS, f"{LISTS}{blocklist.pk}/change/", f"{LISTS}{blocklist.pk}/try_it/"):
        assert nobody.get(path).status_code in (302, 403, 404), path


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("manage_blocklists", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_command_tests_imports_and_withdraws_a_list(site: Site) -> None:
    followed("bad.example")
    url = site.show("/list", listed("bad.example", "b.example") + "no domain,,,,,\n")
    said = run("try", url)
    assert "bad.example: 1 follows from here and 0 to here end:" in said
    assert said.endswith("1 follows from here and 0 to here end, 1 accounts with 0 posts vanish.\n")
    assert "Line 4, no domain" in said
    assert not Blocklist.objects.exists()
    assert run("add", "theirs", url, "--dry-run") == "theirs: draft, would be added.\n"
    run("add", "theirs", url, "--mode", "automatic")
    assert run("fetch", "theirs") == "2 named, 1 in force, 1 wait for approval.\n"
    assert "bad.example: suspend" in run("drafts", "theirs")
    assert run("approve", "theirs", "bad.example", "--dry-run") == "1 entries would be approved.\n"
    assert run("approve", "theirs", "bad.example") == "1 entries approved.\n"
    assert rules() == {"b.example": "suspend", "bad.example": "suspend"}
    site.show("/list", listed("b.example", "c.example"))
    assert "1 new rules, 0 changed, 1 end, 1 without effect" in run("fetch", "theirs", "--dry-run")
    run("fetch", "theirs")
    assert rules() == {"b.example": "suspend", "c.example": "suspend"}
    assert "theirs" in run("list")
    assert "c.example" in run("exceptions", "--add", "C.example")
    work()
    assert rules() == {"b.example": "suspend"}
    run("exceptions", "--remove", "c.example")
    with pytest.raises(CommandError, match="does not name d"):
        run("dismiss", "theirs", "d.example")
    with pytest.raises(CommandError, match="--yes"):
        run("withdraw", "theirs")
    run("switch", "theirs", "--off")
    run("withdraw", "theirs", "--yes")
    work()
    assert not rules()
    run("remove", "theirs")
    assert run("list") == "There are no lists.\n"
    with pytest.raises(CommandError, match="answers 404"):
        run("try", f"{site.address}/nothing")


def test_the_command_ends_no_more_follows_than_an_update_may(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "BATCH", 1)
    names = [f"s{number}.example" for number in range(3)]
    for name in names:
        followed(name)
    run("add", "theirs", site.show("/list", listed(*names)), "--mode", "automatic", "--follows-limit", "1")
    assert run("fetch", "theirs") == "3 named, 1 in force, 2 wait for approval.\n"


def test_the_list_of_this_server_can_be_subscribed_to(site: Site) -> None:
    visitor = Client()
    assert visitor.get("/blocklist.csv").status_code == 404
    for domain, chosen in (
        ("bad.example", DomainRuleDraft("suspend", public_comment="spam", private_comment="found by ada")),
        ("covered.example", DomainRuleDraft("suspend", obfuscate=True)),
        ("loud.example", DomainRuleDraft("silence", reject_media=True)),
        ("named.example", DomainRuleDraft("noop", reject_media=True)),
    ):
        create_rule(by=OPERATOR, domain=domain, draft=chosen)
    subscribed(site, listed("theirs.example"))
    change_site(by=OPERATOR, texts=SiteTexts(site_show_domain_blocks="users"))
    assert visitor.get("/blocklist.csv").status_code == 404
    change_site(by=OPERATOR, texts=SiteTexts(site_show_domain_blocks="all"))
    answer = visitor.get("/blocklist.csv")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    lines = [HEADER.strip(), "bad.example,suspend,false,false,,false", "loud.example,silence,true,false,,false"]
    assert answer.content.decode().splitlines() == lines
    assert 'href="/blocklist.csv"' in visitor.get("/about").content.decode()
    again = visitor.get("/blocklist.csv", HTTP_IF_NONE_MATCH=answer.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    change_site(by=OPERATOR, texts=SiteTexts(site_show_domain_blocks="all", site_show_domain_blocks_rationale="all"))
    with CaptureQueriesContext(connection) as queries:
        full = visitor.get("/blocklist.csv").content.decode()
    assert ("bad.example,suspend,false,false,spam,false" in full, "ada" in full) == (True, False)
    assert len(queries) <= 4


def test_a_server_can_subscribe_to_the_published_list_of_another(site: Site) -> None:
    create_rule(by=OPERATOR, domain="bad.example", draft=DomainRuleDraft("suspend", public_comment='a, "b"\nc'))
    change_site(by=OPERATOR, texts=SiteTexts(site_show_domain_blocks="all", site_show_domain_blocks_rationale="all"))
    body = Client().get("/blocklist.csv").content
    DomainRule.objects.all().delete()
    subscribe(by=OPERATOR, draft=draft(site.show("/blocklist.csv", body)))
    work()
    assert list(DomainRule.objects.values_list("domain", "severity", "public_comment")) == [
        ("bad.example", "suspend", 'a, "b"\nc')
    ]
