"""Tests of quotes between remote servers, shown after consent only (contract, federation section 7; security row 36)."""

from typing import Any

import pytest

from accounts.models import Account, Follow
from federation.remote.actors import fetch_actor
from social.kernel import clock
from statuses.models import Quote, QuoteState, Status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow
from tests.federation.activities import PUBLIC, QUOTABLE, deal, introduced, quote_state
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_a_quote_between_remote_posts_is_shown_after_its_authorization_was_fetched(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    yan = elsewhere.person("yan")
    quoted = elsewhere.serve(yan.note("<p>quoted</p>", number=9, **QUOTABLE))
    stamp = f"{yan.uri}/quote_authorizations/1"
    quoting = zoe.note("<p>I quote</p>", quote=quoted["id"])
    assert deal(zoe, zoe.activity("Create", quoting)) == "done"
    status = Status.objects.get(uri=quoting["id"])
    assert (quote_state(status), Status.objects.filter(uri=quoted["id"]).exists()) == (QuoteState.PENDING, True)
    # An authorization for another quote is ignored.
    said = {"id": stamp, "type": "QuoteAuthorization", "attributedTo": yan.uri, "interactionTarget": quoted["id"]}
    elsewhere.serve(said | {"interactingObject": zoe.note(number=2)["id"]})
    assert deal(zoe, zoe.activity("Update", quoting | {"quoteAuthorization": stamp})) == "done"
    assert quote_state(status) == QuoteState.PENDING
    other = f"{yan.uri}/quote_authorizations/2"
    elsewhere.serve(said | {"id": other, "interactingObject": quoting["id"]})
    assert deal(zoe, zoe.activity("Update", quoting | {"quoteAuthorization": other})) == "done"
    assert quote_state(status) == QuoteState.ACCEPTED
    shown = Api(make_token(alice.user)).get(f"/api/v1/statuses/{status.id}").json()["quote"]
    assert shown["quoted_status"]["uri"] == quoted["id"]


def test_quoting_ones_own_post_needs_no_consent(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    quoted = elsewhere.serve(zoe.note("<p>quoted</p>", number=9))
    quoting = zoe.note("<p>I quote myself</p>", quote=quoted["id"])
    assert deal(zoe, zoe.activity("Create", quoting)) == "done"
    assert quote_state(Status.objects.get(uri=quoting["id"])) == QuoteState.ACCEPTED


def test_row_36_an_authorization_issued_by_the_quoting_server_itself_is_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """The authorization names the quoted author and is otherwise correct, but only the author's server can issue it."""
    introduced(zoe, alice)
    with RemoteServer().running() as quoted_server:
        yan = quoted_server.person("yan", key=2)
        quoted = quoted_server.serve(yan.note("<p>quoted</p>", number=9, **QUOTABLE))
        stamp = elsewhere.uri("quote_authorizations/1")
        quoting = zoe.note("<p>I quote</p>", quote=quoted["id"], quoteAuthorization=stamp)
        said = {"id": stamp, "type": "QuoteAuthorization", "attributedTo": yan.uri}
        elsewhere.serve(said | {"interactionTarget": quoted["id"], "interactingObject": quoting["id"]})
        assert deal(zoe, zoe.activity("Create", quoting)) == "done"
        work()
        status = Status.objects.get(uri=quoting["id"])
        assert Status.objects.filter(uri=quoted["id"]).exists(), "the quoted post was fetched"
        assert quote_state(status) == QuoteState.PENDING
        assert deal(zoe, zoe.activity("Update", quoting | {"updated": quoting["published"]})) == "done"
        work()
        assert quote_state(status) == QuoteState.PENDING


@pytest.mark.parametrize("audience", ["public", "followers", "mentioned"])
def test_an_authorization_is_fetched_by_a_local_account_that_may_read_the_quoting_post(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, audience: str
) -> None:
    """Servers serve an authorization and the quoted post only to permitted readers (contract, federation section 10 "GET")."""
    follow(make_user("early").account, fetch_actor(zoe.uri))
    if audience == "followers":
        Follow.objects.all().delete()
        introduced(zoe, alice)
    yan = elsewhere.person("yan")
    quoted = elsewhere.serve(yan.note("<p>quoted</p>", number=9, **QUOTABLE))
    stamp = f"{yan.uri}/quote_authorizations/1"
    to = {"public": [PUBLIC], "followers": [f"{zoe.uri}/followers"], "mentioned": [alice.uri]}[audience]
    tag = [{"type": "Mention", "href": alice.uri, "name": "@alice"}] if audience == "mentioned" else []
    quoting = zoe.note("<p>I quote</p>", quote=quoted["id"], quoteAuthorization=stamp, to=to, cc=[], tag=tag)
    said = {"id": stamp, "type": "QuoteAuthorization", "attributedTo": yan.uri}
    elsewhere.serve(said | {"interactionTarget": quoted["id"], "interactingObject": quoting["id"]})
    assert deal(zoe, zoe.activity("Create", quoting)) == "done"
    assert quote_state(Status.objects.get(uri=quoting["id"])) == QuoteState.ACCEPTED
    wanted = [stamp.removeprefix(elsewhere.url), quoted["id"].removeprefix(elsewhere.url)]
    signed = {asked.headers["signature"].split('"')[1] for asked in elsewhere.asked if asked.path in wanted}
    server = "http://social.localhost/actor#main-key"
    assert signed == {server if audience == "public" else f"{alice.uri}#main-key"}


@pytest.mark.parametrize(
    ("status", "document", "state"),
    [
        (410, {}, "deleted"),
        (200, {"type": "Tombstone"}, "deleted"),
        (404, {}, "pending"),
        (403, {}, "pending"),
    ],
)
def test_a_quoted_post_counts_as_deleted_only_if_its_server_says_so(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, status: int, document: dict[str, Any], state: str
) -> None:
    introduced(zoe, alice)
    uri = elsewhere.uri("users/yan/statuses/9")
    elsewhere.serve({"id": uri} | document, status=status)
    note = zoe.note(quote=uri)
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    quoting = Status.objects.get(uri=note["id"])
    shown = Api().get(f"/api/v1/statuses/{quoting.id}").json()["quote"]
    assert shown == {"state": state, "quoted_status": None}
    # After an edit of the quoting post, the quoted post still counts as deleted.
    edited = note | {"content": "<p>2</p>", "quote": {"type": "Tombstone"}, "updated": clock.iso(clock.now())}
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert Quote.objects.get(status=quoting).state == "deleted"
