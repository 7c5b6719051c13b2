"""Tests of HTTP signatures: requests that are unsigned, late, altered or signed for another path are refused (security rows 11,
12).
"""

import base64
import hashlib
import json
import re
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import RequestFactory

from accounts.models import Account
from federation.inbound import receiving
from federation.models import InboundActivity
from federation.remote import signers
from federation.remote.actors import fetch_actor
from federation.signatures import cavage
from federation.signatures.message import BadSignature, WrongKey
from federation.views.negotiation import message_of
from social.kernel import clock
from social.kernel.http.limits import stranger_budget, web_request_budget
from social.kernel.outbox import OutboxRow
from tests.federation.activities import follow_of, stored
from tests.federation.remote_server import RemotePerson, RemoteServer, pair, post, signed

pytestmark = pytest.mark.django_db


TIMED = ("(request-target)", "host", "(created)", "digest")


def test_a_signed_activity_is_stored_and_answered_with_202(zoe: RemotePerson, alice: Account) -> None:
    answer = zoe.send(follow_of(zoe, alice))
    assert (answer.status_code, answer.content, stored()) == (202, b"", 1)
    activity = InboundActivity.objects.select_related("actor").get()
    assert (activity.type, activity.actor.uri, activity.recipient) == ("Follow", zoe.uri, None)


def test_every_inbox_accepts_a_signed_activity_and_stores_its_recipient(zoe: RemotePerson, alice: Account) -> None:
    for path, name in (("/inbox", None), ("/users/alice/inbox", "alice"), ("/actor/inbox", "social.localhost")):
        assert zoe.send(follow_of(zoe, alice), path).status_code == 202
        recipient = InboundActivity.objects.latest("id").recipient
        assert (recipient.username if recipient else None) == name
    assert zoe.send(follow_of(zoe, alice), "/users/nobody/inbox").status_code == 404


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param({"without": ("signature",)}, 401, id="no signature"),
        pytest.param({"without": ("date",)}, 401, id="the signed date is missing"),
        pytest.param({"without": ("digest",)}, 401, id="the signed digest is missing"),
        pytest.param({"covered": ("(request-target)", "host", "date")}, 401, id="the digest is not signed"),
        pytest.param({"covered": ("host", "digest")}, 401, id="the date is not signed"),
        pytest.param({"covered": ("date",)}, 401, id="only the date is signed"),
        pytest.param({"host": "elsewhere.example"}, 401, id="for another server"),
        pytest.param({"target": "/users/alice/inbox"}, 401, id="for another inbox"),
        pytest.param({"target": "/inbox?"}, 202, id="with an empty query"),
        pytest.param({"at": timedelta(hours=-3)}, 401, id="stale"),
        pytest.param({"at": timedelta(hours=2)}, 401, id="from the future"),
        pytest.param({"at": timedelta(minutes=-30)}, 202, id="within the skew"),
        pytest.param({"algorithm": "hs2019"}, 202, id="hs2019"),
        pytest.param({"algorithm": "ed25519"}, 401, id="another algorithm"),
        pytest.param({"algorithm": "hs2019", "covered": TIMED}, 202, id="(created) with hs2019"),
        pytest.param({"algorithm": "rsa-sha256", "covered": TIMED}, 401, id="(created) with rsa-sha256"),
        pytest.param({"date": clock.now().isoformat()}, 202, id="a date by RFC 3339"),
        pytest.param({"date": "yesterday"}, 401, id="a date that is none"),
        pytest.param({"date": "Thu, 01 Jan 2026 00:00:00 +9999999999999"}, 401, id="a date of no time zone"),
        pytest.param({"digest": "SHA-256=%%%"}, 401, id="a digest that is not base64"),
    ],
)
def test_a_signature_must_cover_the_required_parts_and_be_recent(
    zoe: RemotePerson, alice: Account, options: dict[str, Any], status: int
) -> None:
    if "at" in options:
        options = options | {"at": clock.now() + options["at"]}
    answer = zoe.send(follow_of(zoe, alice), **options)
    assert (answer.status_code, stored()) == (status, int(status == 202)), answer.content
    if status != 202:
        assert answer.json()["error"]


