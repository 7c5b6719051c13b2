"""Tests of blocklists that require basic authentication: who sees the password, and to which sites it is sent."""

import base64
import io
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from accounts.models import AuditEntry
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import Blocklist
from moderation.blocklists.services.lists import change_list, count_passwords, reencrypt_passwords, subscribe
from social.kernel.crypto import decrypt
from social.kernel.errors import Invalid
from tests.factories.accounts import make_user
from tests.moderation.blocklists import draft, fetched, listed, rules, subscribed
from tests.support.client import signed_in
from tests.support.site import Site, serving
from tests.support.work import work

pytestmark = pytest.mark.django_db
ADA = f"Basic {base64.b64encode('ada:open: sésame'.encode()).decode()}"


@pytest.fixture
def asked(site: Site) -> list[str | None]:
    """The `Authorization` headers of the requests to the site, which returns 401 unless they contain Ada's password."""
    found: list[str | None] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        found.append(handler.headers["Authorization"])
        status, headers, body = site.pages[handler.path]
        handler.send_response(status if found[-1] == ADA else 401)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body.encode() if isinstance(body, str) else body)

    site.instead = answer
    return found


def test_a_list_behind_a_password_is_fetched_and_the_password_is_shown_to_nobody(
    site: Site, asked: list[str | None]
) -> None:
    blocklist = subscribed(site, listed("a.example"))
    assert (rules(), "answers 401" in blocklist.last_error, asked) == ({}, True, [None])
    change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, username="ada", password="open: sésame"))
    fetched(blocklist)
    assert (rules(), asked[-1]) == ({"a.example": "suspend"}, ADA)
    assert ("sésame" not in blocklist.password, decrypt(blocklist.password)) == (True, "open: sésame")
    assert "sésame" not in repr(draft("", password="open: sésame"))
    details = str(list(AuditEntry.objects.values_list("details", flat=True)))
    assert ("sésame" in details, blocklist.password in details, "'password': True" in details) == (False, False, True)


def test_the_password_is_kept_until_it_is_replaced_or_its_name_or_its_server_changes(
    site: Site, asked: list[str | None]
) -> None:
    url = site.show("/list", listed("a.example"))
    blocklist = subscribe(by=OPERATOR, draft=draft(url, username="ada", password="secret"))
    stored = blocklist.password

    def change(url: str = url, **values: Any) -> str:
        change_list(by=OPERATOR, blocklist=blocklist, draft=draft(url, **values))
        blocklist.refresh_from_db()
        return blocklist.password and decrypt(blocklist.password)

    assert (change(username="ada"), blocklist.password) == ("secret", stored)
    assert change(f"{site.address}/other", username="ada") == "secret"
    assert change(username="ada", password="other") == "other"
    assert change("https://lists.example/list", username="ada") == ""
    assert change("https://lists.example/list", username="ada", password="third") == "third"
    assert change("http://lists.example/list".replace("http:", "https:") + "#x", username="") == ""
    for wrong in ({"username": "a:b"}, {"username": "a\n"}, {"password": "x"}, {"username": "a" * 256}):
        with pytest.raises(Invalid):
            change(**wrong)
    with pytest.raises(Invalid):
        change(username="a", password="x" * 256)


def test_the_password_is_sent_only_to_the_origin_of_the_list(site: Site, asked: list[str | None]) -> None:
    with serving() as elsewhere:
        seen: list[str | None] = []

        def note(handler: BaseHTTPRequestHandler) -> None:
            seen.append(handler.headers["Authorization"])
            handler.send_error(404)

        elsewhere.instead = note
        site.show("/moved", "", status=302, Location=f"{elsewhere.address}/list")
        site.show("/data", f'{{"type": "Dataset", "endpoints": {{"snapshot": "{elsewhere.address}/snapshot"}}}}')
        site.show("/own", f'{{"type": "Dataset", "endpoints": {{"snapshot": "{site.address}/snapshot"}}}}')
        site.show("/snapshot", '["a.example"]')
        for path in ("/moved", "/data", "/own"):
            chosen = draft(f"{site.address}{path}", path, username="ada", password="open: sésame")
            subscribe(by=OPERATOR, draft=chosen)
            work()
    assert seen == [None, None]
    assert asked == [ADA] * 4
    assert rules() == {"a.example": "suspend"}


