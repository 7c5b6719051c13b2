"""Tests of mail: in the reader's language, as text and HTML, without injected headers, and retried after failures."""

from collections.abc import Iterator
from email.header import decode_header, make_header
from email.utils import parseaddr
from pathlib import Path

import pytest
from django.core import mail as outgoing
from django.core.mail import get_connection
from pytest_django.fixtures import Settings

from social.kernel import mail
from social.kernel.errors import Unavailable
from social.settings import env
from tests.support.mail_server import MailServer

TEMPLATES = {
    "greeting.subject.txt": "{% load i18n %}{% translate 'Sign in' %}: {{ name }}\n",
    "greeting.txt": "Hello {{ name }} <{{ language }}> {{ direction }}\n\n",
    "greeting.html": '<p dir="{{ direction }}">Hello {{ name }}</p>',
    "footer.txt": "Sent by {{ server_name }}",
    "plain.subject.txt": "Plain",
    "plain.txt": "Only text",
}


@pytest.fixture(autouse=True)
def templates(tmp_path: Path, settings: Settings) -> None:
    """Two mail templates for this test."""
    (tmp_path / "mail").mkdir()
    for name, text in TEMPLATES.items():
        (tmp_path / "mail" / name).write_text(text)
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.WEB_DOMAIN = "social.example:8443"
    outgoing.outbox = []


def test_a_mail_has_text_and_html_in_the_language_of_its_reader() -> None:
    assert mail.send("a@example.org", "greeting", {"name": "Ünal & <Söhne>"}, "ar")
    (sent,) = outgoing.outbox
    assert sent.body == "Hello Ünal & <Söhne> <ar> rtl\n\n-- \nSent by social.localhost\n"
    ((html, kind),) = sent.alternatives
    assert (html, kind) == ('<p dir="rtl">Hello Ünal &amp; &lt;Söhne&gt;</p>', "text/html")
    assert sent.message()["Content-Language"] == "ar"
    assert sent.to == ["a@example.org"]


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        ("notifications@social.example", "Birds, & Böcke <notifications@social.example>"),
        ("Operator <mail@social.example>", "Operator <mail@social.example>"),
    ],
)
def test_the_sender_of_a_mail_is_the_server(settings: Settings, chosen: str, shown: str) -> None:
    settings.DEFAULT_FROM_EMAIL = chosen
    mail.send("a@example.org", "plain", {}, "en", server_name="Birds,\n& Böcke")
    sent = outgoing.outbox[0]
    name, address = parseaddr(sent.from_email)
    assert f"{make_header(decode_header(name))} <{address}>" == shown
    assert "Sent by Birds" in sent.body


def test_text_of_another_person_is_quoted_line_by_line() -> None:
    assert mail.quoted("One\n\n-- \nTwo\n") == "> One\n>\n> --\n> Two"


def test_a_mail_without_an_html_template_is_plain_text() -> None:
    mail.send("a@example.org", "plain", {}, "en")
    assert outgoing.outbox[0].alternatives == []


def test_a_mail_is_marked_as_automatic_and_does_not_reveal_the_host() -> None:
    mail.send("a@example.org", "plain", {}, "en", headers={"List-Unsubscribe": "<https://social.example/x>"})
    message = outgoing.outbox[0].message()
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@social.example>")
    assert message["List-Unsubscribe"] == "<https://social.example/x>"


@pytest.mark.parametrize("name", ["x\r\nBcc: all@example.org", "x\nBcc: y", "a\x0b\x0cb", "x\u2028Bcc: z", "n" * 5000])
def test_a_display_name_cannot_add_a_mail_header(name: str) -> None:
    mail.send("a@example.org", "greeting", {"name": name}, "en")
    message = outgoing.outbox[0].message()
    assert "Bcc" not in message
    assert "\n" not in outgoing.outbox[0].subject
    assert len(outgoing.outbox[0].subject) <= 200
    assert outgoing.outbox[0].recipients() == ["a@example.org"]


