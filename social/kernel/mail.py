"""How a mail is written in the reader's language and handed to the mail server.

Mails are sent by reactions (queue `mailers`), never while somebody's request waits: the outbox tries again for them.
"""

from __future__ import annotations

import logging
import re
import smtplib
from collections.abc import Mapping
from email.utils import make_msgid
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.core.validators import validate_email
from django.template import Context, Template, TemplateDoesNotExist, engines
from django.utils import translation

from social.kernel.errors import Unavailable

logger = logging.getLogger(__name__)
_TEMPLATE: Final = re.compile(r"[a-z0-9_]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


def _template(name: str) -> Template:
    found: Template = engines["django"].get_template(name).template  # type: ignore[attr-defined]
    return found


def _render(name: str, context: Mapping[str, Any], *, escape: bool) -> str:
    return str(_template(name).render(Context(dict(context), autoescape=escape)))


def is_deliverable(address: str) -> bool:
    """Whether this is one bare address: no display name, no list, nothing that could begin another header."""
    if _CONTROL.search(address) or len(address) > 254:
        return False
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def compose(
    to: str, template: str, context: Mapping[str, Any], language: str, *, headers: Mapping[str, str] | None = None
) -> EmailMultiAlternatives:
    """The mail as it will be sent, in `language`.

    `template` names `mail/<template>.subject.txt`, `.txt` and, if there is one, `.html`. Text is rendered without HTML
    escapes, HTML with; both see `language` and `direction` ("ltr" or "rtl") besides the context. Whatever people wrote
    into the context, subject and headers stay one line each. Raises ValueError for a template name that is a path, or a
    header or address that breaks its line.
    """
    if not _TEMPLATE.fullmatch(template):
        raise ValueError(f"{template!r} is not the name of a mail template.")
    if not is_deliverable(to):
        raise ValueError("A mail goes to one bare address.")
    if any(_CONTROL.search(name + value) for name, value in (headers or {}).items()):
        raise ValueError("A header is one line.")
    with translation.override(language):
        values = {**context, "language": language, "direction": "rtl" if translation.get_language_bidi() else "ltr"}
        subject = _render(f"mail/{template}.subject.txt", values, escape=False)
        text = _render(f"mail/{template}.txt", values, escape=False)
        try:
            html = _render(f"mail/{template}.html", values, escape=True)
        except TemplateDoesNotExist as missing:
            if missing.args[0] != f"mail/{template}.html":
                raise
            html = ""
    mail = EmailMultiAlternatives(
        subject=" ".join(_CONTROL.sub(" ", subject).split())[:200],
        body=text.strip() + "\n",
        to=[to],
        headers={
            # RFC 3834: no answering machine shall answer. Django's own Message-ID would contain the host's name.
            "Auto-Submitted": "auto-generated",
            "Content-Language": language,
            "Message-ID": make_msgid(domain=urlsplit(f"//{settings.WEB_DOMAIN}").hostname or "localhost"),
            **(headers or {}),
        },
    )
    if html:
        mail.attach_alternative(html, "text/html")
    return mail


def send(
    to: str,
    template: str,
    context: Mapping[str, Any],
    language: str,
    *,
    headers: Mapping[str, str] | None = None,
    connection: BaseEmailBackend | None = None,
) -> bool:
    """Compose (see `compose`) and send; False when the address can never be reached, which is logged without it.

    Pass an open `django.core.mail.get_connection()` to send several by one. Raises Unavailable when the mail server does
    not answer or refuses for now: the outbox will try again.
    """
    if not is_deliverable(to):
        logger.warning("No mail %s: what should be its address is none", template)
        return False
    mail = compose(to, template, context, language, headers=headers)
    mail.connection = connection
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        if codes and all(500 <= code < 600 for code in codes):
            logger.warning("The mail server refuses the recipient of a mail %s for good: %s", template, codes)
            return False
        raise Unavailable(f"The mail server refuses the recipient for now: {codes}") from error
    except OSError as error:  # sockets, and every error of smtplib
        raise Unavailable(f"The mail server did not take a mail: {type(error).__name__}") from error
    return True
