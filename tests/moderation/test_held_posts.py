"""Tests of posts that match a spam rule: they are held, hidden from others, and complete when approved."""

import re
from datetime import timedelta
from typing import Any

import pytest

from accounts.copies.models import RemoteCopy
from accounts.models import Account, AuditEntry, User
from accounts.policies.staff import OPERATOR, staff_of
from federation.documents.received_notes import read_note
from federation.inbound import undo
from federation.inbound.incoming import Incoming
from federation.inbound.interactions import handle_announce
from federation.inbound.posts import delete_remote_post
from federation.remote.posts import revise_note
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.queries.waiting import list_held
from moderation.services.domain_rules import create_rule, remove_rule
from notifications.models import Notification
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, NotFound
from social.kernel.outbox import OutboxRow
from statuses.models import HeldPost, MediaAttachment, ScheduledStatus, Status
from statuses.services.media import remove_unattached
from statuses.services.moderating import approve_held, discard_held, discard_held_by_rule
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import follow, make_media, make_remote_status, make_status
from tests.federation.notes import mention_document, receive_mention
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
STATUSES, SCHEDULED = "/api/v1/statuses", "/api/v1/scheduled_statuses"


def api_of(user: User) -> Api:
    return Api(make_token(user))


LINK = '<a href="https://shop.spam.example/win?x=1">win</a>'


