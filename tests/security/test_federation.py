"""Tests of attacks by other servers (security rows 8, 11, 13, 39, 53, 54, 59, 60, 62 and 71)."""

import base64
import hashlib
import json
import re
import time
from datetime import timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

from accounts.models import Account
from federation.documents.received_actors import read_actor
from federation.models import InboundActivity
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from social.api import admission
from social.api.limits import LOOK_UPS
from social.kernel import clock
from social.kernel.errors import KernelError
from statuses.models import Status
from tests.conformance.people import Person
from tests.factories.accounts import make_remote
from tests.factories.statuses import follow, make_reblog, make_remote_status, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer, post, signed

pytestmark = pytest.mark.django_db
COVERED = ("(request-target)", "host", "date")


def received(zoe: RemotePerson, alice: Person, visibility: str) -> Status:
    """Create a post of Zoe that was delivered to her follower Alice."""
    follow(alice.account, fetch_actor(zoe.uri))
    to, cc = {
        "public": ([PUBLIC], [f"{zoe.uri}/followers"]),
        "unlisted": ([f"{zoe.uri}/followers"], [PUBLIC]),
        "private": ([f"{zoe.uri}/followers"], []),
        "direct": ([alice.account.uri], []),
    }[visibility]
    tag = [{"type": "Mention", "href": alice.account.uri, "name": "@alice"}]
    assert deal(zoe, zoe.activity("Create", zoe.note(to=to, cc=cc, tag=tag))) == "done"
    status = Status.objects.get(local=False)
    assert status.visibility == visibility
    return status


@pytest.mark.parametrize(
    ("visibility", "status", "document", "believed"),
    [
        ("public", 404, {}, True),
        ("public", 410, {}, True),
        ("public", 200, {"type": "Tombstone"}, True),
        ("unlisted", 404, {}, True),
        ("public", 401, {}, False),
        ("public", 403, {}, False),
        ("public", 500, {}, False),
        ("public", 200, {"type": "Note"}, False),
        ("private", 404, {}, False),
        ("private", 410, {}, False),
        ("private", 200, {"type": "Tombstone"}, False),
        ("direct", 404, {}, False),
        ("direct", 410, {}, False),
    ],
)
def test_row_53_a_forwarded_deletion_counts_only_if_the_origin_confirms_it(
    elsewhere: RemoteServer,
    zoe: RemotePerson,
    alice: Person,
    visibility: str,
    status: int,
    document: Any,
    believed: bool,
) -> None:
    """Rows 8 and 53: an origin may return 404, 401 or 403 to servers that may not read the post, although it exists."""
    known = received(zoe, alice, visibility)
    elsewhere.serve({"id": known.uri, **document}, status=status)
    relay = elsewhere.person("relay", key=2)
    fetch_actor(relay.uri)
    path = urlsplit(known.uri).path
    asked = elsewhere.gets().count(path)
    deal(relay, zoe.activity("Delete", {"id": known.uri, "type": "Tombstone"}))
    assert Status.objects.get().is_deleted is believed
    if visibility in ("private", "direct"):
        assert elsewhere.gets().count(path) == asked, (
            "the response for a private post proves nothing, so no request is sent"
        )
    assert deal(zoe, zoe.activity("Delete", known.uri)) == "done"
    assert Status.objects.get().is_deleted


class _Get:
    """A request in the form that the signing library for RFC 9421 expects."""

    def __init__(self, url: str) -> None:
        self.method, self.url, self.headers = "GET", url, {"Host": "social.localhost"}


