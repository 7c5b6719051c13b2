"""Tests that no activity of another server causes an error in this server."""

import json
from typing import Any

import pytest
from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import accept_requests
from federation.inbound import processing
from federation.models import InboundActivity
from federation.remote import signers
from federation.remote.actors import fetch_actor
from social.kernel.outbox import OutboxRow
from statuses.models import Status
from tests.conformance.people import Person
from tests.factories.statuses import follow
from tests.federation.activities import deal
from tests.federation.remote_server import RemotePerson, RemoteServer, post, signed
from tests.support.work import work

pytestmark = pytest.mark.django_db


class TestNothingFails:
    """No activity causes a 500, or a job that is retried forever."""

    @staticmethod
    def settled() -> None:
        work(200)
        assert not InboundActivity.objects.filter(processed_at=None).exists()
        assert not InboundActivity.objects.filter(outcome__startswith="failed").exists()
        assert not OutboxRow.objects.filter(queue="ingress").exists()

    def test_a_nul_in_any_part_of_an_activity_causes_no_error(self, zoe: RemotePerson, alice: Person) -> None:
        follow(alice.account, fetch_actor(zoe.uri))
        activity = zoe.activity("Create", zoe.note())
        for name in ("type", "id", "object", "to", "published", "@context"):
            assert zoe.send(activity | {name: "Cre\0ate"}).status_code == 202, name
        for number, name in enumerate(zoe.note(), 2):
            for value in ("\0", "x\0y", f"{zoe.uri}/\0"):
                assert zoe.send(zoe.activity("Create", zoe.note(number=number) | {name: value})).status_code == 202
        parts = {"url": zoe.home.uri("p\0.png"), "blurhash": "LEHV6nWB\0yk8", "name": "a\0", "mediaType": "image/\0png"}
        tags = [{"type": kind, "name": "#a\0b", "href": f"{zoe.uri}\0"} for kind in ("Hashtag", "Mention")]
        note = zoe.note(
            number=99,
            attachment=[{"type": "Document", **parts}, {"type": "Document", **parts, "url": zoe.home.uri("p.png")}],
            tag=tags,
        )
        assert zoe.send(zoe.activity("Create", note)).status_code == 202
        self.settled()
        assert Status.objects.filter(uri=note["id"]).exists()

    def test_a_nul_in_any_part_of_an_actor_causes_no_error(self, elsewhere: RemoteServer, alice: Person) -> None:
        for number, name in enumerate(RemotePerson(elsewhere, "x").document()):
            if name == "id":
                continue
            person = elsewhere.person(f"p{number}")
            value: Any = "a\0b"
            if name == "publicKey":
                value = person.document()[name] | {"publicKeyPem": person.public_key.replace("\n", "\n\0", 1)}
            elsewhere.serve(person.document() | {name: value})
            assert person.send(person.activity("Follow", alice.account.uri)).status_code in (202, 401), name
        self.settled()

    @pytest.mark.parametrize("key_id", ["http://a\0b.example/k", "http://b.example/\0", "acct:\0@b.example", "\0"])
    def test_a_nul_in_the_id_of_a_key_causes_no_error(self, zoe: RemotePerson, alice: Person, key_id: str) -> None:
        body = json.dumps(zoe.activity("Follow", alice.account.uri)).encode()
        assert post("/inbox", body, signed(zoe.private_key, key_id, "/inbox", body)).status_code in (400, 401)

    def test_a_request_with_the_id_of_a_follow_cannot_break_its_acceptance(
        self, zoe: RemotePerson, alice: Person, bob: Person
    ) -> None:
        """A server that restarts its numbering reuses this id: only one follow or request with the id can be accepted."""
        Account.objects.filter(id=bob.id).update(locked=True)
        first = zoe.activity("Follow", alice.account.uri)
        assert deal(zoe, first) == "done"
        assert deal(zoe, first | {"object": bob.account.uri}) == "done"
        request = FollowRequest.objects.get(target=bob.account)
        with transaction.atomic():
            accept_requests(request)
        self.settled()
        follows = Follow.objects.filter(account__uri=zoe.uri)
        assert set(follows.values_list("target_id", "uri")) == {
            (alice.account.id, None),
            (bob.account.id, first["id"]),
        }

    @pytest.mark.django_db(transaction=True)
    def test_an_actor_deleted_between_signature_and_storing_causes_no_error(
        self, zoe: RemotePerson, alice: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        verify = signers.verify

        def deleted_meanwhile(*arguments: Any) -> signers.Signed:
            found = verify(*arguments)
            Account.objects.filter(uri=zoe.uri).delete()
            return found

        monkeypatch.setattr(signers, "verify", deleted_meanwhile)
        assert zoe.send(zoe.activity("Follow", alice.account.uri)).status_code == 202
        self.settled()

    @pytest.mark.django_db(transaction=True)
    def test_an_actor_deleted_while_its_activity_is_processed_causes_no_error(
        self, zoe: RemotePerson, alice: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        handler = processing.HANDLERS["Follow"]

        def deleted_meanwhile(incoming: Any) -> object:
            Account.objects.filter(uri=zoe.uri).delete()
            return handler(incoming)

        monkeypatch.setitem(processing.HANDLERS, "Follow", deleted_meanwhile)
        assert zoe.send(zoe.activity("Follow", alice.account.uri)).status_code == 202
        self.settled()
        assert not Follow.objects.exists()
