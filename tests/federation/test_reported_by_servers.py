"""Tests of bugs that users of other servers reported about posts, mentions and polls (docs/field.md)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from social.kernel import clock
from statuses.models import Status
from tests.factories.statuses import follow
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def _entity(uri: str) -> Any:
    return Api().get(f"/api/v1/statuses/{Status.objects.get(uri=uri).id}").json()


@pytest.mark.parametrize("whole", [True, False])
def test_a_comment_embedded_in_a_communitys_boost_is_stored_even_if_incomplete(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, whole: bool
) -> None:
    community = elsewhere.person("testcom", type="Group")
    follow(alice, fetch_actor(community.uri))
    comment = elsewhere.serve(
        zoe.note("<p>test</p>\n", mediaType="text/html", source={"content": "test", "mediaType": "text/markdown"})
        | {"published": clock.now().isoformat(), "to": [PUBLIC], "cc": []}
    )
    inner = comment if whole else {"id": comment["id"], "type": "Note"}
    boost = community.activity("Announce", inner, to=[f"{community.uri}/followers"], cc=[PUBLIC])
    assert deal(community, boost) == "done"
    assert Status.objects.get(reblog_of__isnull=False).reblog_of == Status.objects.get(uri=comment["id"])


def test_likes_forwarded_by_a_community_are_refused_without_requests(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    community = elsewhere.person("testcom", type="Group")
    follow(alice, fetch_actor(community.uri))
    like = zoe.activity("Like", elsewhere.serve(zoe.note())["id"])
    assert deal(community, community.activity("Announce", like, cc=[PUBLIC])).startswith("rejected")
    assert all("testcom" in path for path in elsewhere.gets())


def test_a_video_whose_date_of_edit_equals_its_publication_is_not_shown_as_edited(
    zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    moment = clock.iso(clock.now() - timedelta(hours=1))
    video = zoe.note(type="Video", name="A film", published=moment, updated=moment)
    for kind in ("Create", "Update"):
        assert deal(zoe, zoe.activity(kind, video)) == "done"
        assert _entity(video["id"])["edited_at"] is None


@pytest.mark.parametrize("more", [{}, {"closed": False}, {"closed": None}, {"closed": ""}])
def test_an_open_poll_without_a_voter_count_can_be_voted_in_and_shows_its_votes(
    zoe: RemotePerson, alice: Account, more: dict[str, Any]
) -> None:
    introduced(zoe, alice)
    options = [{"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": 2}} for name in "ab"]
    end = clock.iso(clock.now() + timedelta(days=1))
    question = zoe.note(type="Question", oneOf=options, endTime=end, **more)
    assert deal(zoe, zoe.activity("Create", question)) == "done"
    poll = _entity(question["id"])["poll"]
    assert (poll["expired"], poll["votes_count"], poll["voters_count"]) == (False, 4, None)


@pytest.mark.parametrize(
    ("href", "content"),
    [
        ("{id}", '<p><a href="{page}" class="u-url mention">@alice</a></p>'),
        ("{page}", "<p>@alice</p>"),
        ("{id}", "<p>@alice without a link</p>"),
    ],
)
def test_a_mention_counts_whatever_its_link_and_without_a_name(
    zoe: RemotePerson, alice: Account, href: str, content: str
) -> None:
    introduced(zoe, alice)
    names = {"id": alice.uri, "page": alice.uri.replace("/users/", "/@")}
    tag = {"type": "Mention", "href": href.format(**names)}
    note = zoe.note(content.format(**names), tag=tag, cc=[alice.uri])
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    assert [person["username"] for person in _entity(note["id"])["mentions"]] == ["alice"]
    assert Notification.objects.get(type="mention").account == alice
