"""Tests of secure mode, in which requests for documents must be signed, and of blocked readers (contract, federation section
11).
"""

from typing import Any, Final

import pytest

from accounts.collections.models import Collection, CollectionItem
from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from federation.remote.actors import fetch_actor
from moderation.models import DomainAllow
from statuses.models import Interaction, InteractionRequest, Quote, RequestState
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import block, make_reblog, make_status
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.federation.test_costs import DOCUMENT, PATHS
from tests.support.client import Api

pytestmark = pytest.mark.django_db
#: Paths without a required signature: documents that servers need to verify signatures, and documents that are not about
#: accounts.
OPEN: Final = ("/.well-known/", "/nodeinfo/", "/actor", "/emojis/")


@pytest.fixture
def paths(alice: Account) -> list[str]:
    post, bob = make_status(alice, "a post"), make_account("bob")
    make_status(bob, "look", quoted_status_id=post.id)
    collection = Collection.objects.create(account=alice, name="Gardeners", sensitive=False, discoverable=True)
    asked = InteractionRequest.objects.create(
        status=post,
        account=make_remote("yan"),
        target=alice,
        kind=Interaction.FAVOURITE,
        state=RequestState.ACCEPTED,
        uri="https://remote.example/likes/1",
    )
    names = {
        "post": post.id,
        "request": asked.id,
        "boost": make_reblog(alice, post).id,
        "alice": alice.id,
        "emoji": CustomEmoji.objects.create(shortcode="cat", image="cat.png").id,
        "collection": collection.id,
        "item": CollectionItem.objects.create(collection=collection, account=bob).id,
        "member": bob.username,
        "quote": Quote.objects.latest("id").id,
    }
    return [path.format(**names) for form, path in PATHS if form == DOCUMENT]


def unsigned(path: str) -> Any:
    return Api().get(path, headers={"Accept": ACTIVITY})


@pytest.mark.parametrize("setting", ["AUTHORIZED_FETCH", "LIMITED_FEDERATION"])
def test_in_secure_mode_documents_are_served_to_signed_requests_only(
    elsewhere: RemoteServer, zoe: RemotePerson, paths: list[str], settings: Any, setting: str
) -> None:
    liar = RemotePerson(elsewhere, "zoe", key=2)
    fetch_actor(zoe.uri)
    DomainAllow.objects.create(domain="localhost")
    DomainAllow.objects.create(domain=elsewhere.domain)
    setattr(settings, setting, True)
    closed = [path for path in paths if not path.startswith(OPEN)]
    assert len(closed) > 15
    for path in closed:
        assert unsigned(path).status_code == 401, path
        assert liar.get(path).status_code == 401, path
        answer = zoe.get(path)
        assert answer.status_code == 200, path
        assert (answer["Cache-Control"], "Signature" in answer["Vary"]) == ("private, no-store", True), path
    for path in set(paths) - set(closed):
        assert unsigned(path).status_code == 200, path
    for path in ("/@alice", "/@alice.rss"):
        assert Api().get(path, headers={"Accept": "text/html"}).status_code == 200, (
            "pages for people are served without a signature"
        )
    DomainAllow.objects.all().delete()
    assert {zoe.get(path).status_code for path in closed} == {403 if setting == "LIMITED_FEDERATION" else 200}


@pytest.mark.parametrize("secure", [False, True])
def test_an_account_blocked_by_the_author_gets_no_post(
    zoe: RemotePerson, alice: Account, paths: list[str], settings: Any, secure: bool
) -> None:
    settings.AUTHORIZED_FETCH = secure
    block(alice, fetch_actor(zoe.uri))
    posts = [path for path in paths if "/statuses/" in path or path.startswith("/@alice/")]
    assert {zoe.get(path).status_code for path in posts} == {404}
    assert {zoe.get(path).status_code for path in ("/users/alice", "/users/alice/outbox?page=true")} == {200}
    assert {unsigned(path).status_code for path in posts} == {401 if secure else 200}
