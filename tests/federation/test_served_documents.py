"""Tests that documents for discovery, and restricted documents, equal those recorded from Mastodon 4.6.5.

Contract, federation sections 7, 9 and 14. Documents of accounts and posts are compared in `test_sent_profiles.py` and
`test_sent_posts.py`. The tests are skipped without the records.
"""

from typing import Any

import pytest

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from statuses.policies.polls import PollDraft
from tests.factories.statuses import make_status
from tests.federation.activities import deal
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.wire import FILES, compare, record

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]
PATHS = {
    "actor_instance": "/actor",
    "nodeinfo": "/nodeinfo/2.0",
    "nodeinfo_links": "/.well-known/nodeinfo",
    "host_meta_json": "/.well-known/host-meta",
    "webfinger_acct": "/.well-known/webfinger?resource=acct:alice@social.localhost",
    "webfinger_url": "/.well-known/webfinger?resource=http%3A%2F%2Fsocial.localhost%2Fusers%2Falice",
    "webfinger_instance": "/.well-known/webfinger?resource=acct:social.localhost@social.localhost",
}


def _served(path: str, name: str) -> Any:
    found = record(name)
    answer = Api().get(path, headers={"Accept": found["accept"]})
    assert answer.status_code == found["status"], name
    return answer


def test_documents_for_discovery_equal_those_of_mastodon(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(avatar="accounts/avatar.png")
    for name, path in PATHS.items():
        compare(name, _served(path, name).json())
    ours = _served("/.well-known/host-meta", "host_meta").content.decode()
    theirs = record("host_meta")["body"].replace("https://remote.example", "http://social.localhost")
    assert ours == theirs


def test_documents_of_emojis_and_polls_equal_those_of_mastodon(alice: Account) -> None:
    emoji = CustomEmoji.objects.create(shortcode="blob", image="emojis/blob.png")
    compare("get_emoji", _served(f"/emojis/{emoji.id}", "get_emoji").json())
    status = make_status(alice, poll=PollDraft(options=("one", "two"), expires_in=600))
    compare("question", _served(f"/users/alice/statuses/{status.id}", "question").json())


def test_documents_for_signed_requests_equal_those_of_mastodon(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    private = make_status(alice, "for followers", visibility="private")
    compare("get_note_private_follower", zoe.get(f"/users/alice/statuses/{private.id}").json())
    compare("get_followers_synchronization", zoe.get("/users/alice/followers_synchronization").json())
    allowed = make_status(alice, "one", quote_approval_policy="public")
    note = zoe.note("<p>I quote</p>", quote=f"{alice.uri}/statuses/{allowed.id}")
    assert deal(zoe, zoe.activity("QuoteRequest", note["quote"], instrument=note)) == "done"
    (accept,) = elsewhere.delivered("Accept")
    path = accept["result"].removeprefix("http://social.localhost")
    compare("get_quote_authorization", Api().get(path, headers={"Accept": ACTIVITY}).json())
