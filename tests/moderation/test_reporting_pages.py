"""Tests of reporting and blocking an account from its profile page."""

import re

import pytest
from django.test import Client

from accounts.models import Account, Block
from moderation.models import InstanceRule, Report
from moderation.pages.reporting import POSTS_OFFERED
from social.kernel import clock
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db


def test_members_can_report_and_block_from_a_profile_and_visitors_cannot(client: Client) -> None:
    target, me = make_account("target"), make_user("me")
    post, other = make_status(target, "Buy this"), make_status(make_account("other"), "Hello")
    rule = InstanceRule.objects.create(text="No advertising", position=1)
    path = f"/report/{target.pk}"
    assert f'href="{path}"' not in client.get("/@target").content.decode()
    assert client.get(path).status_code == 302
    browser = signed_in(me)
    assert f'href="{path}"' in browser.get("/@target").content.decode()
    page = browser.get(path).content.decode()
    assert "Buy this" in page
    assert "No advertising" in page
    sent = {"category": "violation", "rules": [rule.pk], "posts": [post.id], "comment": "Again", "next": "/@target"}
    # The error is shown beside its field, and the form keeps its values.
    wrong = browser.post(path, sent | {"rules": []})
    assert wrong.status_code == 422
    assert "Again" in wrong.content.decode()
    assert browser.post(path, sent | {"posts": [other.id]}).status_code == 422
    answer = browser.post(path, sent)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/@target")
    filed = Report.objects.get()
    assert (filed.status_ids, filed.rule_ids, filed.comment) == ([post.id], [rule.pk], "Again")
    browser.post(f"/block/{target.pk}", {"next": "/@target"})
    assert Block.objects.filter(account=me.account, target=target).exists()
    assert "Unblock" in browser.get(path).content.decode()
    browser.post(f"/block/{target.pk}", {"end": "yes"})
    assert not Block.objects.exists()
    assert browser.get(f"/report/{me.account_id}").status_code == 404
    assert browser.get("/report/5").status_code == 404


def test_a_report_contains_the_posts_of_its_form_and_deleted_ones_are_named() -> None:
    target, browser = make_account("target"), signed_in(make_user("me"))
    posts = [make_status(target, f"post {number}") for number in range(2)]
    sent = {"category": "spam", "posts": [post.id for post in posts], "comment": "Again", "next": "/@target"}
    for number in range(POSTS_OFFERED):
        make_status(target, f"more {number}")
    delete_status(status_id=posts[0].id)
    refused = browser.post(f"/report/{target.pk}", sent)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert "A post that you chose does not exist any more." in page
    assert re.search(rf'value="{posts[1].id}"[^>]* checked', page), "the other post stays selected"
    assert browser.post(f"/report/{target.pk}", sent | {"posts": [posts[1].id]}).status_code == 303
    assert Report.objects.get().status_ids == [posts[1].id]


def test_the_profile_of_a_suspended_account_says_that_it_is_suspended(client: Client) -> None:
    target = make_account("target")
    Account.objects.filter(pk=target.pk).update(suspended_at=clock.now(), suspension_origin="local")
    answer = client.get("/@target")
    assert answer.status_code == 403
    assert "This account is suspended" in answer.content.decode()


def test_the_post_that_was_reported_goes_with_the_report_however_old_it_is() -> None:
    target, me = make_account("target"), make_user("me")
    old, hidden = make_status(target, "The old one"), make_status(target, "Secret", visibility="direct")
    for number in range(11):
        make_status(target, f"Newer {number}")
    foreign = make_status(make_account("other"), "Not theirs")
    path, browser = f"/report/{target.pk}?post={old.id}&post={hidden.id}&post={foreign.id}&post=x", signed_in(me)
    page = browser.get(path).content.decode()
    assert "The old one" in page
    assert "Secret" not in page
    assert "Not theirs" not in page
    browser.post(path, {"category": "spam", "posts": [old.id]})
    assert Report.objects.get().status_ids == [old.id]
