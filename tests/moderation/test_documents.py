"""Tests of documents about this server other than the instance documents (SEED-035, 037, 047; contract, behaviours 19)."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import AuditEntry, Domain, User
from accounts.policies.staff import Staff, staff_of
from accounts.queries.site_settings import retention_days
from moderation.models import Announcement, DomainRule, InstanceRule, TermsOfService
from moderation.policies.documents import ACCESS_NAMES, RETENTION_NAMES, RuleDraft, SiteTexts, TermsDraft, obfuscated
from moderation.services.activity import count_activity
from moderation.services.documents import (
    change_site,
    change_thumbnail,
    create_rule,
    delete_terms,
    publish_terms,
    withdraw_rule,
    write_terms,
)
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, Invalid
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_reblog, make_remote_status, make_status, picture
from tests.support import moments
from tests.support.client import Api

pytestmark = pytest.mark.django_db
INSTANCE = "/api/v1/instance"


@pytest.fixture
def boss() -> Staff:
    return staff_of(make_user("boss", role="Owner"))


def read(path: str, api: Api | None = None) -> Any:
    answer = (api or Api()).get(f"{INSTANCE}/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def site(boss: Staff, **texts: Any) -> None:
    change_site(by=boss, texts=SiteTexts(**texts))


def test_seed_037_and_047_the_activity_of_twelve_weeks_is_counted_and_written_as_strings() -> None:
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    with moments.at(monday + timedelta(days=2)):
        ann, bea = make_user("ann"), make_user("bea")
        make_reblog(bea.account, make_status(ann.account))
        make_remote_status(make_remote())
        User.objects.filter(pk=ann.pk).update(active_at=clock.now())
        for _time in range(2):
            count_activity()
        make_status(ann.account)
        count_activity()
        weeks = read("activity")
    assert len(weeks) == 12
    assert weeks[0] == {
        "week": str(int(monday.timestamp())),
        "statuses": "2",
        "logins": "2",
        "registrations": "2",
    }
    assert weeks[1] == {
        "week": str(int((monday - timedelta(weeks=1)).timestamp())),
        "statuses": "0",
        "logins": "0",
        "registrations": "0",
    }
    with moments.at(monday + timedelta(weeks=1, hours=1)):
        User.objects.update(active_at=clock.now())
        count_activity()
        later = read("activity")
    assert (later[1]["logins"], later[0]["logins"]) == ("2", "2"), "the counts of past weeks do not change"


def test_seed_037_known_servers_are_listed_and_searched(boss: Staff) -> None:
    for name in ("cats.example", "dogs.example", "bad.example"):
        Domain.objects.create(name=name)
    DomainRule.objects.create(domain="bad.example", severity="suspend")
    DomainRule.objects.create(domain="dogs.example", severity="silence")
    assert read("peers") == ["cats.example", "dogs.example"]
    found = {q: Api().get("/api/v1/peers/search", {"q": q}).json() for q in ("CA", "bad", "%", "")}
    assert found == {"CA": ["cats.example"], "bad": [], "%": [], "": ["cats.example", "dogs.example"]}
    assert Api().get("/api/v1/peers/search").content == b"null"
    site(boss, site_publish_peers=False, site_publish_activity=False)
    for path in (f"{INSTANCE}/peers", "/api/v1/peers/search", f"{INSTANCE}/activity"):
        answer = Api().get(path)
        assert (answer.status_code, answer.content) == (404, b""), path


def test_the_setting_decides_who_sees_domain_blocks(boss: Staff) -> None:
    DomainRule.objects.create(domain="mild.example", severity="silence", public_comment="Ads", private_comment="No")
    DomainRule.objects.create(domain="hidden.example", severity="suspend", obfuscate=True)
    DomainRule.objects.create(domain="another.example", severity="suspend")
    DomainRule.objects.create(domain="noop.example", severity="noop")
    person = Api(make_token(make_user()))
    path = f"{INSTANCE}/domain_blocks"
    for api in (Api(), person):
        answer = api.get(path)
        assert (answer.status_code, answer.content) == (404, b"")
    site(boss, site_show_domain_blocks="users", site_show_domain_blocks_rationale="disabled")
    assert Api().get(path).status_code == 404
    assert [block["comment"] for block in read("domain_blocks", person)] == [None, None, None]
    site(boss, site_show_domain_blocks="all", site_show_domain_blocks_rationale="users")
    assert [block["comment"] for block in read("domain_blocks")] == [None, None, None]
    shown = read("domain_blocks", person)
    assert [(block["domain"], block["severity"], block["comment"]) for block in shown] == [
        ("mild.example", "silence", "Ads"),
        ("another.example", "suspend", ""),
        ("hid***.****ple", "suspend", ""),
    ]
    assert shown[2]["digest"] == hashlib.sha256(b"hidden.example").hexdigest()
    assert obfuscated("a.b") == "a.b"


def test_descriptions_and_policies_are_markdown_and_never_html(boss: Staff) -> None:
    assert read("extended_description") == {"updated_at": None, "content": ""}
    built_in = read("privacy_policy")
    assert "<h2>" in built_in["content"]
    assert built_in["updated_at"].endswith("Z")
    text = "# Hi\n\n*there* <script>alert(1)</script> [x](javascript:alert(1)) ![y](https://z.example/p.png)"
    site(boss, site_extended_description=text, site_privacy_policy=text)
    for path, page in (("extended_description", "/about"), ("privacy_policy", "/privacy-policy")):
        content = read(path)["content"]
        assert content.startswith("<h1>Hi</h1>\n<p><em>there</em>")
        assert "<script" not in content
        assert "javascript:alert" not in content.replace("](javascript", "")
        assert "<h2>Hi</h2>" in Client().get(page).content.decode(), "the page has a heading above"


def test_terms_of_service_apply_from_their_day(boss: Staff) -> None:
    today = date(2026, 11, 22)
    with time_machine.travel(datetime(2026, 11, 22, 12, tzinfo=UTC), tick=False):
        for path in ("terms_of_service", "terms_of_service/2025-01-01", "terms_of_service/nonsense"):
            answer = Api().get(f"{INSTANCE}/{path}")
            assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
        assert Client().get("/terms-of-service").status_code == 404
        first = write_terms(by=boss, draft=TermsDraft("*First*", effective_date=today + timedelta(1)))
        assert Api().get(f"{INSTANCE}/terms_of_service").status_code == 404, "a draft is not shown"
        publish_terms(by=boss, terms=first)
        expected = {"effective_date": "2026-11-23", "effective": False, "content": "<p><em>First</em></p>"}
        assert read("terms_of_service") == expected | {"succeeded_by": None}
        second = write_terms(by=boss, draft=TermsDraft("Second", "What is new", date(2026, 12, 24)))
        publish_terms(by=boss, terms=second)
        url = Api().get("/api/v2/instance").json()["configuration"]["urls"]["terms_of_service"]
        assert url.endswith("/terms-of-service")
    with time_machine.travel(datetime(2026, 11, 24, 12, tzinfo=UTC), tick=False):
        assert read("terms_of_service") == expected | {"effective": True, "succeeded_by": "2026-12-24"}
        assert read("terms_of_service/2026-12-24")["content"] == "<p>Second</p>"
        page = Client().get("/terms-of-service").content.decode()
        assert "/terms-of-service/2026-12-24" in page
        assert "What is new" in Client().get("/terms-of-service/2026-12-24").content.decode()
        assert 'href="/terms-of-service"' in Client().get("/about").content.decode()
    for act in (publish_terms, delete_terms):
        with pytest.raises(Conflict):
            act(by=boss, terms=first)
    with pytest.raises(Conflict):
        write_terms(by=boss, draft=TermsDraft("x"), terms=first)


def test_invalid_drafts_of_terms_are_refused(boss: Staff) -> None:
    with pytest.raises(Invalid):
        write_terms(by=boss, draft=TermsDraft(" "))
    undated = write_terms(by=boss, draft=TermsDraft("x"))
    past = write_terms(by=boss, draft=TermsDraft("x", effective_date=date(2020, 1, 1)))
    for terms in (undated, past):
        with pytest.raises(Invalid):
            publish_terms(by=boss, terms=terms)
    with pytest.raises(Invalid):
        write_terms(by=boss, draft=TermsDraft("x", effective_date=date(2020, 1, 1)))
    delete_terms(by=boss, terms=past)
    assert TermsOfService.objects.count() == 1


def test_without_a_translation_service_no_language_is_translatable_and_each_has_a_name() -> None:
    assert read("translation_languages") == {}
    assert read("languages")[0] == {"code": "aa", "name": "Afar"}
    assert Api().get("/api/v2/instance").json()["configuration"]["translation"] == {"enabled": False}


def test_texts_of_staff_are_in_the_instance_documents_and_the_audit_log(boss: Staff, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    site(
        boss,
        site_title="The Garden",
        site_short_description="Plants",
        site_contact_username="boss",
        site_contact_email="boss@example.com",
        site_languages=("de", "en"),
        site_status_page_url="https://status.example/",
        site_closed_message="Come *back*",
    )
    change_thumbnail(by=boss, data=picture(1400, 800))
    shown = Api().get("/api/v2/instance").json()
    assert (shown["title"], shown["description"], shown["languages"]) == ("The Garden", "Plants", ["de", "en"])
    assert shown["contact"]["account"]["acct"] == "boss"
    assert shown["configuration"]["urls"]["status"] == "https://status.example/"
    assert shown["registrations"]["message"] == "<p>Come <em>back</em></p>"
    thumbnail = shown["thumbnail"]["url"]
    assert "/site/" in thumbnail
    assert Api().get("/api/v1/instance").json()["thumbnail"] == thumbnail
    entry = AuditEntry.objects.filter(target_type="SiteSetting").order_by("id").first()
    assert entry is not None
    assert entry.details["after"]["site_title"] == "The Garden"
    change_thumbnail(by=boss, data=None)
    assert Api().get("/api/v2/instance").json()["thumbnail"]["url"].endswith("thumbnail.png")
    for wrong in (
        {"site_contact_username": "nobody"},
        {"site_contact_email": "x"},
        {"site_languages": ("xx",)},
        {"site_status_page_url": "javascript:alert(1)"},
        {"site_show_domain_blocks": "x"},
        {"site_title": "x" * 101},
    ):
        with pytest.raises(Invalid):
            site(boss, **wrong)
    with pytest.raises(Invalid):
        change_thumbnail(by=boss, data=b"no picture")


def test_changing_texts_of_the_server_requires_the_permission(boss: Staff) -> None:
    other = staff_of(make_user("mod", role="Moderator"))
    nobody = Staff(account_id=other.account_id, name="@mod", permissions=0x10, position=other.position)
    for act in (
        lambda: create_rule(by=nobody, draft=RuleDraft("x")),
        lambda: write_terms(by=nobody, draft=TermsDraft("x")),
        lambda: change_site(by=nobody, texts=SiteTexts()),
        lambda: change_thumbnail(by=nobody, data=None),
    ):
        with pytest.raises(Forbidden):
            act()
    for draft in (RuleDraft(" "), RuleDraft("x" * 301), RuleDraft("x", translations={"xx": {"text": "y"}})):
        with pytest.raises(Invalid):
            create_rule(by=boss, draft=draft)
    rule = create_rule(by=boss, draft=RuleDraft("x"))
    for _time in range(2):
        withdraw_rule(by=boss, rule=rule)
    assert AuditEntry.objects.filter(target_type="Rule").count() == 2
    assert read("rules") == []


def test_staff_edit_all_documents_in_the_admin(
    boss: Staff, settings: Any, django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[Any]]
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser = Client()
    browser.force_login(User.objects.get(account_id=boss.account_id))

    def send(path: str, **values: Any) -> str:
        answer = browser.post(f"/admin/{path}", values)
        assert answer.status_code in (200, 302, 422), (path, answer.status_code)
        return answer.content.decode()

    send("moderation/instancerule/add/", text="Be kind", hint="Always", position="1", text_de="Sei nett")
    rule = InstanceRule.objects.get()
    assert rule.translations == {"de": {"text": "Sei nett", "hint": ""}}
    send(f"moderation/instancerule/{rule.pk}/change/", text="Be nice", position="2", hint_de="Immer")
    rule.refresh_from_db()
    assert (rule.text, rule.hint, rule.position, rule.translations) == (
        "Be nice",
        "",
        2,
        {"de": {"text": "", "hint": "Immer"}},
    )
    assert "errorlist" in send("moderation/instancerule/add/", text="x" * 301, position="1")
    for wrong in ("-1", "1001"):
        assert "Must be a number from 0 to 1000" in send("moderation/instancerule/add/", text="Be", position=wrong)
    assert "Enter a whole number" in send("moderation/instancerule/add/", text="Be", position="first")
    send(f"moderation/instancerule/{rule.pk}/delete/", post="yes")
    rule.refresh_from_db()
    assert rule.withdrawn_at is not None

    day = clock.now().date() + timedelta(days=5)
    send("moderation/termsofservice/add/", text="Terms", effective_date=str(day))
    terms = TermsOfService.objects.get()
    send("moderation/termsofservice/", action="publish", _selected_action=terms.pk, confirmed="yes")
    terms.refresh_from_db()
    assert terms.published_at is not None
    assert browser.post(f"/admin/moderation/termsofservice/{terms.pk}/delete/", {"post": "yes"}).status_code == 403

    send("moderation/announcement/add/", text="Hello", ends_at="2090-01-01T12:00")
    announcement = Announcement.objects.get()
    assert announcement.ends_at == datetime(2090, 1, 1, 12, tzinfo=UTC)
    page = f"moderation/announcement/{announcement.pk}"
    assert "/publish/" in browser.get(f"/admin/{page}/change/").content.decode()
    send(f"{page}/publish/", confirmed="yes")
    assert "/unpublish/" in browser.get(f"/admin/{page}/change/").content.decode()
    send(f"moderation/announcement/{announcement.pk}/change/", text="Changed")
    announcement.refresh_from_db()
    assert announcement.published_at is not None
    assert (announcement.content, announcement.ends_at) == ("<p>Changed</p>", None)
    send(f"moderation/announcement/{announcement.pk}/delete/", post="yes")
    assert Announcement.objects.count() == 0

    switches = {
        "site_show_domain_blocks": "all",
        "site_show_domain_blocks_rationale": "users",
        **dict.fromkeys(ACCESS_NAMES, "public"),
        **dict.fromkeys(RETENTION_NAMES, "0"),
        "site_access_live_feeds_remote": "authenticated",
        "site_keep_addresses_days": "30",
        "site_landing_page": "trends",
        "site_minimum_age": "0",
        "site_remote_media_megabytes": "10240",
        "site_remote_posts_limit": "0",
    }
    with django_capture_on_commit_callbacks(execute=True):
        send("accounts/sitesetting/", site_title="The Garden", site_publish_peers="on", **switches)
    assert Api().get("/api/v2/instance").json()["title"] == "The Garden"
    assert Api().get(f"{INSTANCE}/activity").status_code == 404
    access = Api().get("/api/v2/instance").json()["configuration"]["timelines_access"]
    assert access["live_feeds"] == {"local": "public", "remote": "authenticated"}
    assert access["hashtag_feeds"] == {"local": "public", "remote": "public"}
    assert retention_days("KEEP_ADDRESSES_DAYS") == 30
    short = {**switches, "site_keep_audit_log_days": "29"}
    refused = send("accounts/sitesetting/", **short)
    assert "between 30 and" in refused
    assert "Please correct the error below." in refused
    settings.FIXED_SITE_SETTINGS = frozenset({"KEEP_ADDRESSES_DAYS"})
    send("accounts/sitesetting/", **{**switches, "site_keep_addresses_days": "7"})
    assert "as KEEP_ADDRESSES_DAYS" in browser.get("/admin/accounts/sitesetting/").content.decode()
    assert retention_days("KEEP_ADDRESSES_DAYS") == settings.KEEP_ADDRESSES_DAYS
    settings.FIXED_SITE_SETTINGS = frozenset()
    assert retention_days("KEEP_ADDRESSES_DAYS") == 30
    assert 'class="errors ' in send("accounts/sitesetting/", site_contact_username="nobody", **switches)
    moderator = make_user("mod", role="Moderator")
    moderator.role.permissions = 0x10
    moderator.role.save()
    browser.force_login(moderator)
    for path in (
        "moderation/instancerule/",
        "moderation/termsofservice/",
        "moderation/announcement/",
        "accounts/sitesetting/",
    ):
        assert browser.get(f"/admin/{path}").status_code == 403, path
