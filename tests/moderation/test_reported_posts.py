"""Tests of actions on reported posts: deleting them or marking them as sensitive, with a strike, and logging who views them."""

from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import AuditEntry, User
from accounts.policies.staff import staff_of
from moderation.models import Report, Strike
from moderation.services.acting import act_on_posts
from moderation.services.strikes import accept_appeal, file_appeal
from social.kernel.errors import Conflict, Forbidden
from statuses.models import MediaAttachment, Status, StatusEdit
from statuses.services.composing import Draft
from statuses.services.moderating import remove_status
from statuses.services.revising import edit_status
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.reports import make_report
from tests.factories.statuses import make_media, make_remote_media, make_remote_status, make_status
from tests.moderation.strikes import link, notified
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
delete_posts = partial(act_on_posts, action="delete_statuses")
mark_posts_sensitive = partial(act_on_posts, action="mark_statuses_as_sensitive")


def with_picture(ann: User, **values: Any) -> Status:
    return make_status(ann.account, "a picture", media=[make_media(ann.account)], **values)


def test_deleting_reported_posts_creates_a_strike_and_resolves_the_report(boss: User, ann: User) -> None:
    posts = [make_status(ann.account, "Bad words"), with_picture(ann)]
    other = make_status(boss.account, "Mine")
    report = make_report(boss.account, ann.account, *posts, other)
    delete_posts(
        by=staff_of(boss), account=ann.account, status_ids=report.status_ids, text="Mind your words", report=report
    )
    assert not Status.objects.filter(id__one_of=[post.id for post in posts], deleted_at=None).exists()
    assert Status.objects.filter(id=other.id, deleted_at=None).exists(), "a post of another author stays"
    assert not MediaAttachment.objects.exists(), "otherwise the author could post the file again"
    (shown,) = notified(ann)
    warning = shown["moderation_warning"]
    assert (warning["action"], warning["status_ids"]) == ("delete_statuses", [str(post.id) for post in posts])
    assert "Mind your words" in mail.outbox[0].body
    assert "Bad words" in Client().get(link()).content.decode(), "the user sees the deleted post"
    report.refresh_from_db()
    assert report.is_resolved
    entries = AuditEntry.objects.filter(action="destroy", target_type="Status")
    assert {entry.target_id for entry in entries} == {post.id for post in posts}
    with pytest.raises(Conflict):
        delete_posts(by=staff_of(boss), account=ann.account, status_ids=report.status_ids)
    accept_appeal(by=staff_of(boss), appeal=file_appeal(strike=Strike.objects.get(), text="No"))
    work()
    assert "cannot be restored" in mail.outbox[-1].body


def test_staff_mark_posts_as_sensitive_and_an_accepted_appeal_undoes_that(boss: User, ann: User) -> None:
    marked, already, words = with_picture(ann), with_picture(ann, sensitive=True), make_status(ann.account, "words")
    seen = Api(make_token(make_user("bob")))
    posts = [marked, already, words]
    report = make_report(boss.account, ann.account, *posts)
    strike = mark_posts_sensitive(by=staff_of(boss), account=ann.account, status_ids=report.status_ids, report=report)
    assert strike is not None
    assert strike.status_ids == [marked.id], "only unmarked posts with files are marked"
    (shown,) = notified(ann)
    assert shown["moderation_warning"]["action"] == "mark_statuses_as_sensitive"

    def sensitive() -> list[bool]:
        return [seen.get(f"/api/v1/statuses/{post.id}").json()["sensitive"] for post in posts]

    assert sensitive() == [True, True, False]
    assert [version["sensitive"] for version in seen.get(f"/api/v1/statuses/{marked.id}/history").json()] == [
        False,
        True,
    ]
    accept_appeal(by=staff_of(boss), appeal=file_appeal(strike=strike, text="Nothing to see"))
    assert sensitive() == [False, True, False]
    actions = AuditEntry.objects.filter(target_type="Status").order_by("id").values_list("action", "target_id")
    assert list(actions) == [("sensitize", marked.id), ("unsensitize", marked.id)]


