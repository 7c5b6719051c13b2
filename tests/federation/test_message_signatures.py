"""Tests of message signatures according to RFC 9421, which have the same effect as signatures of the older kind (security rows
11, 12).
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

from accounts.models import Account
from social.kernel import clock
from tests.federation.activities import follow_of, stored
from tests.federation.remote_server import RemotePerson, pair, post

pytestmark = pytest.mark.django_db


class _Request:
    def __init__(self, body: bytes, path: str) -> None:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        self.method, self.url = "POST", f"http://social.localhost{path}"
        self.headers: dict[str, str] = {
            "Host": "social.localhost",
            "Content-Type": "application/activity+json",
            "Content-Digest": f"sha-256=:{digest}:",
        }


class _Misnamed(algorithms.RSA_V1_5_SHA256):
    algorithm_id = "hmac-sha256"


def rfc9421(zoe: RemotePerson, body: bytes, components: tuple[str, ...], **options: Any) -> Mapping[str, str]:
    request = _Request(body, options.pop("path", "/inbox"))
    key = options.pop("key", zoe.private_key)
    signer = HTTPMessageSigner(
        signature_algorithm=options.pop("algorithm", algorithms.RSA_V1_5_SHA256),
        key_resolver=MappingKeyResolver(private_keys={zoe.key_id: key.encode()}, public_keys={}),
    )
    signer.sign(request, key_id=zoe.key_id, covered_component_ids=components, use_existing_digest=True, **options)
    return request.headers


FULL = ("@method", "@target-uri", "content-digest")


@pytest.mark.parametrize(
    ("components", "options", "status"),
    [
        pytest.param(FULL, {}, 202, id="complete"),
        pytest.param(("@method", "@target-uri"), {}, 401, id="the digest is not signed"),
        pytest.param(("@method", "content-digest"), {}, 401, id="the address is not signed"),
        pytest.param(FULL, {"path": "/users/alice/inbox"}, 401, id="for another inbox"),
        pytest.param(FULL, {"path": "/inbox?"}, 202, id="with an empty query"),
        pytest.param(FULL, {"created": -3}, 401, id="stale"),
        pytest.param(FULL, {"created": 2}, 401, id="from the future"),
        pytest.param(FULL, {"created": -10, "expires": 1}, 202, id="good for eleven hours"),
        pytest.param(FULL, {"created": -14, "expires": 1}, 401, id="good for longer than twelve hours"),
        pytest.param(FULL, {"key": pair(2)[0]}, 401, id="another key"),
        pytest.param(FULL, {"algorithm": _Misnamed}, 401, id="another algorithm named"),
    ],
)
def test_message_signatures_of_rfc_9421_are_verified_like_older_signatures(
    zoe: RemotePerson, alice: Account, components: tuple[str, ...], options: dict[str, Any], status: int
) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    hours = {name: clock.now() + timedelta(hours=options[name]) for name in ("created", "expires") if name in options}
    headers = rfc9421(zoe, body, components, **options | hours)
    answer = post("/inbox", body, headers)
    assert (answer.status_code, stored()) == (status, int(status == 202)), answer.content


def test_a_message_signature_does_not_fit_another_body(zoe: RemotePerson, alice: Account) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = rfc9421(zoe, body, FULL)
    assert post("/inbox", body.replace(b"Follow", b"Block "), headers).status_code == 401
    assert post("/inbox", body, {**headers, "Signature-Input": "broken(("}).status_code == 401
    for digest, status in (("broken((", 400), ("sha-256=:%:", 400), ("sha-512=:AA==:", 401)):
        assert post("/inbox", body, {**headers, "Content-Digest": digest}).status_code == status, digest
    assert stored() == 0
