"""Rules for webhooks: values, permissions, bodies and signatures. Source: https://docs.joinmastodon.org/admin/webhooks."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from moderation.models import WebhookEvent
from moderation.models.webhook import TEMPLATE_LIMIT
from social.kernel.errors import FieldError

WEBHOOKS_LIMIT: Final = 50
#: Number of attempts that are stored for each webhook.
ATTEMPTS_KEPT: Final = 50
_PERMISSIONS: Final = {
    "account": Permission.MANAGE_USERS,
    "report": Permission.MANAGE_REPORTS,
    "status": Permission.VIEW_DEVOPS,
}
_VARIABLE: Final = re.compile(r"\{\{\s*([a-z_0-9.\[\]]{1,200}?)\s*\}\}")
_PART: Final = re.compile(r"[a-z_]+|[0-9]+")


@dataclass(frozen=True)
class WebhookDraft:
    """Values of a webhook, as staff have entered them."""

    url: str
    events: tuple[str, ...]
    template: str = ""


def webhook_errors(draft: WebhookDraft, *, may_be_asked: bool) -> list[FieldError]:
    """Return the errors of a draft; `may_be_asked` tells whether this server may send requests to the webhook's address."""
    errors = []
    if not may_be_asked:
        message = _("is not an address on another, public server, such as https://hooks.example/social")
        errors.append(FieldError("url", "ERR_INVALID", message))
    if not draft.events:
        errors.append(FieldError.blank("events"))
    elif not set(draft.events) <= set(WebhookEvent.values):
        errors.append(FieldError.not_included("events"))
    if len(draft.template) > TEMPLATE_LIMIT:
        errors.append(FieldError.too_long("template", TEMPLATE_LIMIT))
    return errors


def permissions_for(events: Iterable[str]) -> list[Permission]:
    """Return the permissions that staff need, in addition to MANAGE_WEBHOOKS, for a webhook with these events, as in
    Mastodon: one permission each for `account.*`, `report.*` and `status.*`.
    """
    kinds = dict.fromkeys(event.partition(".")[0] for event in events)
    return [_PERMISSIONS[kind] for kind in kinds if kind in _PERMISSIONS]


def body_of(payload: Mapping[str, Any], template: str) -> str:
    """Return the body of a call: the payload as JSON, or the template with its variables replaced. A variable is a path into
    the payload, such as `{{object.ips[0].ip}}`. The value is inserted as JSON; strings are inserted without quotation marks. A
    missing value becomes `null`.
    """
    if not template.strip():
        return orjson.dumps(payload).decode()

    def value(match: re.Match[str]) -> str:
        current: Any = payload
        for part in _PART.findall(match[1]):
            if isinstance(current, Mapping):
                current = current.get(part)
            elif isinstance(current, list | tuple) and part.isdecimal() and int(part) < len(current):
                current = current[int(part)]
            else:
                current = None
        written = orjson.dumps(current).decode()
        return written[1:-1] if isinstance(current, str) else written

    return _VARIABLE.sub(value, template)


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header `X-Hub-Signature` for a body: its HMAC-SHA256 with the secret, in hexadecimal digits."""
    return f"sha256={hmac.digest(secret.encode(), body, hashlib.sha256).hex()}"