def test_reports_about_the_same_posts_can_all_be_resolved(boss: User, ann: User) -> None:
    by = staff_of(boss)
    post, picture, words = make_status(ann.account, "Bad"), with_picture(ann), make_status(ann.account, "words")
    deleted = [make_report(boss.account, ann.account, post) for _ in range(2)]
    marked = [make_report(boss.account, ann.account, picture) for _ in range(2)]
    for report in deleted:
        delete_posts(by=by, account=ann.account, status_ids=report.status_ids, report=report)
    for report in marked:
        mark_posts_sensitive(by=by, account=ann.account, status_ids=report.status_ids, report=report)
    assert not Report.objects.filter(action_taken_at=None).exists()
    assert Strike.objects.count() == 2, "the second report about a post causes no second strike"
    with pytest.raises(Conflict):
        mark_posts_sensitive(
            by=by, account=ann.account, status_ids=[words.id], report=make_report(boss.account, ann.account, words)
        )
    assert Report.objects.filter(action_taken_at=None).count() == 1, "no action was taken on the post of this report"


def test_marking_a_remote_post_as_sensitive_creates_no_version(boss: User) -> None:
    there = make_remote()
    post = make_remote_status(there, "<p>there</p>")
    make_remote_media(post)
    mark_posts_sensitive(by=staff_of(boss), account=there, status_ids=[post.id])
    post.refresh_from_db()
    assert (post.sensitive, post.edited_at, StatusEdit.objects.count()) == (True, None, 0)


def test_acting_on_posts_requires_the_permission_and_the_rank(boss: User, ann: User) -> None:
    post = with_picture(boss)
    moderator = make_user("mod", role="Moderator")
    for act in (delete_posts, mark_posts_sensitive):
        for by, account in ((moderator, boss.account), (ann, ann.account)):
            with pytest.raises(Forbidden):
                act(by=staff_of(by), account=account, status_ids=[post.id])
    with pytest.raises(Forbidden):
        remove_status(by=staff_of(moderator), status=post)
    post.refresh_from_db()
    assert (post.deleted_at, post.sensitive, AuditEntry.objects.count()) == (None, False, 0)


def test_staff_act_on_the_posts_of_a_report_on_its_page(boss: User, ann: User, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser = signed_in(boss)
    for action, verb in (("mark_sensitive", "mark_statuses_as_sensitive"), ("delete_posts", "delete_statuses")):
        report = make_report(boss.account, ann.account, with_picture(ann))
        page = browser.get(f"/admin/moderation/report/{report.id}/change/").content.decode()
        assert f'value="{action}"' in page
        chosen = {"action": action, "_selected_action": [report.id]}
        asked = browser.post("/admin/moderation/report/", chosen).content.decode()
        assert '<textarea name="text"' in asked
        assert not Strike.objects.filter(report=report).exists(), "nothing happens before the confirmation"
        too_long = chosen | {"confirmed": "yes", "text": "x" * 10_001}
        assert browser.post("/admin/moderation/report/", too_long).status_code == 422
        answered = browser.post(
            "/admin/moderation/report/", chosen | {"confirmed": "yes", "text": "Why <b>"}, follow=True
        )
        assert "1 report was resolved." in answered.content.decode()
        strike = Strike.objects.get(report=report)
        assert (strike.action, strike.text, strike.status_ids) == (verb, "Why <b>", report.status_ids)


def test_staff_see_versions_of_an_edited_post_and_viewing_a_private_one_is_audited(
    boss: User, ann: User, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser = signed_in(boss)
    for visibility in ("public", "private"):
        post = make_status(ann.account, "Bad words", visibility=visibility)
        ann.account.user = ann
        edit_status(author=ann.account, status_id=post.id, draft=Draft(text="Good words"))
        report = make_report(boss.account, ann.account, post)
        page = browser.get(f"/admin/moderation/report/{report.id}/change/").content.decode()
        assert "Bad words" in page
        assert "Good words" in page
        views = AuditEntry.objects.filter(action="view", target_id=post.id)
        assert views.count() == (visibility == "private")
        alone = browser.get(f"/admin/statuses/status/{post.id}/change/")
        assert ("Bad words" in alone.content.decode()) == (visibility == "public")
