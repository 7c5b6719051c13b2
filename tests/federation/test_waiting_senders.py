"""Tests of unknown senders from one server that send at the same time: they are accepted one by one, up to a limit, and no
thread waits for them.

Security rows 58 and 71.
"""

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from federation.inbound import waiting
from federation.models import InboundActivity
from federation.remote import signers
from social.api import later
from social.kernel.http import limits
from social.kernel.http.limits import stranger_budget, web_request_budget
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_waits", {})


def put_off(someone: RemotePerson, alice: Account) -> tuple[int, list[later.Wait]]:
    """Send an activity as if the web server could defer the response; return the preliminary status, and the `Wait` to poll."""
    waits: list[later.Wait] = []
    body = json.dumps(someone.activity("Follow", alice.uri)).encode()
    headers = someone.headers("/inbox", body)
    # Django's types only allow strings in a WSGI environment.
    options: Any = {later.KEY: waits}
    return Client().generic("POST", "/inbox", body, ACTIVITY, headers=headers, **options).status_code, waits


def test_a_waiting_signer_is_polled_until_it_can_be_verified(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once earlier requests from the sender's server have ended, the signature is verified as usual."""
    liar = elsewhere.person("liar", key=2)
    elsewhere.serve(liar.document() | {"publicKey": liar.document()["publicKey"] | {"publicKeyPem": zoe.public_key}})
    with web_request_budget(60.0), stranger_budget(elsewhere.domain, 60.0), monkeypatch.context() as soon:
        soon.setattr(signers, "DEADLINE", 0.1)
        (status, (honest,)), (other, (false,)) = put_off(zoe, alice), put_off(liar, alice)
        assert (status, other) == (503, 503), "the requests are refused if the wait is too long"
        assert (honest.poll(), false.poll(), elsewhere.gets()) == (None, None, [])
    answers = [wait.poll() for wait in (honest, false)]
    assert [answer and answer.status_code for answer in answers] == [202, 401]
    assert list(InboundActivity.objects.values_list("actor__uri", flat=True)) == [zoe.uri]
    assert waiting._waits == {}, "no sender is waiting any more"


def test_a_poll_has_the_same_limits_as_a_request(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    """A poll runs outside of a web request, so it must set the limits on fetches itself."""
    seen: list[bool] = []
    with web_request_budget(60.0), stranger_budget(elsewhere.domain, 60.0), pytest.MonkeyPatch.context() as soon:
        soon.setattr(signers, "DEADLINE", 0.1)
        _status, (wait,) = put_off(zoe, alice)

    def note() -> None:
        seen.append(bool(limits._asked_by_strangers))

    elsewhere.before_answer = note
    answer = wait.poll()
    assert answer is not None
    assert (answer.status_code, set(seen)) == (202, {True})


def test_of_many_simultaneous_unknown_senders_some_wait_and_the_others_must_retry(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signers, "DEADLINE", 0.01)
    monkeypatch.setattr(waiting, "PLACES_PER_ADDRESS", 2)
    now = time.monotonic()
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: now))

    def waits() -> int:
        return len(put_off(zoe, alice)[1])

    with web_request_budget(60.0), stranger_budget(elsewhere.domain, 60.0):
        assert [waits() for _time in range(3)] == [1, 1, 0]
        now += waiting.WAIT_SECONDS
        assert [waits() for _time in range(3)] == [1, 1, 0], "each wait ends"
        now += waiting.WAIT_SECONDS
        monkeypatch.setattr(waiting, "PLACES_LIMIT", 1)
        assert [waits() for _time in range(2)] == [1, 0]


def test_nobody_waits_if_the_wait_would_occupy_a_thread(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signers, "DEADLINE", 0.01)
    with web_request_budget(60.0), stranger_budget(elsewhere.domain, 60.0):
        answer = zoe.send(zoe.activity("Follow", alice.uri))
    assert (answer.status_code, answer.headers["Retry-After"], waiting._waits) == (503, "30", {})
