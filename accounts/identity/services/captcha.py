"""Asks the captcha service whether somebody who signs up has solved its task."""

import logging
from typing import Final
from urllib.parse import urlencode

import orjson
from django.conf import settings
from django.utils.translation import gettext as _

from social.kernel.errors import Unavailable
from social.kernel.http import client as http

logger = logging.getLogger(__name__)
_ANSWER_BYTES: Final = 64 * 1024
_DEADLINE_SECONDS: Final = 5.0
#: Errors that only the operator can fix; they do not mean that the answer is wrong.
_OPERATOR_ERRORS: Final = frozenset(
    {"missing-input-secret", "invalid-input-secret", "sitekey-secret-mismatch", "bad-request"}
)


def is_solved(answer: str) -> bool:
    """Tell whether a captcha's answer is right; each answer is accepted only once. Raises Unavailable if the service fails."""
    captcha = settings.CAPTCHA
    assert captcha is not None  # the caller has checked that there is a captcha
    sent = {"secret": captcha.secret, "sitekey": captcha.site_key, "response": answer[:_ANSWER_BYTES]}
    try:
        found = http.ask_service(
            captcha.verify_url,
            headers={"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"},
            body=urlencode(sent).encode(),
            max_bytes=_ANSWER_BYTES,
            deadline=_DEADLINE_SECONDS,
            loopback=settings.CAPTCHA_LOOPBACK,
        )
        verdict = orjson.loads(found.body) if found.status == 200 else None
    except (http.FetchError, ValueError) as error:
        raise _failure(str(error)) from None
    if not isinstance(verdict, dict) or not isinstance(verdict.get("success"), bool):
        raise _failure(f"it answered {found.status}, or no verdict")
    codes = verdict.get("error-codes")
    if isinstance(codes, list) and (wrong := [code for code in codes if code in _OPERATOR_ERRORS]):
        raise _failure(", ".join(wrong))
    return bool(verdict["success"])


def _failure(reason: str) -> Unavailable:
    logger.warning("the captcha service failed: %s", reason)
    return Unavailable(
        _("The service that checks that you are not a robot is not working at the moment. Try again later.")
    )
