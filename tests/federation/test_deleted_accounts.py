"""Tests that deleting a local account sends a Delete to every known server before its keys are removed."""

import pytest

from accounts.models import Account, KeyPair, User
from accounts.services import erasing
from accounts.services.erasing import delete_user
from federation.models import OutboundActivity
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import follow, make_status
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
WEBFINGER = "/.well-known/webfinger?resource="
ADDRESSES = [
    "/users/gone",
    "/users/gone/outbox",
    "/users/gone/followers",
    f"{WEBFINGER}acct:gone@social.localhost",
    f"{WEBFINGER}http://social.localhost/users/gone",
]


@pytest.fixture
def gone() -> User:
    user = make_user("gone")
    make_status(user.account, "hello")
    return user


def _stranger(elsewhere: RemoteServer) -> Account:
    """Create an account of a server to which no local account has any relation."""
    inbox = elsewhere.uri("inbox")
    return make_remote("stranger", elsewhere.domain, inbox_url=elsewhere.uri("users/s/inbox"), shared_inbox_url=inbox)


def test_one_delete_goes_to_every_known_server(gone: User, elsewhere: RemoteServer) -> None:
    _stranger(elsewhere)
    delete_user(user=gone)
    work()
    (received,) = elsewhere.delivered()
    assert (received["type"], received["actor"], received["object"]) == ("Delete", gone.account.uri, gone.account.uri)
    assert received["to"] == ["https://www.w3.org/ns/activitystreams#Public"]
    assert erasing.erase_account(gone.account_id), "the keys were kept for the delivery"


def test_posts_and_follows_of_a_deleted_account_are_not_undone_one_by_one(gone: User, elsewhere: RemoteServer) -> None:
    stranger = _stranger(elsewhere)
    follow(stranger, gone.account, uri="https://x.example/1")
    follow(gone.account, stranger, uri="https://y.example/1")
    delete_user(user=gone)
    work()
    assert [received["type"] for received in elsewhere.delivered()] == ["Delete"]


def test_only_the_keys_remain_until_the_last_delivery(
    gone: User, elsewhere: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stranger(elsewhere)
    elsewhere.inbox_status = 500
    delete_user(user=gone)
    work()
    left = Account.objects.get(id=gone.account_id)
    assert (left.display_name, left.note, left.suspended) == ("", "", True)
    assert KeyPair.objects.filter(account=left).exists()
    assert not User.objects.filter(id=gone.id).exists()
    assert OutboxRow.objects.get(event="AccountErasureDue").due_at > clock.now()
    OutboundActivity.objects.all().delete()
    assert erasing.erase_account(left.id)
    assert not KeyPair.objects.filter(account_id=left.id).exists()


@pytest.mark.parametrize("erased", [False, True])
@pytest.mark.parametrize("path", ADDRESSES)
def test_documents_of_a_deleted_account_are_410(gone: User, path: str, erased: bool) -> None:
    assert Api().get(path, headers={"Accept": ACTIVITY}).status_code == 200
    delete_user(user=gone)
    if erased:
        work()
    assert Api().get(path, headers={"Accept": ACTIVITY}).status_code == 410


def test_the_page_of_a_deleted_account_is_410_and_says_that_it_was_deleted(gone: User) -> None:
    delete_user(user=gone)
    page = Api().get("/@gone", headers={"Accept": "text/html"})
    assert page.status_code == 410
    assert "has been deleted permanently" in page.content.decode()


def test_an_activity_for_the_inbox_of_a_deleted_account_is_answered_410(gone: User, zoe: RemotePerson) -> None:
    delete_user(user=gone)
    assert zoe.send(zoe.activity("Like", f"{gone.account.uri}/statuses/1"), "/users/gone/inbox").status_code == 410
