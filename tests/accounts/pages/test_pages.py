"""Tests of all pages (headers, language, no scripts), and of the pages of signed-in users."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.identity.pages.authorize import permission_groups
from accounts.identity.services.tokens import TokenIdentities, issue_token, register_application
from accounts.models import AccessToken, Grant, User
from social.api import scopes as tree
from social.kernel import redis
from statuses.models import Status
from tests.accounts.identity.oauth.conftest import code_for
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.client import forget_identities
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3] / "social"
OPEN = ["/", "/auth/sign_in", "/auth/sign_up", "/auth/password/reset", "/auth/password/reset/sent", "/auth/confirm",
        "/auth/disabled", "/auth/confirm/wrong", "/auth/password/reset/abc-def",
        "/oauth/authorize/native?code=abc"]  # fmt: skip
SCRIPTED = ("/auth/sign_in",)  # browsers offer passkeys only to scripts
OWN = [
    "/",
    "/oauth/authorize",
    "/oauth/authorized_applications",
    "/auth/sessions",
    "/auth/password",
    "/auth/second_factor",
    "/auth/sign_out",
    "/settings",
    "/settings/profile",
    "/settings/preferences",
    "/settings/preferences/notifications",
    "/settings/imports",
    "/settings/export",
    "/settings/aliases",
    "/settings/migration",
    "/settings/delete",
    "/invites",
]


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize(("path", "signed_in"), [(path, False) for path in OPEN] + [(path, True) for path in OWN])
def test_every_page_is_complete_and_has_security_headers(
    browser: Client, client: Client, path: str, signed_in: bool, language: str
) -> None:
    page = (browser if signed_in else client).get(
        path, {"lang": language} if "?" not in path else None, headers={"Accept-Language": language}
    )
    assert page.status_code == (400 if path == "/oauth/authorize" else 200)
    text = page.content.decode()
    assert f'<html lang="{language}" dir="{"rtl" if language == "ar" else "ltr"}">' in text
    assert text.count("<h1") == 1
    assert "social.localhost" in text
    # The script of members' pages is covered by test_member_script.py; pages in a popup do not load it.
    improved = signed_in and "member-script" in text
    scripts = re.findall(r"<script(?! type=\"module\" id=\"member-script\").*?</script>", text, re.DOTALL)
    assert scripts == (['<script src="/static/passkeys.js" defer></script>'] if path in SCRIPTED else [])
    assert not re.search(r"\son\w+=|\sstyle=|javascript:|<iframe|<link(?! rel=.canonical)[^>]+https?:", text)
    for field in re.findall(r'<(?:input|textarea)[^>]*?id="([^"]+)"', text):
        assert f'for="{field}"' in text, f"{field} has no label"
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert ("script-src 'self'" in policy) == (improved or path in SCRIPTED)
    assert page["Cache-Control"] == "private, no-store"
    assert page["X-Frame-Options"] == "DENY"
    assert page["X-Content-Type-Options"] == "nosniff"


def test_templates_and_styles_contain_no_script_and_load_nothing_from_other_hosts() -> None:
    accounts = ROOT.parent / "accounts" / "templates"
    sources = [
        *(ROOT / "templates").rglob("*.html"),
        *accounts.rglob("*.html"),
        ROOT / "static" / "social.css",
        ROOT / "static" / "icon.svg",
    ]
    assert len(sources) > 30
    for source in sources:
        text = source.read_text()
        if source.name in ("use.html", "api_docs.html", "api_docs_authorized.html"):
            # Pages with passkeys, and pages that call the API, need a script from this server.
            text = re.sub(r"<script src=\"\{% static '[\w./-]+' %\}\" defer>", "", text)
        if source.name == "captcha.html":
            # This is the only page with a script from another site, and only if the operator has configured this service.
            text = text.replace('<script src="{{ captcha.script_url }}" async defer>', "")
        if source.name == "member_script.html":
            text = text.replace("""<script type="module" id="member-script" src="{% static 'member.js' %}\"""", "")
        if source.parent.name == "mail":
            text = text.replace(' style="', " ")  # many mail programs ignore style sheets
        assert not re.search(r"<script|\son(click|load|error)=|@import|url\(\s*['\"]?(https?:)?//|\sstyle=\"", text), (
            source
        )
        if source.suffix == ".css":
            physical = (
                r"(?:margin|padding|border)-(?:left|right)|(?<![-\w])(?:left|right)\s*:|text-align:\s*(?:left|right)"
            )
            assert not re.search(physical, text), "logical properties only: pages are read from right to left too"


def test_the_front_page_describes_the_server(client: Client) -> None:
    text = client.get("/").content.decode()
    assert "social.localhost" in text
    assert 'href="/auth/sign_in"' in text
    assert 'href="/auth/sign_up"' in text
    assert client.post("/").status_code == 405


def test_pages_are_in_the_users_language_unless_another_is_requested(browser: Client, person: User) -> None:
    User.objects.filter(pk=person.pk).update(locale="ar")
    assert 'dir="rtl"' in browser.get("/").content.decode()
    assert 'dir="ltr"' in browser.get("/?lang=en").content.decode()