def test_a_new_encryption_key_opens_the_passwords_of_lists(settings: Any) -> None:
    blocklist = subscribe(by=OPERATOR, draft=draft("https://l.example/1", username="ada", password="secret"))
    subscribe(by=OPERATOR, draft=draft("https://l.example/2", "without"))
    new = Fernet.generate_key().decode()
    assert count_passwords() == reencrypt_passwords(by=OPERATOR, keys=[new, *settings.FIELD_ENCRYPTION_KEYS]) == 1
    settings.FIELD_ENCRYPTION_KEYS = (new,)
    blocklist.refresh_from_db()
    assert decrypt(blocklist.password) == "secret"


def test_a_password_that_cannot_be_decrypted_is_reported_and_no_request_is_sent(
    site: Site, asked: list[str | None], settings: Any
) -> None:
    url = site.show("/list", listed("a.example"))
    blocklist = subscribe(by=OPERATOR, draft=draft(url, username="ada", password="open: sésame"))
    settings.FIELD_ENCRYPTION_KEYS = (Fernet.generate_key().decode(),)
    fetched(blocklist)
    assert ("cannot be decrypted" in blocklist.last_error, asked, rules()) == (True, [], {})


def test_the_page_takes_a_password_and_never_shows_it(site: Site, asked: list[str | None], settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client: Client = signed_in(make_user("boss", role="Owner"))
    sent = {"name": "theirs", "mode": "automatic", "follows_limit": "0", "suspend_as": "suspend"}
    sent |= {
        "silence_as": "silence",
        "noop_as": "ignore",
        "content_type": "text/csv",
        "url": site.show("/list", listed("a.example")),
    }
    client.post("/admin/moderation/blocklist/add/", sent | {"username": "ada", "password": "open: sésame"})
    work()
    assert rules() == {"a.example": "suspend"}
    path = f"/admin/moderation/blocklist/{Blocklist.objects.get().pk}/change/"
    page = client.get(path).content.decode()
    assert ("sésame" in page, Blocklist.objects.get().password in page, 'value="ada"' in page) == (False, False, True)
    client.post(path, sent | {"username": "ada", "password": ""})
    assert decrypt(Blocklist.objects.get().password) == "open: sésame"
    client.post(path, sent | {"username": ""})
    assert (Blocklist.objects.get().username, Blocklist.objects.get().password) == ("", "")


def test_the_command_reads_the_password_from_a_file_or_standard_input(
    site: Site, asked: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = site.show("/list", listed("a.example"))
    file, access = tmp_path / "password", ("--username", "ada", "--password-file")
    file.write_text("open: sésame\n")
    assert "1 new rules" in command("try", url, *access, str(file))
    monkeypatch.setattr("sys.stdin", io.StringIO("open: sésame\n"))
    assert command("add", "theirs", url, "--mode", "automatic", *access, "-") == "theirs: automatic, added.\n"
    work()
    assert (rules(), asked) == ({"a.example": "suspend"}, [ADA] * 2)
    for wrong in ("", "\n", "two\nlines\n"):
        file.write_text(wrong)
        with pytest.raises(CommandError, match="one line"):
            command("add", "other", f"{url}2", *access, str(file))
    with pytest.raises(CommandError, match="cannot be read"):
        command("try", f"{url}2", *access, str(tmp_path / "missing"))
    file.write_text("x")
    for act in (("add", "other"), ("try",)):
        with pytest.raises(CommandError, match="blank"):
            command(*act, f"{url}2", "--password-file", str(file))
    assert Blocklist.objects.count() == 1


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("manage_blocklists", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()
