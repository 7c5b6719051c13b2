"""Tests of the payload of each event of the streaming API (clients.md trap 45; contract, behaviours section 16)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.policies.staff import OPERATOR
from moderation.policies.announcements import AnnouncementDraft
from moderation.services.announcements import add_reaction, create_announcement, unpublish_announcement
from social.kernel import clock
from tests.conformance.people import Person
from tests.support.entities import check
from tests.support.work import work
from tests.timelines.listeners import Socket
from tests.timelines.server import StreamingServer, streaming_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StreamingServer]:
    with streaming_server(tmp_path / "log") as running:
        yield running


def test_trap_45_each_event_carries_the_payload_that_clients_expect(
    server: StreamingServer, alice: Person, bob: Person
) -> None:
    """The payload is an entity as a JSON string, or the id for a deletion; the event for changed filters has none."""
    alice.do(f"accounts/{bob.id}/follow")
    with (
        Socket(server, alice.api.token, stream="user") as socket,
        Socket(server, alice.api.token, stream="direct") as direct,
    ):
        assert socket.is_silent()
        assert direct.is_silent()

        def received(event: str, among: Socket = socket) -> Any:
            """Return the payload of the next message, which must be an event of this type."""
            message = among.next()
            assert message["event"] == event, message
            return message.get("payload")

        def entity(event: str, name: str, among: Socket = socket) -> Any:
            """Return the entity that the next message carries as a string."""
            found = json.loads(received(event, among))
            check(name, found)
            return found

        post = bob.post("one")
        assert entity("update", "Status") == alice.read(f"statuses/{post['id']}")
        assert bob.api.put(f"/api/v1/statuses/{post['id']}", {"status": "two"}).status_code == 200
        work()
        assert entity("status.update", "Status") == alice.read(f"statuses/{post['id']}")
        assert bob.api.delete(f"/api/v1/statuses/{post['id']}").status_code == 200
        work()
        assert received("delete") == post["id"]
        bob.do(f"accounts/{alice.id}/follow")
        assert entity("notification", "Notification") == alice.read("notifications")[0]
        bob.post("@alice hush", visibility="direct")
        assert entity("conversation", "Conversation", direct)["id"] == alice.ids("conversations")[0]
        assert {socket.next()["event"] for _message in range(2)} == {"update", "notification"}
        made = alice.api.post("/api/v2/filters", {"title": "rain", "context": ["home"]})
        assert made.status_code == 200
        work()
        assert socket.next() == {"stream": ["user"], "event": "filters_changed"}
        announcement = create_announcement(by=OPERATOR, draft=AnnouncementDraft("Look", scheduled_at=clock.now()))
        work()
        assert entity("announcement", "Announcement")["id"] == str(announcement.id)
        add_reaction(account_id=bob.account.id, announcement=announcement, name="👍")
        work()
        assert entity("announcement.reaction", "Reaction")["announcement_id"] == str(announcement.id)
        unpublish_announcement(by=OPERATOR, announcement=announcement)
        work()
        assert received("announcement.delete") == str(announcement.id)
        assert socket.is_silent()
        assert direct.is_silent()