def signed_get(zoe: RemotePerson, path: str, *, method: str = "GET", **options: Any) -> Any:
    headers = signed(zoe.private_key, zoe.key_id, path, None, method=method, **{"covered": COVERED} | options)
    send = Client(raise_request_exception=False)
    return (send.head if method == "HEAD" else send.get)(path, headers={**headers, "accept": ACTIVITY})


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param({}, 200, id="for us"),
        pytest.param({"method": "HEAD"}, 200, id="for us, HEAD"),
        pytest.param({"host": "x.example"}, 404, id="for another server"),
        pytest.param({"method": "HEAD", "host": "x.example"}, 404, id="for another server, HEAD"),
        pytest.param({"covered": ("(request-target)", "date")}, 404, id="host is not signed"),
        pytest.param({"method": "HEAD", "covered": ("(request-target)", "date")}, 404, id="host is not signed, HEAD"),
        pytest.param({"covered": ("host", "date")}, 404, id="target is not signed"),
        pytest.param({"covered": ("host", "date", "digest")}, 404, id="a digest instead of the target"),
        pytest.param({"covered": ("(request-target)", "host")}, 404, id="date is not signed"),
        pytest.param({"target": "/users/alice"}, 404, id="for another document"),
        pytest.param({"at": timedelta(hours=-3)}, 404, id="stale"),
        pytest.param({"at": timedelta(hours=2)}, 404, id="from the future"),
    ],
)
def test_rows_11_and_54_a_signed_get_works_only_for_this_server_path_and_time(
    zoe: RemotePerson, alice: Person, options: dict[str, Any], status: int
) -> None:
    follow(fetch_actor(zoe.uri), alice.account)
    path = f"/users/alice/statuses/{alice.post('for followers', visibility='private')['id']}"
    if "at" in options:
        options = options | {"at": clock.now() + options["at"]}
    if "digest" in options.get("covered", ()):
        digest = f"SHA-256={base64.b64encode(hashlib.sha256(b'').digest()).decode()}"
        headers = {"host": "social.localhost", "date": format_datetime(clock.now(), usegmt=True), "digest": digest}
        text = "\n".join(f"{name}: {headers[name]}" for name in options["covered"])
        from federation.signatures import keys

        headers["signature"] = (
            f'keyId="{zoe.key_id}",headers="{" ".join(options["covered"])}",'
            f'signature="{keys.sign(zoe.private_key, text)}"'
        )
        answer = Client(raise_request_exception=False).get(path, headers={**headers, "accept": ACTIVITY})
    else:
        answer = signed_get(zoe, path, **options)
    assert answer.status_code == status, answer.content
    assert (b"for followers" in answer.content) is (status == 200 and options.get("method") != "HEAD")


@pytest.mark.parametrize(("host", "status"), [("social.localhost", 200), ("x.example", 404)])
def test_rows_11_and_54_a_message_signature_is_valid_for_one_server_only(
    zoe: RemotePerson, alice: Person, host: str, status: int
) -> None:
    follow(fetch_actor(zoe.uri), alice.account)
    path = f"/users/alice/statuses/{alice.post('for followers', visibility='private')['id']}"
    request = _Get(f"http://{host}{path}")
    signer = HTTPMessageSigner(
        signature_algorithm=algorithms.RSA_V1_5_SHA256,
        key_resolver=MappingKeyResolver(private_keys={zoe.key_id: zoe.private_key.encode()}, public_keys={}),
    )
    signer.sign(request, key_id=zoe.key_id, covered_component_ids=("@method", "@target-uri"))
    answer = Client(raise_request_exception=False).get(path, headers={**request.headers, "accept": ACTIVITY})
    assert answer.status_code == status


def _spare_bits_changed(headers: dict[str, str]) -> dict[str, str]:
    """Return another Base64 spelling of the same signature, made by changing the unused bits before the padding."""
    found = re.search(r'signature="([^"]+)"', headers["signature"])
    assert found is not None
    written = found[1]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    changed = written[:-3] + alphabet[alphabet.index(written[-3]) + 1] + "=="
    assert base64.b64decode(changed) == base64.b64decode(written)
    return {**headers, "signature": headers["signature"].replace(written, changed)}