@needs_federation
def test_the_navigation_links_to_the_users_own_profile(browser: Client) -> None:
    assert 'href="/@ada" aria-label="Your profile: ada @ada@' in browser.get("/").content.decode()
    assert browser.get("/@ada").status_code == 200


@pytest.mark.parametrize(
    "path", ["/oauth/authorized_applications", "/auth/sessions", "/auth/password", "/auth/second_factor"]
)
def test_pages_for_members_redirect_to_the_sign_in_and_back(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 302
    assert response["Location"].startswith(f"/auth/sign_in?next={path.replace('/', '%2F')}") or response[
        "Location"
    ].startswith(f"/auth/sign_in?next={path}")


def test_users_see_what_applications_may_do_and_revoke_it(browser: Client, person: User) -> None:
    mine, other = (
        register_application(name=name, redirect_uris="x://y", scopes="read write") for name in ("Elk", "Ivory")
    )
    for scopes in (["read"], ["read", "write"]):
        issue_token(application=mine, user=person, scopes=scopes)
    issue_token(application=other, user=person, scopes=["read"])
    theirs = issue_token(application=mine, user=make_user(), scopes=["read"])
    code_for(mine, person, redirect_uri="x://y", scope="read")
    page = browser.get("/oauth/authorized_applications").content.decode()
    assert page.count("Elk</bdi>") == 1
    assert "read write" in page
    listed = browser.get("/oauth/authorized_applications", headers={"Accept": "application/json"}).json()
    assert [(item["id"], item["name"]) for item in listed] == [(str(other.pk), "Ivory"), (str(mine.pk), "Elk")]
    assert set(listed[1]["scopes"]) == {"read", "write"}
    done = browser.post(f"/oauth/authorized_applications/{mine.pk}")
    assert done["Location"] == "/oauth/authorized_applications"
    assert "Elk" not in browser.get("/oauth/authorized_applications").content.decode()
    assert list(AccessToken.objects.filter(application=mine)) == [theirs]
    assert not Grant.objects.exists()
    assert browser.delete(f"/oauth/authorized_applications/{other.pk}").status_code == 303
    assert browser.post("/oauth/authorized_applications/999999").status_code == 404
    assert (
        "No applications have access to your account" in browser.get("/oauth/authorized_applications").content.decode()
    )


def test_an_application_shows_the_day_on_which_it_was_last_used(browser: Client, person: User, client: Client) -> None:
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with time_machine.travel(start, tick=False):
        application = register_application(name="Elk", redirect_uris="x://y", scopes="read")
        token = issue_token(application=application, user=person, scopes=["read"])
    for day, shown in ((6, "Jan. 6, 2026"), (9, "Jan. 9, 2026")):
        with time_machine.travel(start.replace(day=day, hour=10), tick=False):
            forget_identities()
            redis.client("cache").flushdb()
            headers = {"Authorization": f"Bearer {token.token}"}
            assert client.get("/api/v1/accounts/verify_credentials", headers=headers).status_code == 200
            text = browser.get("/oauth/authorized_applications").content.decode()
            assert f"since Jan. 5, 2026 · last used {shown}" in text


def test_the_use_of_a_token_is_stored_once_a_day(person: User, client: Client, django_assert_num_queries: Any) -> None:
    application = register_application(name="Elk", redirect_uris="x://y", scopes="read")
    token = issue_token(application=application, user=person, scopes=["read"])
    for _time in range(2):
        forget_identities()
        redis.client("cache").flushdb()
        with django_assert_num_queries(1):
            assert TokenIdentities().find_identity(token.token) is not None
    AccessToken.objects.filter(pk=token.pk).update(last_used_at=None)
    for queries in (2, 1):
        with django_assert_num_queries(queries):
            TokenIdentities().find_identity(token.token)


def test_the_list_of_applications_takes_the_same_queries_for_any_number(
    browser: Client, person: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        application = register_application(name=f"App {number}", redirect_uris="x://y")
        issue_token(application=application, user=person, scopes=["read"])
    browser.get("/")
    with django_assert_max_num_queries(5):
        browser.get("/oauth/authorized_applications")


def test_every_scope_has_a_description_and_a_child_adds_nothing_to_its_parent() -> None:
    for scope in tree.SCOPES:
        (group,) = permission_groups([scope])
        (line,) = group.permissions
        assert str(line.words)
        assert line.scope == scope
    asked = ["read:lists", "push", "admin:read", "read", "write:media", "follow"]
    shown = {group.kind: [line.scope for line in group.permissions] for group in permission_groups(asked)}
    assert shown == {"see": ["read", "push"], "change": ["write:media", "follow"], "staff": ["admin:read"]}


def test_the_consent_page_groups_scopes_by_what_they_allow(browser: Client) -> None:
    application = register_application(name="x", redirect_uris="x://y", scopes="read write")
    asked = {"client_id": application.client_id, "redirect_uri": "x://y", "response_type": "code"}
    text = browser.get("/oauth/authorize", {**asked, "scope": "write:media read:lists"}).content.decode()
    places = [text.index(part) for part in ("It can see", "See your lists", "It can change", "Upload pictures")]
    assert places == sorted(places)
    assert "It can change" not in browser.get("/oauth/authorize", {**asked, "scope": "read"}).content.decode()


def test_the_name_of_an_application_is_escaped(browser: Client) -> None:
    application = register_application(name='<b onclick="x">&amp;', redirect_uris="x://y", scopes="read")
    asked = {"client_id": application.client_id, "redirect_uri": "x://y", "response_type": "code"}
    text = browser.get("/oauth/authorize", asked).content.decode()
    assert "<b onclick" not in text
    assert "&lt;b onclick" in text


POPUP = ["/auth/sign_in", "/auth/sign_up", "/auth/password/reset", "/auth/disabled", "/auth/confirm",
         "/auth/second_factor/sign_in", "/auth/sign_out", "/oauth/authorize", "/oauth/authorize/native?code=abc",
         "/nothing/here"]  # fmt: skip


@pytest.mark.parametrize("path", POPUP)
def test_trap_51_sign_in_pages_leave_a_web_client_the_handle_of_its_popup(client: Client, path: str) -> None:
    assert client.get(path)["Cross-Origin-Opener-Policy"] == "unsafe-none"


def test_trap_51_consent_and_code_pages_and_redirects_leave_the_handle_too(browser: Client) -> None:
    application = register_application(name="Elk", redirect_uris="urn:ietf:wg:oauth:2.0:oob", scopes="read")
    asked = {"client_id": application.client_id, "redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "response_type": "code"}
    consent = browser.get("/oauth/authorize", asked)
    granted = browser.post("/oauth/authorize", {**asked, "decision": "allow"})
    code = browser.get(granted["Location"])
    sent_away = Client().get("/oauth/authorize", asked)
    wrong_form = Client(enforce_csrf_checks=True).post("/auth/sign_in")
    for response, status in ((consent, 200), (granted, 302), (code, 200), (sent_away, 302), (wrong_form, 403)):
        assert response.status_code == status
        assert response["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert browser.get("/")["Cross-Origin-Opener-Policy"] == "same-origin"


def test_all_404_pages_are_equal_and_have_the_usual_frame(client: Client, person: User) -> None:
    pages = [client.get(path) for path in ("/nothing/here", "/@nobody", "/@ada/1", "/tags/!", "/oauth/nothing")]
    for page in pages:
        text = page.content.decode()
        assert page.status_code == 404
        assert "There is nothing at this address, or you may not see it." in text
        assert page["Content-Security-Policy"] == client.get("/about")["Content-Security-Policy"]
        assert 'href="/about"' in text
        assert 'hreflang="de"' in text
        assert page["X-Request-Id"] in text


def test_a_chosen_language_stays(client: Client, browser: Client, person: User) -> None:
    assert 'lang="en"' in client.get("/auth/sign_in").content.decode()
    assert '<html lang="de"' in client.get("/auth/sign_in?lang=de").content.decode()
    assert '<html lang="de"' in client.get("/about", headers={"Accept-Language": "ar"}).content.decode()
    assert '<html lang="de"' in client.get("/nothing/here").content.decode()
    assert '<html lang="ar"' in client.get("/about?lang=ar").content.decode()
    assert '<html lang="ar"' in client.get("/").content.decode()
    User.objects.filter(pk=person.pk).update(locale="ar")
    assert '<html lang="ar"' in browser.get("/").content.decode()
    browser.get("/?lang=de")
    assert '<html lang="de"' in browser.get("/").content.decode(), "the latest choice takes precedence"
    browser.get("/?lang=xx")
    assert '<html lang="de"' in browser.get("/").content.decode()
    browser.cookies["language"] = "nonsense"
    assert '<html lang="ar"' in browser.get("/").content.decode()
    assert browser.get("/api/v1/nothing").headers.get("Set-Cookie") is None


def test_robots_txt_disallows_what_crawlers_should_not_read(client: Client) -> None:
    answer = client.get("/robots.txt")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
    lines = answer.content.decode().splitlines()
    assert lines[0] == "User-agent: *"
    assert "Disallow: /auth/" in lines
    assert "Disallow: /" not in lines


@needs_federation
def test_times_are_shown_in_the_readers_time_zone_with_its_name(client: Client, browser: Client, person: User) -> None:
    post = make_status(person.account, "hello")
    Status.objects.filter(pk=post.pk).update(created_at=datetime(2026, 1, 31, 23, 30, tzinfo=UTC))
    path = f"/@ada/{post.id}"
    assert "Jan. 31, 2026 11:30 p.m. UTC" in client.get(path).content.decode()
    User.objects.filter(pk=person.pk).update(time_zone="Europe/Berlin")
    text = browser.get(path).content.decode()
    assert "Feb. 1, 2026 12:30 a.m. CET" in text
    assert 'datetime="2026-02-01T00:30:00+01:00"' in text
    assert "11:30 p.m. UTC" in client.get(path).content.decode(), "the next reader has a different time zone"
    User.objects.filter(pk=person.pk).update(time_zone="Nowhere/Land")
    assert "11:30 p.m. UTC" in browser.get(path).content.decode()