def test_a_held_post_is_seen_by_its_author_alone_until_staff_approve_it() -> None:
    ann, bob, boss = make_user("ann"), make_user("bob"), make_user("boss", role="Owner")
    follow(bob.account, ann.account)
    make_rule(words=("casino",))
    media = make_media(ann.account)
    body = {"status": "@bob the best CASINO!", "media_ids": [str(media.id)]}
    for _again in range(2):
        answer = api_of(ann).post(STATUSES, body, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 422
        assert "waiting for review" in answer.json()["error"]
    assert api_of(ann).post(STATUSES, body).status_code == 422, "files of a held post do not change the response"
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
    assert clock.now() - status.created_at > timedelta(hours=2), "the post has the time at which it was written"
    assert Notification.objects.filter(account=bob.account, status=status).exists()
    assert [one["id"] for one in api_of(bob).get("/api/v1/timelines/home").json()] == [str(status.id)]
    assert api_of(ann).get(SCHEDULED).json() == []
    again = api_of(ann).post(STATUSES, body, headers={"Idempotency-Key": "k"})
    assert again.json()["id"] == str(status.id), "the held request has created this post"
    entry = AuditEntry.objects.get(target_type="HeldPost")
    assert (entry.action, entry.account_id, entry.target_name) == ("approve", boss.account_id, "@ann")
    with pytest.raises(NotFound):
        approve_held(by=staff_of(boss), held=held)


def test_a_held_post_is_discarded_by_staff_or_deleted_by_its_author() -> None:
    ann = make_user("ann")
    meets = make_rule(words=("casino",))
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


def test_a_scheduled_post_that_matches_a_rule_when_due_is_held() -> None:
    ann = make_user("ann")
    when = clock.now() + timedelta(hours=1)
    assert api_of(ann).post(STATUSES, {"status": "casino", "scheduled_at": when.isoformat()}).status_code == 200
    make_rule(words=("casino",))
    past = clock.now() - timedelta(minutes=1)
    ScheduledStatus.objects.update(scheduled_at=past)
    OutboxRow.objects.filter(event="ScheduledStatusDue").update(due_at=past)
    work()
    assert not Status.objects.exists()
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    assert Status.objects.get().text == "casino"


def test_a_held_remote_post_is_published_with_its_content_and_time() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    make_rule(link_hosts=("spam.example",), first_contact=True, origin="remote")
    assert receive_mention(zoe, 1, LINK, to=ann.account) is None
    assert receive_mention(zoe, 2, "spam.example is bad", to=ann.account) is not None, (
        "a post without a link is not held"
    )
    assert receive_mention(zoe, 1, LINK, to=ann.account) is None, "the same post was sent again"
    held = HeldPost.objects.get()
    assert (held.account_id, held.link_hosts, held.mentions_count) == (zoe.id, ["shop.spam.example"], 1)
    assert receive_mention(zoe, 1, "nothing to see", to=ann.account) is None, "an edit of a held post is held too"
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
    assert receive_mention(zoe, 3, LINK, to=ann.account) is not None, "the two accounts have interacted before"


def test_a_post_deleted_while_it_is_held_is_never_published() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    make_rule(words=("casino",))
    for number in (1, 2):
        receive_mention(zoe, number, "casino", to=ann.account)
    first, second = list_held().order_by("id")
    delete_remote_post(str(first.uri), zoe.uri)
    assert [held.id for held in list_held()] == [second.id]
    approve_held(by=OPERATOR, held=second)
    delete_remote_post(str(second.uri), zoe.uri)
    work()
    assert not Status.objects.exists()
    assert not HeldPost.objects.exists()


def test_an_edit_that_matches_a_rule_is_held_and_the_post_stays_unchanged_until_its_approval() -> None:
    zoe = make_user("zoe")
    make_rule(words=("casino",))
    post = make_status(zoe.account, "harmless")
    path = f"{STATUSES}/{post.id}"
    for text in ("a casino", "the best casino"):
        answer = api_of(zoe).put(path, {"status": text})
        assert (answer.status_code, "waiting for review" in answer.json()["error"]) == (422, True)
    post.refresh_from_db()
    assert (post.text, post.edited_at) == ("harmless", None)
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    post.refresh_from_db()
    assert post.text == "the best casino"
    assert AuditEntry.objects.filter(action="approve", target_type="HeldPost").count() == 1
    assert api_of(zoe).put(path, {"status": post.text, "sensitive": True}).status_code == 200, (
        "the edit does not change the text"
    )
    api_of(zoe).put(path, {"status": "one more casino"})
    api_of(zoe).put(path, {"status": "enough"})
    assert not HeldPost.objects.exists(), "an older edit is not stored again"
    api_of(zoe).put(path, {"status": "casino again"})
    discard_held(by=OPERATOR, held=HeldPost.objects.get())
    post.refresh_from_db()
    assert post.text == "enough"


def test_an_edit_of_another_server_is_held_and_stored_when_it_is_approved() -> None:
    ann, zoe = make_user("ann"), make_remote("zoe")
    make_rule(words=("casino",))
    status = receive_mention(zoe, 1, "harmless", to=ann.account)
    assert status is not None
    edited = mention_document(zoe, 1, "a casino", to=ann.account, updated=clock.iso(clock.now()))
    assert not revise_note(status, read_note(edited))
    status.refresh_from_db()
    assert "casino" not in status.content
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    work()
    status.refresh_from_db()
    assert "casino" in status.content
    assert not HeldPost.objects.exists()


def test_staff_see_kind_and_address_of_files_of_held_remote_posts_without_fetching_them(
    settings: Any,
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    ann, zoe, staff = make_user("ann"), make_remote("zoe"), signed_in(make_user("boss", role="Owner"))
    make_rule(words=("casino",))
    bird = {"type": "Document", "mediaType": "image/png", "url": "https://remote.example/a.png", "name": "A <red> bird"}
    paper = {"type": "Document", "mediaType": "application/pdf", "url": "https://remote.example/b.pdf"}
    script = {"type": "Document", "mediaType": "image/png", "url": "javascript:alert(1)"}

    def files_on_page() -> list[str]:
        page = staff.get(f"/admin/statuses/heldpost/{HeldPost.objects.get().pk}/change/").content.decode()
        assert 'src="https://remote.example' not in page
        return re.findall(r'<p class="words">(.*?) <a href="(.*?)" dir="ltr" rel="noreferrer">', page)

    receive_mention(zoe, 1, "casino", to=ann.account, attachment=[bird, paper, script])
    named = ("Picture: <bdi>A &lt;red&gt; bird</bdi>", bird["url"]), ("application/pdf:", paper["url"])
    assert tuple(files_on_page()) == named
    rule = create_rule(by=OPERATOR, domain="remote.example", draft=DomainRuleDraft(severity="noop", reject_media=True))
    assert files_on_page() == [], "files of that server are rejected"
    remove_rule(by=OPERATOR, rule=rule)
    discard_held(by=OPERATOR, held=HeldPost.objects.get())
    status = receive_mention(zoe, 2, "harmless", to=ann.account, attachment=[bird])
    assert status is not None
    edited = mention_document(
        zoe, 2, "a casino", to=ann.account, attachment=[bird, paper], updated=clock.iso(clock.now())
    )
    revise_note(status, read_note(edited))
    assert files_on_page() == [named[1]], "the new files of the edit are shown"
    assert not RemoteCopy.objects.exists()


def test_boosts_of_a_held_post_are_stored_when_it_is_approved() -> None:
    ann, zoe, bob, cat = make_user("ann"), make_remote("zoe"), make_remote("bob"), make_remote("cat")
    follow(ann.account, bob), follow(ann.account, cat)
    make_rule(words=("casino",))
    receive_mention(zoe, 1, "casino", to=ann.account)
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


@pytest.mark.parametrize("taken_by", ["a post", "a person"])
def test_a_post_can_be_approved_although_the_id_of_its_boost_was_used_meanwhile(taken_by: str) -> None:
    ann, zoe, bob = make_user("ann"), make_remote("zoe"), make_remote("bob")
    follow(ann.account, bob)
    make_rule(words=("casino",))
    receive_mention(zoe, 1, "casino", to=ann.account)
    (held,) = HeldPost.objects.all()
    uri = f"{bob.uri}/boosts/1"
    said = {"type": "Announce", "id": uri, "actor": bob.uri, "object": held.uri, "to": ["as:Public"]}
    handle_announce(Incoming(bob, said, None))
    if taken_by == "a post":
        make_remote_status(bob, uri=uri)
    else:
        make_remote("dot", uri=uri)
    approve_held(by=OPERATOR, held=held)
    work()
    assert Status.objects.filter(uri=held.uri).exists()
    assert not Status.objects.filter(reblog_of__isnull=False).exists()
    assert not OutboxRow.objects.filter(last_error__gt="").exists()