def test_rows_11_and_59_a_replay_with_a_differently_spelled_signature_is_recognised(
    zoe: RemotePerson, alice: Person
) -> None:
    body = json.dumps(zoe.activity("Follow", alice.account.uri)).encode()
    headers = zoe.headers("/inbox", body)
    assert post("/inbox", body, headers).status_code == 202
    assert post("/inbox", body, _spare_bits_changed(headers)).status_code == 202
    assert InboundActivity.objects.count() == 1


def _statements(queries: CaptureQueriesContext) -> list[str]:
    return [re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries.captured_queries]


def test_row_60_a_private_post_causes_the_same_requests_and_queries_as_a_missing_one(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Person
) -> None:
    private = f"/users/alice/statuses/{alice.post('secret', visibility='private')['id']}"
    absent = "/users/alice/statuses/1"
    asked = []
    for name, path in (("yan", private), ("xan", absent)):
        before = len(elsewhere.gets())
        assert elsewhere.person(name, key=2 if name == "yan" else 3).get(path).status_code == 404
        asked.append([path.replace(name, "?") for path in elsewhere.gets()[before:]])
    assert asked[0] == asked[1] != []
    fetch_actor(zoe.uri)
    work = []
    for path in (private, absent):
        for suffix in ("", "/activity", "/replies", "/likes", "/shares"):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert zoe.get(path + suffix).status_code == 404
            work.append(_statements(queries))
    assert work[:5] == work[5:]


@pytest.mark.parametrize(
    "name",
    [
        "zo\u202ee",
        "\uff5aoe",
        "zo%65",
        "<b>zoe</b>",
        "zoe\u200b",
        "z\u043ee",
        "zo\u00eb",
        ".zoe",
        "zoe.",
        "z..",
        "z\\oe",
        "-",
    ],
)
def test_row_62_a_username_that_could_pass_for_another_is_refused(elsewhere: RemoteServer, db: None, name: str) -> None:
    person = elsewhere.person("zoe", preferredUsername=name)
    elsewhere.finger(name, person.uri)
    with pytest.raises(Rejected):
        read_actor(person.document() | {"preferredUsername": name})
    with pytest.raises((Rejected, KernelError)):
        fetch_actor(person.uri)
    assert not Account.objects.filter(domain=elsewhere.domain).exists()


def test_row_62_an_address_with_lookalike_letters_is_refused(elsewhere: RemoteServer, db: None) -> None:
    """The lower case of the Kelvin sign (U+212A) is the letter k."""
    kate = elsewhere.person("kate")
    elsewhere.finger("kate", kate.uri, subject=f"acct:\u212aate@{elsewhere.domain}")
    with pytest.raises((Rejected, KernelError)):
        fetch_actor(kate.uri)
    assert not Account.objects.filter(domain=elsewhere.domain).exists()


@pytest.mark.parametrize("name", ["zoe", "Zoe_2", "z.o-e", "mastodon.internal", "_"])
def test_row_62_usual_usernames_of_the_fediverse_are_accepted(elsewhere: RemoteServer, db: None, name: str) -> None:
    person = elsewhere.person("zoe", preferredUsername=name)
    elsewhere.finger(name, person.uri)
    assert fetch_actor(person.uri).username == name


def test_row_13_a_suspended_signer_counts_as_unsigned(zoe: RemotePerson, alice: Person) -> None:
    account = fetch_actor(zoe.uri)
    follow(account, alice.account)
    private = f"/users/alice/statuses/{alice.post('for followers', visibility='private')['id']}"
    pages = [private, f"{private}/activity", "/users/alice/outbox?page=true"]
    assert [b"for followers" in zoe.get(path).content for path in pages] == [True] * 3
    Account.objects.filter(id=account.id).update(suspended_at=clock.now())
    assert [b"for followers" in zoe.get(path).content for path in pages] == [False] * 3
    assert zoe.get(private).status_code == 404


