"""Tests of reports between servers: received reports, and reports sent by this server's own actor."""

from typing import Any

import pytest

from accounts.collections.models import Collection
from accounts.models import Account
from accounts.services.instance_actor import instance_actor
from federation.inbound import flag
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from moderation.models import DomainRule, Report
from moderation.policies.reports import ReportDraft
from moderation.services.reports import file_report
from social.api.limits import Rule
from social.kernel import clock
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import follow, make_remote_status, make_status
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


def outcome(zoe: RemotePerson, content: Any, *objects: str) -> str:
    """Send a Flag that reports these objects, run all jobs, and return the Flag's outcome."""
    activity = zoe.activity("Flag", list(objects)) | {"content": content}
    assert zoe.send(activity).status_code == 202
    work()
    return InboundActivity.objects.latest("id").outcome


def test_a_forwarded_report_names_this_server_and_not_the_reporter(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    zoe_here = fetch_actor(zoe.uri)
    post = make_remote_status(zoe_here, uri=f"{zoe.uri}/statuses/1")
    draft = ReportDraft(comment="Bad words", status_ids=(str(post.id),))
    file_report(account=alice, target=zoe_here, draft=draft)
    work()
    assert elsewhere.delivered() == []
    file_report(account=alice, target=zoe_here, draft=ReportDraft(draft.comment, "", draft.status_ids, forward=True))
    work()
    (flag,) = elsewhere.delivered()
    assert flag["type"] == "Flag"
    assert flag["actor"] == instance_actor().uri
    assert flag["content"] == "Bad words"
    assert flag["object"] == [zoe_here.uri, post.uri]
    assert alice.uri not in str(flag)
    assert alice.username not in str(flag)


def test_a_report_of_another_server_reaches_staff_once(zoe: RemotePerson, alice: Account) -> None:
    make_user("boss", role="Owner")
    post, hidden, direct = (make_status(alice, visibility=word) for word in ("public", "private", "direct"))
    other = make_status(make_account("bob"))
    uris = [f"{one.account.uri}/statuses/{one.id}" for one in (post, hidden, direct, other)]
    mine, theirs = (
        Collection.objects.create(account=one, name="Birds", sensitive=False, discoverable=True)
        for one in (alice, other.account)
    )
    uris += [f"{alice.uri}/collections/{mine.id}", f"{alice.uri}/collections/{theirs.id}", theirs.page_url]
    activity = zoe.activity("Flag", [alice.uri, *uris, "https://nowhere.example/1"]) | {"content": "x" * 6000}
    for _time in range(2):
        assert zoe.send(activity).status_code == 202
        work()
    report = Report.objects.get()
    assert (report.account.uri, report.target_account, report.uri) == (zoe.uri, alice, activity["id"])
    assert (len(report.comment), report.status_ids, report.category) == (5000, [post.id], "other")
    assert report.collection_ids == [mine.id]
    follow(Account.objects.get(uri=zoe.uri), alice)
    assert outcome(zoe, None, alice.uri, *uris) == "done"
    assert Report.objects.latest("id").status_ids == [post.id, hidden.id]


@pytest.mark.parametrize("form", range(11))
def test_a_report_that_names_a_post_in_any_form_is_about_its_author(
    zoe: RemotePerson, alice: Account, form: int
) -> None:
    post = make_status(alice)
    uri, page = f"{alice.uri}/statuses/{post.id}", f"{alice.page_url}/{post.id}"
    named = [
        uri,
        [uri],
        page,
        f"{uri}/activity",
        {"type": "Note", "id": uri, "attributedTo": alice.uri},
        {"type": ["Note"], "url": page},
        [{"type": "Note", "id": "https://nowhere.example/1", "url": [{"type": "Link", "href": page}]}],
        {"type": "Create", "id": f"{uri}/activity", "actor": alice.uri, "object": uri},
        {"type": "Create", "actor": alice.uri, "object": {"type": "Note", "id": uri}},
        {"type": "Link", "href": uri},
        [17, None, {"type": "Note"}, "https://nowhere.example/1", uri, uri],
    ][form]
    assert zoe.send(zoe.activity("Flag", named) | {"content": "bad"}).status_code == 202
    work()
    report = Report.objects.get()
    assert (report.target_account, report.status_ids, report.comment) == (alice, [post.id], "bad")


def test_a_report_that_names_a_collection_is_about_its_owner(zoe: RemotePerson, alice: Account) -> None:
    mine = Collection.objects.create(account=alice, name="Birds", sensitive=False, discoverable=True)
    for uri in (mine.page_url, mine.object_uri):
        assert outcome(zoe, "x", uri) == "done"
        report = Report.objects.latest("id")
        assert (report.target_account, report.collection_ids) == (alice, [mine.id])
    assert "names no local account" in outcome(zoe, "x", f"{mine.page_url}0")


@pytest.mark.parametrize(
    ("said", "comment"),
    [
        ({"content": "bad"}, "bad"),
        ({"content": ["bad", "worse"]}, "bad"),
        ({"contentMap": {"de": "schlimm"}}, "schlimm"),
        ({"summary": "bad"}, "bad"),
        ({"content": "", "summaryMap": {"en": "bad"}}, "bad"),
        ({"content": "bad", "summary": "worse"}, "bad"),
        ({}, ""),
    ],
)
def test_the_reason_of_a_report_is_read_from_any_of_its_usual_members(
    zoe: RemotePerson, alice: Account, said: dict[str, Any], comment: str
) -> None:
    assert zoe.send(zoe.activity("Flag", alice.uri) | said | {"type": ["Activity", "Flag"]}).status_code == 202
    work()
    assert Report.objects.get().comment == comment


def test_a_report_about_several_accounts_is_split_with_the_posts_of_each(zoe: RemotePerson, alice: Account) -> None:
    posts = [make_status(who) for who in (alice, make_user("bob").account)]
    uris = [f"{post.account.uri}/statuses/{post.id}" for post in posts]
    assert outcome(zoe, "bad", *uris) == "done"
    for post in posts:
        assert Report.objects.get(target_account=post.account).status_ids == [post.id]


def test_reports_about_no_local_account_or_from_refused_servers_are_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    assert "names no local account" in outcome(zoe, "x", zoe.uri, "https://nowhere.example/1")
    assert "names no local account" in outcome(zoe, "x", instance_actor().uri)
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert "names no local account" in outcome(zoe, "x", alice.uri)
    Account.objects.filter(id=alice.id).update(suspended_at=None)
    DomainRule.objects.create(domain=elsewhere.domain.partition(":")[0], severity="noop", reject_reports=True)
    assert "reports from its server are rejected" in outcome(zoe, "x", alice.uri)
    assert Report.objects.count() == 0


def test_the_number_of_reports_from_one_server_is_limited(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(flag, "REPORTS_OF_HOST", Rule("reports_of_host", 2, 86400, "account"))
    yan = elsewhere.person("yan", key=2)
    assert [outcome(who, "bad", alice.uri) for who in (zoe, yan)] == ["done", "done"]
    assert outcome(zoe, "bad", alice.uri) == "rejected: its server has sent too many reports in a day"
    assert Report.objects.count() == 2
