"""Mails in the reader's language, handed to the mail server.

Mails are sent by reactions (queue `mailers`), never within a request; the outbox retries them.
"""

import logging
import re
import smtplib
from collections.abc import Iterator, Mapping
from email.utils import formataddr, make_msgid, parseaddr
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.core.validators import validate_email
from django.template import Context, Template, TemplateDoesNotExist, engines
from django.utils import translation

from social.kernel import links
from social.kernel.colours import Palette, Theme
from social.kernel.errors import Unavailable
from social.kernel.identity import current_identity

logger = logging.getLogger(__name__)
_TEMPLATE: Final = re.compile(r"[a-z0-9_]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_QUOTE: Final = "> "
# The colours of the pages, for a server whose owner has chosen no colour.
_PALETTE: Final = Palette(
    light=Theme("#0b6e66", "#095a54", "#ffffff", "#e4f1ef"), dark=Theme("#6ccdbf", "#8ad9cd", "#06231f", "#17302d")
)


class Paragraph(NamedTuple):
    """Paragraph of a mail's text, for its HTML. `quoted`: whether it quotes another person; `link`: whether it is only the
    mail's link.
    """

    text: str
    quoted: bool
    link: bool


class Refused(Unavailable):
    """Error: the mail server refuses this recipient for now, but may accept others."""


def _render(name: str, context: Mapping[str, Any], *, escape: bool) -> str:
    template: Template = engines["django"].get_template(name).template  # type: ignore[attr-defined]  # the wrapper's own template
    return str(template.render(Context(dict(context), autoescape=escape)))


def quoted(text: str) -> str:
    """Return another person's words with a mark before each line, so that nobody takes them for this server's words."""
    return "\n".join(f"{_QUOTE}{line}".rstrip() for line in text.strip().splitlines())


def _paragraphs(text: str, link: object) -> Iterator[Paragraph]:
    for block in _BLANK_LINES.split(text.strip()):
        lines = block.splitlines()
        is_quoted = bool(lines) and all(line.startswith(_QUOTE.rstrip()) for line in lines)
        if is_quoted:
            block = "\n".join(line.removeprefix(_QUOTE.rstrip()).removeprefix(" ") for line in lines)
        yield Paragraph(block, is_quoted, block == link)


def _sender(name: str) -> str:
    """Return the sender's address, with `name` unless the operator has configured another name."""
    chosen, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    return formataddr((chosen or " ".join(_CONTROL.sub(" ", name).split()), address))


def is_deliverable(address: str) -> bool:
    """Tell whether this is one bare address: no display name, no list, nothing that could begin another header."""
    if _CONTROL.search(address) or len(address) > 254:
        return False
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def compose(
    to: str,
    template: str,
    context: Mapping[str, Any],
    language: str,
    *,
    server_name: str = "",
    headers: Mapping[str, str] | None = None,
) -> EmailMultiAlternatives:
    """Render a mail in `language`, ready to be sent.

    `template` names `mail/<template>.subject.txt`, `.txt` and, if there is one, `.html`; `mail/footer.txt` comes below the
    text. The text is rendered without HTML escapes, the HTML with them and with the text's `paragraphs`. In addition to the
    context, text and HTML get `server_name`, `domain`, the `palette` of the server's colour, `language` and `direction` ("ltr"
    or "rtl"). The sender's name is the name of the server. Subject and headers stay one line each, whatever the context
    contains. Raises ValueError for a template name that is a path, and for a header or address that is not one line.
    """
    if not _TEMPLATE.fullmatch(template):
        raise ValueError(f"{template!r} is not the name of a mail template.")
    if not is_deliverable(to):
        raise ValueError("A mail goes to one bare address.")
    if any(_CONTROL.search(name + value) for name, value in (headers or {}).items()):
        raise ValueError("A header is one line.")
    identity = current_identity()
    server_name = server_name or identity.name
    with translation.override(language):
        values = {
            "server_name": server_name,
            "domain": settings.LOCAL_DOMAIN,
            "home": links.web_url("/"),
            "palette": identity.palette or _PALETTE,
            "language": language,
            "direction": "rtl" if translation.get_language_bidi() else "ltr",
            **context,
        }
        subject = _render(f"mail/{template}.subject.txt", values, escape=False)
        text = _render(f"mail/{template}.txt", values, escape=False).strip()
        footer = _render("mail/footer.txt", values, escape=False).strip()
        values |= {"subject": subject.strip(), "paragraphs": list(_paragraphs(text, context.get("link")))}
        try:
            html = _render(f"mail/{template}.html", values, escape=True)
        except TemplateDoesNotExist as missing:
            if missing.args[0] != f"mail/{template}.html":
                raise
            html = ""
    mail = EmailMultiAlternatives(
        subject=" ".join(_CONTROL.sub(" ", subject).split())[:200],
        body=f"{text}\n\n-- \n{footer}\n",
        from_email=_sender(server_name),
        to=[to],
        headers={
            # `Auto-Submitted` keeps auto-responders from answering (RFC 3834). Django's own Message-ID would contain the host's
            # name.
            "Auto-Submitted": "auto-generated",
            "Content-Language": language,
            "Message-ID": make_msgid(domain=_host()),
            **(headers or {}),
        },
    )
    if html:
        mail.attach_alternative(html, "text/html")
    return mail


def message_id(name: str) -> str:
    """Return the Message-ID of a mail, the same each time that the mail is sent."""
    return f"<{name}@{_host()}>"


def _host() -> str:
    return urlsplit(f"//{settings.WEB_DOMAIN}").hostname or "localhost"


def send(
    to: str,
    template: str,
    context: Mapping[str, Any],
    language: str,
    *,
    server_name: str = "",
    headers: Mapping[str, str] | None = None,
    connection: BaseEmailBackend | None = None,
) -> bool:
    """Compose (see `compose`) and send a mail; return False if the address is invalid or refused for good, which is logged
    without the address.

    Several mails may use one open `django.core.mail.get_connection()`. Raises Unavailable when the mail server does not answer
    or refuses for now; the outbox then retries.
    """
    if not is_deliverable(to):
        logger.warning("No mail %s: what should be its address is none", template)
        return False
    mail = compose(to, template, context, language, server_name=server_name, headers=headers)
    mail.connection = connection
    return hand_over(mail, template)


def hand_over(mail: EmailMultiAlternatives, kind: str) -> bool:
    """Send a mail; return False when the mail server refuses the recipient for good, which is logged with the mail's `kind`.
    Raises Refused if the server refuses the recipient for now, Unavailable if the server does not answer or accepts no mail.
    """
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        if codes and all(500 <= code < 600 for code in codes):
            logger.warning("The mail server refuses the recipient of a mail %s for good: %s", kind, codes)
            return False
        raise Refused(f"The mail server refuses the recipient for now: {codes}") from error
    except OSError as error:  # socket errors, and every error from smtplib
        raise Unavailable(f"The mail server did not take a mail: {type(error).__name__}") from error
    return True
