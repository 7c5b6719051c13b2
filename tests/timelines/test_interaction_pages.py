"""Tests of the pages for users of other servers: follow, boost, favourite, reply, share (contract, federation section 13)."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from accounts.models import Account, Follow, FollowRequest, User
from accounts.services.blocking import block_account
from accounts.services.following import FollowChange, follow_account
from statuses.models import Favourite, Status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_remote_status, make_status
from tests.support.browser import Forms
from tests.support.client import signed_in
from tests.support.federation_server import needs_federation
from tests.timelines.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(ann: User) -> Client:
    return signed_in(ann, enforce_csrf_checks=True)


def address(uri: str) -> str:
    return "/authorize_interaction?" + urlencode({"uri": uri})


def send(browser: Client, path: str, form: int = 0, **values: str) -> Any:
    """Send a form of a page with its values as a browser does; `values` replaces some of them."""
    text = browser.get(path).content.decode()
    return browser.post(path, {**Forms(text).found[form][1], **values}, follow=True)


def test_visitors_sign_in_first_and_return_to_the_page(ann: User) -> None:
    for path in (address("acct:bea@remote.example"), "/share?text=Hello+there"):
        answer = Client().get(path)
        assert answer.status_code == 302
        assert answer.url == "/auth/sign_in?" + urlencode({"next": path})
        sent = Client().post(answer.url, {"login": ann.email, "password": "correct horse"})
        assert (sent.status_code, sent.url) == (303, path)
    assert Client().post("/share", {"text": "hello"}).status_code == 303
    assert not Status.objects.exists()


@needs_federation
@pytest.mark.parametrize("uri", ["acct:bea@remote.example", "@bea@remote.example", "https://remote.example/users/bea"])
def test_a_remote_account_can_be_followed(ann: User, browser: Client, uri: str) -> None:
    bea = make_remote("bea")
    page = browser.get(address(uri)).content.decode()
    assert "@bea@remote.example" in page
    assert "@ann@social.localhost" in page
    assert not Follow.objects.exists(), "GET follows nobody"
    done = send(browser, address(uri)).content
    assert b"You have requested to follow" in done
    assert b'<a href="/">Back to your account</a>' in done
    assert FollowRequest.objects.filter(account=ann.account, target=bea).exists()


def test_local_accounts_can_be_followed_except_ones_own(ann: User, browser: Client) -> None:
    bea, shy = make_account("bea"), make_account("shy", locked=True)
    assert b"You follow this account." in send(browser, address("bea@social.localhost")).content
    assert b"You have requested to follow" in send(browser, address("http://social.localhost/@shy")).content
    assert list(Follow.objects.values_list("target_id", flat=True)) == [bea.id]
    assert list(FollowRequest.objects.values_list("target_id", flat=True)) == [shy.id]
    assert b"This is you." in browser.get(address("acct:ann@social.localhost")).content
    token = Forms(browser.get("/share").content.decode()).found[0][1]
    assert browser.post(address("acct:ann@social.localhost"), token).status_code == 403
    block_account(account=shy, target=ann.account)
    assert browser.post(address("acct:shy@social.localhost"), token).status_code == 403


@needs_federation
def test_boosts_and_favourites_can_be_made_and_undone(ann: User, browser: Client) -> None:
    post = make_remote_status(make_remote("bea"), "<p>A garden</p>")
    path = address(post.uri or "")
    assert b"A garden" in browser.get(path).content
    assert b"Undo the boost" in send(browser, path, act="boost").content
    assert b"Undo the favourite" in send(browser, path, act="favourite").content
    assert Status.objects.filter(account=ann.account, reblog_of=post).exists()
    assert Favourite.objects.filter(account=ann.account, status=post).exists()
    for act in ("unboost", "unfavourite"):
        send(browser, path, act=act)
    assert not Status.objects.filter(account=ann.account, deleted_at=None).exists()
    assert not Favourite.objects.exists()


def test_a_reply_is_published_once_however_often_the_form_is_sent(ann: User, browser: Client) -> None:
    post = make_status(make_account("bea"), "A question", visibility="unlisted")
    path = address(f"http://social.localhost/@bea/{post.id}")
    fields = Forms(browser.get(path).content.decode()).found[1][1]
    assert fields["key"]
    assert b"@bea " in browser.get(path).content
    for _time in range(2):
        sent = browser.post(
            path, {**fields, "act": "reply", "text": "@bea An answer", "visibility": "unlisted"}, follow=True
        )
        assert b"Your reply has been published." in sent.content
    answer = Status.objects.get(account=ann.account)
    assert (answer.in_reply_to_id, answer.text, answer.visibility) == (post.id, "@bea An answer", "unlisted")


def test_a_shared_text_is_published_as_it_was_shown(ann: User, browser: Client) -> None:
    path = "/share?" + urlencode({"title": "News", "text": "<b>Look</b>", "url": "https://news.example/1"})
    page = browser.get(path).content.decode()
    assert "News &lt;b&gt;Look&lt;/b&gt; https://news.example/1" in page
    assert not Status.objects.exists(), "GET publishes nothing"
    sent = send(browser, path, text="Look: https://news.example/1", spoiler_text="news", visibility="private")
    assert b"Your post has been published." in sent.content
    post = Status.objects.get()
    assert (post.account_id, post.text) == (ann.account_id, "Look: https://news.example/1")
    assert (post.spoiler_text, post.visibility) == ("news", "private")


def test_errors_are_shown_beside_the_typed_text(browser: Client) -> None:
    for values in ({"text": ""}, {"text": "x" * 10_000}, {"text": "hello", "visibility": "nobody"}):
        path = "/share?text=hello"
        fields = Forms(browser.get(path).content.decode()).found[0][1]
        answer = browser.post(path, {**fields, "visibility": "public", **values})
        assert answer.status_code == 422
        assert b'role="alert"' in answer.content
    assert not Status.objects.exists()


def test_unknown_addresses_and_unreadable_posts_are_not_found(ann: User, browser: Client) -> None:
    bea = make_account("bea")
    private = make_status(bea, "secret", visibility="private")
    blocked = make_status(make_account("mean"), "not for ann")
    block_account(account=blocked.account, target=ann.account)
    gone = make_account("gone")
    Account.objects.filter(id=gone.id).update(suspended_at="2026-01-01T00:00:00Z")
    for uri in (
        *("", "acct:", "nobody", "acct:nobody@social.localhost", "javascript:alert(1)", "\0", "https://", "x" * 5000),
        *("http://social.localhost/@bea/1", f"http://social.localhost/@bea/{private.id}"),
        *(f"http://social.localhost/@mean/{blocked.id}", "acct:gone@social.localhost"),
    ):
        assert browser.get(address(uri)).status_code == 404, uri
    assert browser.get("/authorize_interaction").status_code == 404


def test_other_sites_cannot_act_for_a_user(ann: User, browser: Client) -> None:
    bea = make_account("bea")
    post = make_status(bea, "hello")
    token = signed_in(ann, enforce_csrf_checks=True)
    assert token.post(address("acct:bea@social.localhost")).status_code == 403
    assert token.post(address(f"http://social.localhost/@bea/{post.id}"), {"act": "boost"}).status_code == 403
    assert token.post("/share", {"text": "hello", "visibility": "public", "key": "1"}).status_code == 403
    assert (Follow.objects.count(), Status.objects.count()) == (0, 1)
    assert "frame-ancestors 'none'" in browser.get("/share")["Content-Security-Policy"]


def test_too_many_requests_are_refused(browser: Client, counted: None) -> None:
    make_account("bea")
    answers = {browser.get(address("acct:bea@social.localhost")).status_code for _time in range(61)}
    assert answers == {200, 429}


def test_a_follow_on_the_page_is_visible_in_the_api(ann: User, browser: Client, reader: Person) -> None:
    follow_account(account=ann.account, target=reader.account, change=FollowChange(notify=True))
    assert (
        b"You follow this account." in browser.get(address(f"acct:{reader.account.username}@social.localhost")).content
    )
