"""The documents and headers of the folder of field reports, sent here by another server; skipped where that folder is not there
(`FIELD`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from federation.inbound.processing import act_upon
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from moderation.models import Report
from statuses.models import Mention, Status, StatusTag
from tests.factories.statuses import make_status
from tests.federation.activities import follow_of, introduced, stored
from tests.federation.remote_server import RemotePerson, RemoteServer, pair, post

FIELD = Path(__file__).parents[2] / os.environ.get("FIELD", "../shared/field")
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FIELD.is_dir(), reason="the inputs are not beside this folder"),
]


def text_of(name: str) -> str:
    (found,) = FIELD.glob(f"{name}-*")
    return found.read_text()


def document_of(name: str, zoe: RemotePerson, alice: Account) -> dict[str, Any]:
    """An input whose people are those of this test."""
    text = text_of(name).replace("https://r.example/u/ann", zoe.uri).replace("https://r.example/u/mod", zoe.uri)
    text = text.replace("https://r.example", zoe.home.url).replace("https://our.example/users/fielda", alice.uri)
    found: dict[str, Any] = json.loads(text)
    return found


def sent(zoe: RemotePerson, activity: dict[str, Any] | bytes) -> str:
    """What became of an activity."""
    assert zoe.send(activity).status_code == 202
    received = InboundActivity.objects.latest("id")
    act_upon(received.id)
    received.refresh_from_db()
    return received.outcome


def test_01_an_actor_whose_inbox_is_on_another_host_is_found(elsewhere: RemoteServer, alice: Account) -> None:
    with RemoteServer().running() as service:
        text = text_of("01").replace("https://blog.example", elsewhere.url)
        document = json.loads(text.replace("https://public-api.host.example", service.url))
        document["publicKey"]["publicKeyPem"] = pair()[1]
        elsewhere.serve(document)
        elsewhere.finger("ann", document["id"])
        account = fetch_actor(document["id"])
        assert (account.username, account.inbox_url) == ("ann", document["inbox"])


def test_02_a_post_that_its_activity_alone_addresses_is_public(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    assert sent(zoe, document_of("02", zoe, alice)) == "done"
    status = Status.objects.get(local=False)
    assert status.visibility == "public"
    assert Mention.objects.filter(status=status, account=alice).exists()


def test_03_a_report_that_names_a_post_reaches_staff(zoe: RemotePerson, alice: Account) -> None:
    status = make_status(alice)
    document = document_of("03", zoe, alice)
    document["object"] = document["object"].removesuffix("/1") + f"/{status.id}"
    assert sent(zoe, document) == "done"
    report = Report.objects.get()
    assert (report.target_account, report.status_ids, report.comment) == (alice, [status.id], "reason")


def test_09_signature_headers_are_read_in_every_form(zoe: RemotePerson, alice: Account) -> None:
    forms = [
        line.removeprefix("Signature:").strip() for line in text_of("09").splitlines() if line.startswith("Signature:")
    ]
    assert len(forms) >= 5
    for form in forms:
        body = json.dumps(follow_of(zoe, alice)).encode()
        headers = zoe.headers("/inbox", body)
        value = headers["signature"].rpartition('signature="')[2].rstrip('"')
        header = form.replace('"K"', f'"{zoe.key_id}"').replace('"S"', f'"{value}"')
        header = header.replace('"..."', '"(request-target) host date digest"')
        assert post("/inbox", body, headers | {"signature": header}).status_code == 202, form
    assert stored() == len(forms)


@pytest.mark.parametrize("number", ["10", "11"])
def test_10_11_files_and_tags_are_kept_in_the_forms_they_come_in(
    zoe: RemotePerson, alice: Account, number: str
) -> None:
    introduced(zoe, alice)
    note = zoe.note("<p>hello</p>", cc=[alice.uri]) | document_of(number, zoe, alice)
    assert sent(zoe, zoe.activity("Create", note)) == "done"
    status = Status.objects.get(local=False)
    files = list(status.media.order_by("position").values_list("type", "remote_url"))
    if number == "10":
        assert files == [
            ("image", zoe.home.uri("i.jpg")),
            ("image", zoe.home.uri("i.jpg")),
            ("video", zoe.home.uri("v.mp4")),
        ]
    else:
        assert Mention.objects.filter(status=status, account=alice).exists()
        assert StatusTag.objects.filter(status=status, tag__name="cats").exists()


def test_12_half_a_surrogate_pair_costs_nothing_else(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    text = text_of("12").replace("https://r.example/u/ann", zoe.uri).replace("https://r.example", zoe.home.url)
    assert sent(zoe, text.encode()) == "done"
    assert Status.objects.get(local=False).content == "cut \ufffd"
