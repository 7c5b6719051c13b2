"""What meets a rule against spam is held, limited or reported; what is held nobody else sees, and nothing of it is lost."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AuditEntry, RuleOutcome, RuleSubject, SpamRule, SpamRuleMatch, User
from accounts.policies.sign_up import SignUpDraft
from accounts.policies.spam_rules import SpamRuleDraft
from accounts.policies.staff import OPERATOR, staff_of
from accounts.services.instance_actor import instance_actor_uri
from accounts.services.signing_up import sign_up
from accounts.services.spam_rules import change_rule, create_rule, delete_rule, switch_rule
from federation.documents.received_notes import read_note
from federation.inbound import undo
from federation.inbound.incoming import Incoming
from federation.inbound.interactions import handle_announce
from federation.inbound.posts import delete_remote_post
from federation.remote.posts import keep_note, revise_note
from moderation.models import Report, Strike
from moderation.queries.dry_runs import try_rule
from moderation.queries.held import list_held
from notifications.models import Notification
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from social.kernel.outbox import OutboxRow
from statuses.models import HeldPost, MediaAttachment, ScheduledStatus, Status
from statuses.services.media import remove_unattached
from statuses.services.reviewing import approve_held, discard_held, discard_held_by_rule
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import edit, follow, make_media, make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
STATUSES, SCHEDULED = "/api/v1/statuses", "/api/v1/scheduled_statuses"


def rule(outcome: str = RuleOutcome.HOLD, subject: str = RuleSubject.POSTS, **conditions: Any) -> SpamRule:
    name = f"{outcome} {sorted(conditions)}"
    return create_rule(
        by=OPERATOR, draft=SpamRuleDraft(name=name, subject=subject, outcome=outcome, **conditions), enabled=True
    )


def api_of(user: User) -> Api:
    return Api(make_token(user))


def document(author: Account, number: int, content: str, *, to: Account, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{author.uri}/statuses/{number}",
        "type": "Note",
        "attributedTo": author.uri,
        "content": f'<p><a href="{to.uri}" class="u-url mention">@{to.username}</a> {content}</p>',
        "published": clock.iso(clock.now() - timedelta(hours=2)),
        "to": ["https://www.w3.org/ns/activitystreams#Public"],
        "cc": [to.uri],
        "tag": [{"type": "Mention", "href": to.uri, "name": f"@{to.username}"}],
        **more,
    }


def receive(author: Account, number: int, content: str, *, to: Account, **more: Any) -> Status | None:
    return keep_note(read_note(document(author, number, content, to=to, **more)), author)


LINK = '<a href="https://shop.spam.example/win?x=1">win</a>'


def test_a_held_post_is_seen_by_its_author_alone_until_staff_approve_it() -> None:
    ann, bob, boss = make_user("ann"), make_user("bob"), make_user("boss", role="Owner")
    follow(bob.account, ann.account)
    rule(words=("casino",))
    media = make_media(ann.account)
    body = {"status": "@bob the best CASINO!", "media_ids": [str(media.id)]}
    for _again in range(2):
        answer = api_of(ann).post(STATUSES, body, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 422
        assert "waits for review" in answer.json()["error"]
    assert api_of(ann).post(STATUSES, body).status_code == 422, "files of a held post are no reason for another answer"
    work()
    assert not Status.objects.exists()
    assert not Notification.objects.filter(type="mention").exists()
    assert api_of(bob).get("/api/v1/timelines/home").json() == []
    (shown,) = api_of(ann).get(SCHEDULED).json()
    assert (shown["params"]["text"], shown["media_attachments"][0]["id"]) == (body["status"], str(media.id))
    assert api_of(bob).get(f"{SCHEDULED}/{shown['id']}").status_code == 404
    later = (clock.now() + timedelta(hours=1)).isoformat()
    assert api_of(ann).put(f"{SCHEDULED}/{shown['id']}", {"scheduled_at": later}).status_code == 422
    remove_unattached()
    assert MediaAttachment.objects.filter(id=media.id).exists()
    held = HeldPost.objects.get()
    HeldPost.objects.update(written_at=clock.now() - timedelta(hours=3))
    with pytest.raises(Forbidden):
        approve_held(by=staff_of(ann), held=held)
    approve_held(by=staff_of(boss), held=held)
    work()
    status = Status.objects.get()
    assert clock.now() - status.created_at > timedelta(hours=2), "it was written then"
    assert Notification.objects.filter(account=bob.account, status=status).exists()
    assert [one["id"] for one in api_of(bob).get("/api/v1/timelines/home").json()] == [str(status.id)]
    assert api_of(ann).get(SCHEDULED).json() == []
    again = api_of(ann).post(STATUSES, body, headers={"Idempotency-Key": "k"})
    assert again.json()["id"] == str(status.id), "the request that was held has made this post"
    entry = AuditEntry.objects.get(target_type="HeldPost")
    assert (entry.action, entry.account_id, entry.target_name) == ("approve", boss.account_id, "@ann")
    with pytest.raises(NotFound):
        approve_held(by=staff_of(boss), held=held)


def test_a_held_post_is_discarded_by_staff_or_taken_back_by_its_author() -> None:
    ann = make_user("ann")
    meets = rule(words=("casino",))
    for number in range(3):
        assert api_of(ann).post(STATUSES, {"status": f"casino {number}"}).status_code == 422
    first, second, third = list_held().order_by("id")
    assert first.scheduled is not None
    assert api_of(ann).delete(f"{SCHEDULED}/{first.scheduled_id}").status_code == 200
    discard_held(by=OPERATOR, held=second)
    with pytest.raises(NotFound):
        discard_held(by=OPERATOR, held=second)
    User.objects.filter(id=ann.id).update(disabled_at=clock.now())
    with pytest.raises(Conflict):
        approve_held(by=OPERATOR, held=third)
    assert discard_held_by_rule(by=OPERATOR, rule=meets) == 1
    assert not HeldPost.objects.exists()
    assert not ScheduledStatus.objects.exists()
    assert AuditEntry.objects.filter(action="discard", target_type="HeldPost").count() == 2


def test_a_scheduled_post_that_meets_a_rule_when_its_time_comes_is_held() -> None:
    ann = make_user("ann")
    when = clock.now() + timedelta(hours=1)
    assert api_of(ann).post(STATUSES, {"status": "casino", "scheduled_at": when.isoformat()}).status_code == 200
    rule(words=("casino",))
    past = clock.now() - timedelta(minutes=1)
    ScheduledStatus.objects.update(scheduled_at=past)
    OutboxRow.objects.filter(event="ScheduledStatusDue").update(due_at=past)
    work()
    assert not Status.objects.exists()
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    assert Status.objects.get().text == "casino"


def test_a_post_of_another_server_is_held_with_what_it_says_and_published_with_its_time() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    rule(link_hosts=("spam.example",), first_contact=True, origin="remote")
    assert receive(zoe, 1, LINK, to=ann.account) is None
    assert receive(zoe, 2, "spam.example is bad", to=ann.account) is not None, "no link"
    assert receive(zoe, 1, LINK, to=ann.account) is None, "sent again"
    held = HeldPost.objects.get()
    assert (held.account_id, held.link_hosts, held.mentions_count) == (zoe.id, ["shop.spam.example"], 1)
    assert receive(zoe, 1, "nothing to see", to=ann.account) is None, "an edit of what is held is held"
    work()
    assert Notification.objects.filter(account=ann.account).count() == 1
    held.refresh_from_db()
    assert "nothing to see" in held.excerpt
    approve_held(by=OPERATOR, held=held)
    work()
    status = Status.objects.get(uri=f"{zoe.uri}/statuses/1")
    assert "nothing to see" in status.content
    assert clock.now() - status.created_at > timedelta(hours=1)
    assert Notification.objects.filter(account=ann.account, status=status).exists()
    assert not HeldPost.objects.exists()
    make_status(ann.account, "@zoe@remote.example hello")
    assert receive(zoe, 3, LINK, to=ann.account) is not None, "they have spoken"


def test_what_its_author_deletes_while_it_is_held_is_never_published() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    rule(words=("casino",))
    for number in (1, 2):
        receive(zoe, number, "casino", to=ann.account)
    first, second = list_held().order_by("id")
    delete_remote_post(str(first.uri), zoe.uri)
    assert [held.id for held in list_held()] == [second.id]
    approve_held(by=OPERATOR, held=second)
    delete_remote_post(str(second.uri), zoe.uri)
    work()
    assert not Status.objects.exists()
    assert not HeldPost.objects.exists()


@pytest.mark.parametrize(
    ("conditions", "text", "met"),
    [
        ({"words": ("free money",)}, "FREE   money for you", True),
        ({"words": ("free",)}, "freedom", False),
        ({"words": ("儲かる",)}, "必ず儲かる話", True),
        ({"link_hosts": ("spam.com",)}, "https://a.b.spam.com/x", True),
        ({"link_hosts": ("spam.com",)}, "https://notspam.com/spam.com", False),
        ({"minimum_mentions": 2}, "@bob @cat hello", True),
        ({"minimum_mentions": 3}, "@bob @cat hello", False),
        ({"maximum_age_hours": 1}, "hello", True),
        ({"first_contact": True}, "@bob hello", True),
        ({"first_contact": True}, "@cat hello", False),
        ({"first_contact": True}, "hello", False),
        ({"origin": "remote", "words": ("hello",)}, "hello", False),
        ({"words": ("hello",), "link_hosts": ("spam.example",)}, "hello", False),
    ],
)
def test_a_rule_is_met_when_all_its_conditions_are(conditions: dict[str, Any], text: str, met: bool) -> None:
    ann, bob, cat = make_user("ann"), make_user("bob"), make_user("cat")
    follow(cat.account, ann.account)
    rule(**conditions)
    answer = api_of(ann).post(STATUSES, {"status": text})
    assert answer.status_code == (422 if met else 200), answer.content
    assert SpamRuleMatch.objects.count() == int(met)
    assert bob.account_id


def test_an_account_is_limited_by_a_rule_with_a_statement_of_reasons() -> None:
    ann = make_user("ann")
    made = rule(RuleOutcome.LIMIT, words=("casino",))
    for _twice in range(2):
        make_status(ann.account, "casino")
    work()
    ann.account.refresh_from_db()
    assert ann.account.limited
    strike = Strike.objects.get()
    assert (strike.action, strike.account_id, strike.spam_rule_id) == ("silence", None, made.id)
    assert strike.statement["automated"]
    letter = mail.outbox[0].body
    for words in ("automatic rule against spam", "No person has decided", "casino", "You can appeal until"):
        assert words in letter
    assert made.name not in letter, "who sends spam is not told how to pass"
    entry = AuditEntry.objects.get(action="limit")
    assert (entry.account_id, made.name in entry.account_name) == (None, True)
    assert SpamRuleMatch.objects.filter(rule=made, account=ann.account).count() == 2


def test_a_rule_reports_an_account_once_with_all_its_posts_and_edits() -> None:
    zoe = make_user("zoe")
    rule(RuleOutcome.REPORT, words=("casino",))
    posts = [make_status(zoe.account, text) for text in ("casino", "more casino", "harmless")]
    edit(posts[2], "a casino")
    work()
    (by_casino,) = Report.objects.all()
    assert by_casino.status_ids == [post.id for post in posts]
    assert (by_casino.account.uri, by_casino.category) == (instance_actor_uri(), "spam")


def test_an_edit_that_meets_a_rule_is_held_and_the_post_stays_until_staff_approve_it() -> None:
    zoe = make_user("zoe")
    rule(words=("casino",))
    post = make_status(zoe.account, "harmless")
    path = f"{STATUSES}/{post.id}"
    for text in ("a casino", "the best casino"):
        answer = api_of(zoe).put(path, {"status": text})
        assert (answer.status_code, "waits for review" in answer.json()["error"]) == (422, True)
    post.refresh_from_db()
    assert (post.text, post.edited_at) == ("harmless", None)
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    post.refresh_from_db()
    assert post.text == "the best casino"
    assert AuditEntry.objects.filter(action="approve", target_type="HeldPost").count() == 1
    assert api_of(zoe).put(path, {"status": post.text, "sensitive": True}).status_code == 200, "it says nothing new"
    api_of(zoe).put(path, {"status": "one more casino"})
    api_of(zoe).put(path, {"status": "enough"})
    assert not HeldPost.objects.exists(), "an older edit does not come back"
    api_of(zoe).put(path, {"status": "casino again"})
    discard_held(by=OPERATOR, held=HeldPost.objects.get())
    post.refresh_from_db()
    assert post.text == "enough"


def test_an_edit_of_another_server_is_held_and_stored_when_it_is_approved() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    rule(words=("casino",))
    status = receive(zoe, 1, "harmless", to=ann.account)
    assert status is not None
    edited = document(zoe, 1, "a casino", to=ann.account, updated=clock.iso(clock.now()))
    assert not revise_note(status, read_note(edited))
    status.refresh_from_db()
    assert "casino" not in status.content
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    work()
    status.refresh_from_db()
    assert "casino" in status.content
    assert not HeldPost.objects.exists()


def test_boosts_of_a_held_post_are_stored_when_it_is_approved() -> None:
    ann, zoe, bob, cat = make_user("ann"), make_remote("zoe"), make_remote("bob"), make_remote("cat")
    follow(ann.account, bob), follow(ann.account, cat)
    rule(words=("casino",))
    receive(zoe, 1, "casino", to=ann.account)
    (held,) = HeldPost.objects.all()

    def announce(booster: Account) -> dict[str, Any]:
        return {
            "type": "Announce",
            "id": f"{booster.uri}/boosts/1",
            "actor": booster.uri,
            "object": held.uri,
            "to": ["https://www.w3.org/ns/activitystreams#Public"],
        }

    for booster in (bob, cat, bob):
        handle_announce(Incoming(booster, announce(booster), None))
    undo.handle(Incoming(cat, {"type": "Undo", "actor": cat.uri, "object": announce(cat)}, None))
    assert not Status.objects.exists()
    approve_held(by=OPERATOR, held=held)
    work()
    boost = Status.objects.get(reblog_of__isnull=False)
    assert (boost.account_id, boost.reblog_of is not None and boost.reblog_of.uri) == (bob.id, held.uri)
    assert [one["account"]["acct"] for one in api_of(ann).get("/api/v1/timelines/home").json()] == [bob.acct]


def test_posts_of_staff_meet_no_rule() -> None:
    rule(words=("casino",))
    make_status(make_user("boss", role="Moderator").account, "casino")
    assert Status.objects.count() == 1


def person(name: str, **values: Any) -> User:
    draft = SignUpDraft(
        username=name, email=f"{name}@mail.spam.example", password="correct horse", agreement=True, **values
    )
    return sign_up(draft=draft)


def test_sign_ups_that_meet_a_rule_wait_for_approval_or_are_limited(settings: Any) -> None:
    settings.REGISTRATIONS, settings.CONFIRM_EMAIL = "open", False
    rule(subject=RuleSubject.SIGN_UPS, mail_domains=("spam.example",), networks=("192.0.2.0/24",))
    rule(RuleOutcome.LIMIT, RuleSubject.SIGN_UPS, words=("crypto",))
    assert not person("a", ip="192.0.2.7").approved
    assert person("b", ip="198.51.100.7").approved
    limited = person("c", ip="2001:db8::1", reason="I love Crypto").account
    limited.refresh_from_db()
    assert limited.limited
    work()
    assert Strike.objects.get().target_account_id == limited.id
    assert SpamRuleMatch.objects.count() == 2
    operators = SignUpDraft(
        username="d", email="d@spam.example", password="correct horse", agreement=True, ip="192.0.2.7"
    )
    assert sign_up(draft=operators, confirmed=True, approved=True).approved, "what the operator does meets no rule"


def test_a_dry_run_says_what_would_have_been_met_and_writes_nothing() -> None:
    ann, bob, zoe = make_user("ann"), make_user("bob"), make_remote("zoe")
    make_status(ann.account, "casino", visibility="direct")
    make_remote_status(zoe, "<p>Casino</p>", mentions=[bob.account])
    make_remote_status(zoe, "<p>Casino</p>", created_at=clock.now() - timedelta(days=40))
    make_status(ann.account, "harmless")
    before = SpamRuleMatch.objects.count(), AuditEntry.objects.count()
    unsaved = SpamRule(name="x", subject=RuleSubject.POSTS, words=["casino"])
    found = try_rule(unsaved)
    assert (found.looked_at, found.met, len(found.account_ids), found.complete) == (3, 2, 2, True)
    assert [one.words for one in found.samples] == ["Casino", ""], "private words are nobody's to look at"
    strangers = try_rule(SpamRule(name="x", subject=RuleSubject.POSTS, first_contact=True))
    assert [one.account_id for one in strangers.samples] == [zoe.id]
    follow(bob.account, zoe)
    assert try_rule(SpamRule(name="x", subject=RuleSubject.POSTS, first_contact=True)).met == 0
    mails = SpamRule(name="x", subject=RuleSubject.SIGN_UPS, mail_domains=["example.com"])
    assert try_rule(mails).met == 2
    assert not try_rule(unsaved, limit=1).complete
    assert before == (SpamRuleMatch.objects.count(), AuditEntry.objects.count())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        try_rule(unsaved)
    assert len(queries) == 2, "one for each thousand posts, and one that finds no more"


def test_staff_with_the_permission_make_change_and_switch_rules() -> None:
    boss, ann = staff_of(make_user("boss", role="Owner")), staff_of(make_user("ann"))
    draft = SpamRuleDraft(
        "Casino", RuleSubject.POSTS, RuleOutcome.HOLD, words=("casino",), link_hosts=("BÜCHER.example",)
    )
    with pytest.raises(Forbidden):
        create_rule(by=ann, draft=draft)
    made = create_rule(by=boss, draft=draft)
    assert (made.enabled, made.link_hosts) == (False, ["xn--bcher-kva.example"])
    with pytest.raises(Invalid):
        create_rule(by=boss, draft=draft)
    for wrong in (
        {"name": ""},
        {"subject": "x"},
        {"words": (), "link_hosts": ()},
        {"networks": ("1.2.3",)},
        {"link_hosts": ("no host",)},
        {"minimum_mentions": 0},
        {"words": ("x",) * 501},
    ):
        with pytest.raises(Invalid):
            create_rule(
                by=boss,
                draft=SpamRuleDraft(**{"name": "n", "subject": "posts", "outcome": "hold", "words": ("a",)} | wrong),
            )
    switch_rule(by=boss, rule=made, enabled=True)
    change_rule(by=boss, rule=made, draft=SpamRuleDraft("Casino", "posts", "report", words=("casino",)))
    made.refresh_from_db()
    assert (made.enabled, made.outcome, made.link_hosts) == (True, "report", [])
    delete_rule(by=boss, rule=made)
    for act in (lambda: switch_rule(by=boss, rule=made, enabled=False), lambda: delete_rule(by=boss, rule=made)):
        with pytest.raises(NotFound):
            act()
    actions = AuditEntry.objects.filter(target_type="SpamRule").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create", "enable", "update", "destroy"]


def command(*words: str) -> str:
    out = StringIO()
    call_command("manage_spam_rules", *words, stdout=out)
    return out.getvalue()


def test_operators_add_try_switch_and_decide_by_command() -> None:
    ann = make_user("ann")
    make_status(ann.account, "casino")
    tried = command("add", "Casino", "--word", "casino", "--dry-run")
    assert "meets 1 of them, by 1 accounts" in tried
    assert not SpamRule.objects.exists()
    command("add", "Casino", "--word", "casino")
    assert "Casino  off  posts  hold  0" in command()
    assert "meets 1" in command("try", "Casino")
    command("enable", "Casino")
    assert api_of(ann).post(STATUSES, {"status": "casino"}).status_code == 422
    assert "1 post was approved" in command("approve", "Casino")
    assert Status.objects.count() == 2
    command("disable", "Casino")
    command("remove", "Casino")
    for wrong in (("try", "Nothing"), ("add", "Empty"), ("enable",)):
        with pytest.raises(CommandError):
            command(*wrong)