@pytest.mark.parametrize(
    "address",
    ["", "a", "a@", "a@b.example\nBcc: c@d.example", "a@b.example, c@d.example", "A <a@b.example>", "a@b.example\x00"],
)
def test_a_mail_is_sent_only_to_one_bare_address(address: str) -> None:
    assert mail.send(address, "plain", {}, "en") is False
    assert outgoing.outbox == []
    with pytest.raises(ValueError):
        mail.compose(address, "plain", {}, "en")


@pytest.mark.parametrize("name", ["../secrets", "a/b", "Plain", "", "plain.txt"])
def test_a_template_name_is_never_a_path(name: str) -> None:
    with pytest.raises(ValueError):
        mail.send("a@example.org", name, {}, "en")


def test_a_header_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError):
        mail.send("a@example.org", "plain", {}, "en", headers={"X-A": "b\nBcc: c@d.example"})


@pytest.fixture
def smtp(request: pytest.FixtureRequest, settings: Settings) -> Iterator[MailServer]:
    """A server that answers RCPT with the test's parameter."""
    server = MailServer(request.param)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", server.port, 2
    yield server
    server.socket.close()


@pytest.mark.parametrize("smtp", [b"250 ok"], indirect=True)
def test_a_mail_reaches_the_mail_server(smtp: MailServer) -> None:
    assert mail.send("a@example.org", "greeting", {"name": "B"}, "de") is True
    assert b"RCPT TO:<a@example.org>\r\n" in [line.replace(b"rcpt", b"RCPT") for line in smtp.received]


@pytest.mark.parametrize("smtp", [b"550 no such user"], indirect=True)
def test_a_permanently_refused_address_is_not_retried(smtp: MailServer) -> None:
    assert mail.send("a@example.org", "plain", {}, "en") is False


@pytest.mark.parametrize("smtp", [b"451 come back later"], indirect=True)
def test_a_temporarily_refused_address_is_an_error_that_the_outbox_retries(smtp: MailServer) -> None:
    with pytest.raises(Unavailable):
        mail.send("a@example.org", "plain", {}, "en")


def test_a_dead_mail_server_is_an_error_that_the_outbox_retries(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with pytest.raises(Unavailable):
        mail.send("a@example.org", "plain", {}, "en")


@pytest.mark.parametrize("smtp", [b"250 ok"], indirect=True)
def test_several_mails_can_use_one_connection(smtp: MailServer) -> None:
    with get_connection() as connection:
        for number in range(3):
            mail.send(f"a{number}@example.org", "plain", {}, "en", connection=connection)
    assert sum(line[:4].upper() in (b"EHLO", b"HELO") for line in smtp.received) == 1
    assert sum(line[:4].upper() == b"RCPT" for line in smtp.received) == 3


@pytest.mark.parametrize(
    ("url", "port", "implicit", "starttls"),
    [
        ("smtp+tls://u:p@mail.example:587", 587, False, True),
        ("smtp+tls://u:p@mail.example:465", 465, True, False),
        ("smtp+ssl://u:p@mail.example:465", 465, True, False),
        ("smtps://u:p@mail.example:465", 465, True, False),
        ("smtp://u:p@mail.example:465", 465, True, False),
        ("smtp+ssl://u:p@mail.example:4650", 4650, True, False),
        ("smtp+tls://u:p@mail.example", 587, False, True),
        ("smtps://u:p@mail.example", 465, True, False),
        ("smtp://mail.example", 25, False, False),
    ],
)
def test_scheme_and_port_decide_between_implicit_tls_and_starttls(
    url: str, port: int, implicit: bool, starttls: bool
) -> None:
    found = env.mail_settings(url)
    assert (found["EMAIL_PORT"], found["EMAIL_USE_SSL"], found["EMAIL_USE_TLS"]) == (port, implicit, starttls)


def test_without_a_user_in_the_address_the_client_does_not_log_in() -> None:
    assert env.mail_settings("smtp://mail.example:25")["EMAIL_HOST_USER"] is None
    named = env.mail_settings("smtp+tls://me%40x.example:a%2Fb%40c@mail.example:587")
    assert (named["EMAIL_HOST_USER"], named["EMAIL_HOST_PASSWORD"]) == ("me@x.example", "a/b@c")
