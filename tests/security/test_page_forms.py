"""Tests that no form data sent to a page by browsers or other programs causes an error in this server."""

from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from tests.conformance.test_page_posts import addresses, browser_of
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from tests.support.federation_server import needs_federation
from timelines.models import List

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
#: Names of fields of all forms, in addition to the fields of each page's forms.
FIELDS = [
    "act",
    "title",
    "name",
    "text",
    "comment",
    "visibility",
    "scheduled_at",
    "option_1",
    "poll",
    "choices",
    "language",
    "quote_policy",
    "reply_to",
    "quote",
    "media",
    "next",
    "at",
    "id",
    "add",
    "remove",
    "follow",
    "unfollow",
    "block",
    "unblock",
    "react",
    "dismiss",
    "key",
    "all",
    "filter",
    "post",
    "keyword_new_1",
    "action",
    "expires_in",
    "in_home",
    "replies_policy",
    "uri",
    "domain",
    "email",
    "code",
    "category",
    "rules",
    "posts",
    "max_uses",
    "expires",
    "kind",
    "mode",
    "overwrite",
    "time_zone",
    "locale",
    "page",
    "fields_name_0",
    "fields_value_0",
    "birthday",
    "description_of_1",
    "focus_0",
    "spoiler_text",
    "expires_at",
    "max_id",
    "min_id",
    "q",
    "type",
    "account",
]
#: The values that are sent in each field, in the encoding of the body.
VALUES = {
    "NUL": "a%00b",
    "a lone surrogate": "%ED%A0%80",
    "no UTF-8": "%FF%FE",
    "long": "x" * 20_000,
    "a number without end": "9" * 40,
    "below zero": "-1",
    "other digits": quote("٣"),
    "no time": "2026-13-45T99:99",
    "a host": quote("//evil.example/\\@x"),
    "markup": quote("<script>'\""),
    "empty": "",
}
ACTS = ("act=note&", "", "act=follow&", "act=delete&", "act=vote&", "act=reply&")


def scene() -> tuple[User, dict[str, Any]]:
    ann = make_user("alice", role="Owner")
    make_account("bea")
    post = make_status(ann.account, "hello #media")
    List.objects.create(account=ann.account, title="Friends")
    return ann, {"id": post.id}


@needs_federation
@pytest.mark.parametrize(
    "kind", ["NUL", *(pytest.param(kind, marks=pytest.mark.verify) for kind in VALUES if kind != "NUL")]
)
def test_no_value_of_any_form_field_causes_a_server_error(kind: str) -> None:
    ann, ids = scene()
    wrong = []
    for name, path in addresses(**ids):
        if name in ("account_logout", "settings_delete"):
            continue
        browser = browser_of(ann)
        value = VALUES[kind]
        body = "&".join(f"{field}={value}" for field in FIELDS)
        for field in ACTS if kind != "NUL" else ACTS[:1]:
            answer = browser.post(path, field + body, FORM)
            if answer.status_code >= 500:
                wrong.append((name, field, answer.status_code))
            if "Location" in answer.headers and "evil.example" in answer["Location"].partition("?")[0]:
                wrong.append((name, field, answer["Location"]))
        asked = browser.get(f"{path}?{body[:6000]}")
        if asked.status_code >= 500:
            wrong.append((name, "GET", asked.status_code))
    assert not wrong


@needs_federation
@pytest.mark.verify
def test_ids_that_are_too_large_foreign_or_repeated_cause_no_server_error() -> None:
    ann, _ids = scene()
    browser, wrong = browser_of(ann), []
    for number in (2**62, 2**63, 10**19 - 1):
        values = dict.fromkeys(
            ("id", "account_id", "import_id", "featured_tag_id", "session_id", "strike_id", "pk"), number
        )
        for name, path in addresses(**values):
            for answer in (browser.get(path), browser.post(path, {"act": ["follow", "mute"], "id": [number, number]})):
                if answer.status_code >= 500:
                    wrong.append((name, path, answer.status_code))
    file = SimpleUploadedFile("a\0b\n.png", b"\x89PNG", "image/png")
    for name, path in addresses():
        answer = browser.post(path, {"file": file, "file_0": file, "avatar": file, "header": file, "text": file})
        if answer.status_code >= 500:
            wrong.append((name, "file", answer.status_code))
    assert not wrong
