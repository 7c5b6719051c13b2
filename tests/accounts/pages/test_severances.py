"""Tests of the page that lists the follows ended by a block or a suspension, and of downloading the lists."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Follow
from accounts.models.relations import SeveredAccount
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_domain
from accounts.services.sanctions import suspend_account
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import follow
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
PAGE = "/severed_relationships"


def lines(answer: Any) -> list[str]:
    return b"".join(answer.streaming_content).decode().splitlines()


def test_ended_follows_are_listed_and_downloaded_as_they_can_be_imported() -> None:
    ann = make_user("ann")
    friend, fan = make_remote("friend"), make_remote("fan")
    follow(ann.account, friend, show_reblogs=False, languages=["de"])
    follow(fan, ann.account)
    browser = signed_in(ann)
    assert "You have not lost any follows" in browser.get(PAGE).content.decode()
    block_domain(account=ann.account, domain="remote.example")
    work()
    assert not Follow.objects.exists()
    page = browser.get(PAGE).content.decode()
    assert "remote.example" in page
    assert "You have blocked this server." in page
    severed = SeveredAccount.objects.get()
    following, followers = (reverse(name, args=[severed.id]) for name in ("severed_following", "severed_followers"))
    assert following in page
    assert followers in page
    assert lines(browser.get(following)) == [
        "Account address,Show boosts,Notify on new posts,Languages",
        "friend@remote.example,false,false,de",
    ]
    assert lines(browser.get(followers)) == ["Account address", "fan@remote.example"]
    stranger = signed_in(make_user("stranger"))
    assert [stranger.get(path).status_code for path in (following, followers)] == [404, 404]
    assert "remote.example" not in stranger.get(PAGE).content.decode()
    assert Client().get(following).status_code == 302


def test_follows_ended_by_the_suspension_of_a_remote_account_are_listed() -> None:
    ann, fan = make_user("ann"), make_remote("fan")
    follow(fan, ann.account)
    suspend_account(by=OPERATOR, account=fan)
    work()
    page = signed_in(ann).get(PAGE).content.decode()
    assert "fan@remote.example" in page
    assert "have suspended that account" in page
