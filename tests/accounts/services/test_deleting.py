"""Tests of deleting a local account: it is hidden and locked immediately and erased in steps, and its name is never available
again.
"""

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.activation import create_invite
from accounts.identity.services.signing_up import sign_up
from accounts.models import AccessToken, Account, Follow, Grant, Invite, RetiredUsername, User
from accounts.models.account import SuspensionOrigin
from accounts.policies.staff import OPERATOR
from accounts.services import erasing
from accounts.services.erasing import delete_user, end_account
from accounts.services.following import FollowChange, follow_account
from social.kernel.errors import Conflict, Invalid
from social.kernel.outbox import OutboxRow, drain
from statuses.models import Favourite, MediaAttachment, Status
from statuses.services.interactions import favourite_status, reblog_status
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import make_media, make_status
from tests.support.at_once import at_once
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _names(account_id: int, user_id: int) -> list[str]:
    """Return the columns that still refer to the account or its user."""
    found = []
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            number = {Account: account_id, User: user_id}.get(field.related_model)
            if number is not None and model._base_manager.filter(**{field.name: number}).exists():
                found.append(f"{model.__name__}.{field.name}")
    return found


def attach(media: MediaAttachment, post: Status) -> None:
    MediaAttachment.objects.filter(id=media.id).update(status=post)


@pytest.fixture
def ada(db: None) -> User:
    return make_user(
        "ada", note="my life", display_name="Ada", avatar=default_storage.save("ada.png", ContentFile(b"x"))
    )


@pytest.fixture
def somebody(ada: User) -> User:
    """Ada with posts, files, followers, favourites, boosts and everything else that refers to an account."""
    account, other = ada.account, make_account("bob")
    post = make_status(account, "mine #tag @bob")
    theirs = make_status(other, "theirs")
    make_media(account)
    attach(make_media(account), post)
    favourite_status(account_id=account.id, status=theirs)
    favourite_status(account_id=other.id, status=post)
    reblog_status(account=account, status=theirs)
    reblog_status(account=other, status=post)
    follow_account(account=account, target=other, change=FollowChange())
    follow_account(account=other, target=account, change=FollowChange())
    make_token(ada)
    work()
    return ada


@pytest.mark.django_db(transaction=True)
def test_deleting_a_user_removes_all_rows_and_files_but_keeps_the_username(somebody: User) -> None:
    files = [somebody.account.avatar, *MediaAttachment.objects.values_list("file", flat=True)]
    assert len(files) == 3
    assert all(default_storage.exists(file) for file in files)
    assert len(_names(somebody.account_id, somebody.id)) > 8
    delete_user(user=somebody)
    work()
    assert _names(somebody.account_id, somebody.id) == []
    assert not Account.objects.filter(id=somebody.account_id).exists()
    assert not User.objects.filter(id=somebody.id).exists()
    assert [file for file in files if default_storage.exists(file)] == []
    other = Account.objects.select_related("stat").get(username="bob")
    assert (other.stat.followers_count, other.stat.following_count, other.stat.statuses_count) == (0, 0, 1)
    assert Status.objects.get(text="theirs").stat.favourites_count == 0
    assert Status.objects.get(text="theirs").stat.reblogs_count == 0
    assert (Favourite.objects.count(), Follow.objects.count()) == (0, 0)
    assert RetiredUsername.objects.filter(username="ada").exists()


@pytest.mark.parametrize("name", ["ada", "ADA"])
@pytest.mark.parametrize("erased", [False, True])
def test_row_18_the_name_of_a_deleted_account_is_never_available_again(ada: User, name: str, erased: bool) -> None:
    delete_user(user=ada)
    if erased:
        work()
    draft = SignUpDraft(username=name, email="new@example.com", password="correct horse", agreement=True)
    with pytest.raises(Invalid) as refused:
        sign_up(draft=draft)
    assert refused.value.extra["details"]["username"][0]["error"] == "ERR_TAKEN"


def test_the_mail_address_of_a_deleted_user_can_be_used_again(ada: User) -> None:
    delete_user(user=ada)
    work()
    assert not EmailAddress.objects.filter(email=ada.email).exists()
    draft = SignUpDraft(username="eva", email=ada.email, password="correct horse", agreement=True)
    assert sign_up(draft=draft).email == ada.email


def test_a_deleted_user_is_hidden_and_signed_out_at_once(ada: User) -> None:
    token = make_token(ada)
    post = make_status(ada.account, "mine")
    browser = signed_in(ada)
    delete_user(user=ada)
    anybody = Api()
    assert Api(token).get("/api/v1/accounts/verify_credentials").status_code == 401
    assert browser.get("/auth/password").status_code == 302
    assert not browser.login(username="ada@example.com", password="correct horse")
    for path in (f"accounts/{ada.account_id}", "accounts/lookup?acct=ada", f"statuses/{post.id}"):
        assert anybody.get(f"/api/v1/{path}").status_code == 404, path
    assert not Grant.objects.filter(user=ada).exists()
    assert not AccessToken.objects.filter(user=ada).exists()


def test_an_interrupted_deletion_of_a_user_is_resumed(somebody: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        make_status(somebody.account, f"more {number}")
    work()
    delete_user(user=somebody)
    monkeypatch.setattr(erasing, "BATCH_SIZE", 2)
    # The process stops after each batch.
    monkeypatch.setattr(erasing, "TURN_SECONDS", 0.0)
    turns = 0
    while Account.objects.filter(id=somebody.account_id).exists():
        assert OutboxRow.objects.filter(event__in=["AccountDeleted", "AccountErasureDue"]).exists()
        assert drain("default", 1) > 0
        turns += 1
        assert turns < 200
    assert turns > 5


def test_deleting_a_user_twice_has_no_further_effect(ada: User) -> None:
    delete_user(user=ada)
    delete_user(user=ada)
    assert OutboxRow.objects.filter(event="AccountDeleted", subscriber__contains="begin_erasure").count() == 1
    work()
    delete_user(user=ada)


def test_a_remote_account_that_is_deleted_twice_is_erased_once() -> None:
    account = make_remote("zoe")
    for _time in range(2):
        with transaction.atomic():
            end_account(account=account, origin=SuspensionOrigin.REMOTE)
    assert OutboxRow.objects.filter(event="AccountDeleted", subscriber__contains="begin_erasure").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_requests_delete_an_account_once(ada: User) -> None:
    assert at_once(2, lambda _place: delete_user(user=ada)) == [None, None]
    assert OutboxRow.objects.filter(event="AccountDeleted", subscriber__contains="begin_erasure").count() == 1


def test_the_last_owner_cannot_be_deleted() -> None:
    owner = make_user("owner", role="Owner")
    with pytest.raises(Conflict):
        delete_user(user=owner)
    assert Account.objects.get(id=owner.account_id).deleted_at is None
    make_user("second", role="Owner")
    delete_user(user=owner)
    assert Account.objects.get(id=owner.account_id).deleted_at is not None


def test_deleting_an_inviter_keeps_the_invited_users(ada: User) -> None:
    invite = create_invite(by=OPERATOR, inviter=ada)
    draft = SignUpDraft("eva", "eva@example.com", "correct horse", True, invite_code=invite.code)
    guest = sign_up(draft=draft)
    delete_user(user=ada)
    work()
    assert not Invite.objects.filter(pk=invite.pk).exists()
    assert User.objects.get(pk=guest.pk).invite_id is None