@pytest.mark.parametrize(
    "header",
    [
        "keyId",
        'keyId="https://a.example/k",headers="date"',
        'keyId="x",keyId="y",signature="AA=="',
        'keyId="nowhere",signature="AA=="',
        'keyId="https://a.example/k",created=99999999999999999999,signature="AA=="',
        "x" * 10_000,
    ],
)
def test_a_malformed_signature_header_is_refused(zoe: RemotePerson, alice: Account, header: str) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    answer = post("/inbox", body, zoe.headers("/inbox", body) | {"signature": header})
    assert (answer.status_code, stored()) == (401, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keyId=", "Signature keyId="),
        ("keyId=", "  signature \t keyId="),
        ("=", " = "),
        ("=", "\t=  "),
        (",", " ,\t"),
        (",", ",, ,"),
        ('algorithm="rsa-sha256",', ""),
        ('algorithm="rsa-sha256"', "algorithm=rsa-sha256"),
        ('algorithm="rsa-sha256"', 'ALGORITHM="RSA-SHA256"'),
        ("algorithm=", 'x_ext="1",v2="1",x-y="a, b=c",algorithm='),
        ('"rsa-sha256"', '"rsa\\-sha25\\6"'),
        ("algorithm=", 'note="he said \\"no\\", \\\\",algorithm='),
        ("created=", 'Created="'),
    ],
)
def test_a_header_is_read_in_every_form_of_its_grammar(zoe: RemotePerson, alice: Account, old: str, new: str) -> None:
    """RFC 7235, section 2.1: a scheme, spaces, tokens, quoted strings with escapes, unknown parameters."""
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = zoe.headers("/inbox", body)
    outside = re.split('("[^"]*")', headers["signature"])
    if old in ("=", ","):
        outside[::2] = [part.replace(old, new) for part in outside[::2]]
    header = "".join(outside).replace(old, new, 0 if old in ("=", ",") else 1)
    if new.startswith("Created"):
        header = header.replace(",headers", '",headers')
    assert post("/inbox", body, headers | {"signature": header}).status_code == 202
    assert stored() == 1


def test_a_signature_may_lack_its_base64_padding_or_contain_line_breaks(zoe: RemotePerson, alice: Account) -> None:
    for form in ("{}", " {} ", "{}=="):
        body = json.dumps(follow_of(zoe, alice)).encode()
        headers = zoe.headers("/inbox", body)
        first, _mark, last = headers["signature"].rpartition('signature="')
        plain = last.rstrip('"=')
        written = form.format(f"{plain[:60]} {plain[60:]}")
        assert post("/inbox", body, headers | {"signature": f'{first}signature="{written}"'}).status_code == 202
    assert stored() == 3