def test_row_13_nobody_can_bring_in_a_post_of_a_suspended_author(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Person
) -> None:
    """The post is refused when another account boosts, forwards or answers it."""
    yan = elsewhere.person("yan", key=2)
    Account.objects.filter(id=fetch_actor(yan.uri).id).update(suspended_at=clock.now())
    follow(alice.account, fetch_actor(zoe.uri))
    question = make_status(alice.account)
    note = elsewhere.serve(yan.note(inReplyTo=f"{alice.account.uri}/statuses/{question.id}"))
    assert deal(zoe, zoe.activity("Announce", note["id"], to=[PUBLIC])) == "rejected: the author is suspended"
    assert deal(zoe, yan.activity("Create", note)) == "rejected: the author is suspended"
    deal(zoe, zoe.activity("Create", zoe.note(number=2, inReplyTo=note["id"])))
    assert not Status.objects.filter(account__uri=yan.uri).exists()


def test_row_13_nobody_can_boost_a_post_of_a_suspended_author(zoe: RemotePerson, alice: Person) -> None:
    """The rule also applies to posts that are older than the suspension."""
    yan = make_remote("yan")
    old = make_remote_status(yan)
    Account.objects.filter(id=yan.id).update(suspended_at=clock.now())
    follow(alice.account, fetch_actor(zoe.uri))
    assert deal(zoe, zoe.activity("Announce", old.uri, to=[PUBLIC])).startswith("rejected")
    assert not Status.objects.filter(reblog_of=old).exists()


def test_row_39_outbox_and_boosts_for_a_signed_reader_are_not_cached(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Person
) -> None:
    follow(fetch_actor(zoe.uri), alice.account)
    own = make_status(alice.account, "for followers", visibility="private")
    boost = make_reblog(alice.account, own, visibility="private")
    public = make_status(alice.account, "for everybody")
    outbox = "/users/alice/outbox?page=true"
    boosted = [f"/users/alice/statuses/{boost.id}{suffix}" for suffix in ("", "/activity")]
    for path in (outbox, *boosted):
        answer = zoe.get(path)
        assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store"), path
        assert "Signature" in answer["Vary"], path
    assert b"for followers" in zoe.get(outbox).content
    answer = Client().get(outbox, headers={"accept": ACTIVITY})
    assert (answer["Cache-Control"], "Signature" in answer["Vary"]) == ("public, max-age=180", True)
    ids = [item["object"]["id"] for item in answer.json()["orderedItems"]]
    assert ids == [f"{alice.account.uri}/statuses/{public.id}"]
    stranger = elsewhere.person("stranger", key=2)
    assert b"for followers" not in stranger.get(outbox).content
    for path in boosted:
        assert Client().get(path, headers={"accept": ACTIVITY}).status_code == 404
        assert stranger.get(path).status_code == 404


def test_row_71_look_ups_on_one_server_by_all_users_together_are_rate_limited(
    alice: Person, bob: Person, elsewhere: RemoteServer, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RATE_LIMITS = True
    moment = time.time()
    monkeypatch.setattr(admission, "time", SimpleNamespace(time=lambda: moment, monotonic=time.monotonic))
    elsewhere.person("late")

    def sought() -> int:
        # If an account is not found, host-meta of its domain is requested too, so each lookup takes up to two requests.
        assert len(elsewhere.gets()) <= 2 * LOOK_UPS.limit
        return sum("host-meta" not in path for path in elsewhere.gets())

    for number in range(LOOK_UPS.limit // 2):
        alice.read("accounts/search", q=f"@a{number}@{elsewhere.domain}", resolve="true")
        bob.post(f"@b{number}@{elsewhere.domain} hello")
    assert sought() == LOOK_UPS.limit
    assert alice.read("accounts/search", q=f"@late@{elsewhere.domain}", resolve="true") == []
    assert bob.post(f"@late@{elsewhere.domain} hello")["mentions"] == []
    found = bob.api.get("/api/v2/search", {"q": f"{elsewhere.url}/notes/1", "resolve": "true"}).json()
    assert found["statuses"] == []
    assert sought() == LOOK_UPS.limit
    moment += LOOK_UPS.period
    assert len(alice.read("accounts/search", q=f"@late@{elsewhere.domain}", resolve="true")) == 1