@pytest.mark.parametrize(
    "header", [" " * 8000, "," * 8000, 'a="' + "\\" * 8000, "Signature " * 800, 'a = "b" c ' * 800]
)
def test_parsing_any_header_takes_little_time(header: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(BadSignature):
        cavage.parse(header)
    assert time.perf_counter() - begun < 0.1


@pytest.mark.parametrize(
    ("signed_at", "created", "expires", "status"),
    [
        pytest.param(-3, 0, None, 401, id="old, and created now"),
        pytest.param(-3, -3, 1, 401, id="old, and good for four hours"),
        pytest.param(0, -3, None, 202, id="fresh, and created long ago"),
        pytest.param(0, 3, None, 202, id="fresh, and created in the future"),
        pytest.param(0, 0, 1, 202, id="fresh, and good for an hour"),
        pytest.param(0, 0, -0.5, 202, id="expired within the skew"),
        pytest.param(0, 0, -2, 401, id="expired"),
    ],
)
def test_an_unsigned_time_can_shorten_but_never_extend_a_signature(
    zoe: RemotePerson, alice: Account, signed_at: int, created: int, expires: float | None, status: int
) -> None:
    """Draft-cavage-12, section 2.1.5: expired signatures are refused.

    All times are in hours from now: the time in the signed Date header, and the times in the unsigned parameters `created` and
    `expires`.
    """
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = zoe.headers("/inbox", body, at=clock.now() + timedelta(hours=signed_at))
    now = clock.now().timestamp()
    unsigned = f"created={int(now + created * 3600)}"
    if expires is not None:
        unsigned += f",expires={int(now + expires * 3600)}"
    headers["signature"], count = re.subn(r"created=\d+", unsigned, headers["signature"])
    assert count == 1
    assert (post("/inbox", body, headers).status_code, stored()) == (status, int(status == 202))


@pytest.mark.parametrize("decimals", [0, 0.75], ids=["in seconds", "with decimals, as some write it"])
def test_a_signed_expiry_extends_a_signature(zoe: RemotePerson, alice: Account, decimals: float) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    until = int((clock.now() + timedelta(hours=1)).timestamp()) + decimals
    for covered, status in ((("date", "digest"), 401), (("date", "digest", "(expires)"), 202)):
        headers = signed(
            zoe.private_key,
            zoe.key_id,
            "/inbox",
            body,
            at=clock.now() - timedelta(hours=3),
            covered=covered,
            algorithm="hs2019",
            expires=until,
        )
        assert post("/inbox", body, headers).status_code == status


def test_a_body_that_does_not_match_its_digest_is_refused(zoe: RemotePerson, alice: Account) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = zoe.headers("/inbox", body)
    assert post("/inbox", body.replace(b"Follow", b"Block "), headers).status_code == 401
    other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    assert post("/inbox", b"other", headers | {"digest": f"SHA-256={other}"}).status_code == 400
    assert post("/inbox", body, headers | {"digest": f"SHA-256={other}"}).status_code == 401
    assert stored() == 0


@pytest.mark.parametrize(
    "path",
    ["/@%E2%98%83~(a)", "/@%e2%98%83~(a)", "/%40%E2%98%83~%28a%29", "/%40%e2%98%83~%28a%29", "/%40%e2%98%83%7e%28a%29"],
)
def test_a_path_may_be_signed_in_each_of_its_usual_encodings(path: str) -> None:
    """The web server passes the decoded path to the application."""
    private_key, public_key = pair(1)
    for method, body in (("GET", None), ("POST", b"{}")):
        covered = ("(request-target)", "host", "date", *(("digest",) if body else ()))
        headers = signed(private_key, "https://a.example/#key", path, body, method=method, covered=covered)
        request = RequestFactory().generic(method, path, body or b"", headers=headers)
        message = message_of(request)
        signature = cavage.parse(message.header("signature"))
        cavage.verify(signature, message, public_key, clock.now())
        with pytest.raises(WrongKey):
            cavage.verify(signature, replace(message, target="/another"), public_key, clock.now())


def test_a_replay_gets_a_response_and_is_not_stored_again(zoe: RemotePerson, alice: Account) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = zoe.headers("/inbox", body)
    assert [post("/inbox", body, headers).status_code for _ in range(3)] == [202, 202, 202]
    assert stored() == 1


@pytest.mark.django_db(transaction=True)
def test_a_signer_deleted_a_moment_ago_gets_the_usual_response_and_nothing_is_stored(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The foreign key to the account is checked when the transaction is committed."""
    account = fetch_actor(zoe.uri)
    outbox = OutboxRow.objects.filter(event="ActivityReceived")
    monkeypatch.setattr(receiving.quotas, "check_room", lambda *_: Account.objects.filter(id=account.id).delete())
    assert zoe.send(follow_of(zoe, alice)).status_code == 202
    assert (stored(), outbox.count()) == (0, 0)


def test_a_signer_without_a_document_is_refused(elsewhere: RemoteServer, alice: Account) -> None:
    ghost = RemotePerson(elsewhere, "ghost")
    assert (ghost.send(follow_of(ghost, alice)).status_code, stored()) == (401, 0)


def test_an_unknown_server_may_fetch_and_deliver_at_the_same_time(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """When a user searches for a local account and follows it, the user's server fetches and delivers within a second."""
    reading = signers.budget_name(elsewhere.domain, "GET")
    with web_request_budget(60.0), stranger_budget(reading, 60.0):
        assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 202
    assert InboundActivity.objects.exists()
