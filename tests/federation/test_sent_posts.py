"""Tests that posts and activities about them have the same members as those recorded from Mastodon 4.6.5.

Contract, federation sections 3, 5 and 7. The tests are skipped without the records.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from federation.documents import activities
from federation.documents.notes import load_notes
from social.kernel import clock
from statuses.models import Poll, Status
from statuses.policies.polls import PollDraft
from statuses.policies.quotes import Group, encode_policy
from statuses.queries.posts import load_posts
from statuses.services.media import MediaUpload, SentFile, upload_media
from tests.factories.accounts import make_account, make_remote
from tests.factories.recordings import sample
from tests.factories.statuses import edit, make_reblog, make_remote_status, make_status, picture
from tests.support.client import Api
from tests.support.wire import FILES, compare, record
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]


def _file(anna: Account, data: bytes, content_type: str, **more: Any) -> Any:
    media = upload_media(account_id=anna.id, upload=MediaUpload(SentFile(io.BytesIO(data), content_type), **more))
    work()
    media.refresh_from_db()
    return media


def _with_emoji(anna: Account, zoe: Account) -> Status:
    CustomEmoji.objects.create(shortcode="blob", image="emojis/blob.png")
    return make_status(anna, "Look :blob:")


def _with_quote(anna: Account, zoe: Account) -> Status:
    policy = encode_policy(Group.PUBLIC, Group(0))
    return make_status(anna, "look", quoted_status_id=make_remote_status(zoe, quote_policy=policy).id)


def _edited(anna: Account, zoe: Account) -> Status:
    status = make_status(anna, "one")
    edit(status, "two", spoiler_text="careful")
    return status


def _poll(**draft: Any) -> PollDraft:
    return PollDraft(options=("one", "two"), expires_in=600, **draft)


SITUATIONS: dict[str, Callable[[Account, Account], Status]] = {
    "create_note_public": lambda anna, zoe: make_status(anna),
    "create_note_unlisted": lambda anna, zoe: make_status(anna, visibility="unlisted"),
    "create_note_private": lambda anna, zoe: make_status(anna, visibility="private"),
    "create_note_direct": lambda anna, zoe: make_status(anna, f"@{zoe.acct} hi", visibility="direct"),
    "create_note_mention": lambda anna, zoe: make_status(anna, f"@{zoe.acct} @anna hi"),
    "create_note_reply": lambda anna, zoe: make_status(anna, f"@{zoe.acct} yes", reply_to=make_remote_status(zoe)),
    "create_note_warning": lambda anna, zoe: make_status(anna, spoiler_text="careful", sensitive=True),
    "create_note_hashtag_language": lambda anna, zoe: make_status(anna, "#birds #Vögel", language="de"),
    "create_note_image": lambda anna, zoe: make_status(
        anna, media=[_file(anna, picture(), "image/png", description="a field", focus="-0.42,0.69")]
    ),
    "create_note_audio": lambda anna, zoe: make_status(
        anna, media=[_file(anna, sample("audio/mpeg"), "audio/mpeg", description="a tone")]
    ),
    "create_note_emoji": _with_emoji,
    "create_note_no_quotes": lambda anna, zoe: make_status(anna, quote_approval_policy="nobody"),
    "create_note_quote_pending": _with_quote,
    "create_question_single": lambda anna, zoe: make_status(anna, poll=_poll()),
    "create_question_multiple_hidden": lambda anna, zoe: make_status(anna, poll=_poll(multiple=True, hide_totals=True)),
    "update_note": _edited,
}


def _created(status: Status) -> dict[str, Any]:
    return activities.of_posts(load_posts([status.id]))[status.id]


def _updated(status: Status) -> dict[str, Any]:
    return activities.update(load_notes(load_posts([status.id]))[status.id], clock.now())


@pytest.mark.parametrize("name", SITUATIONS)
def test_local_posts_are_sent_with_the_members_of_mastodons(name: str, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    anna, zoe = make_account("anna"), make_remote("zoe", "remote.example")
    status = SITUATIONS[name](anna, zoe)
    compare(name, _updated(status) if name == "update_note" else _created(status))


def test_activities_about_local_posts_have_the_members_of_mastodons() -> None:
    anna, zoe = make_account("anna"), make_remote("zoe", "remote.example")
    theirs = "https://remote.example/users/zoe/statuses/1"
    poll = load_posts([make_status(anna, poll=_poll()).id])
    sent = {"update_question_votes": activities.update_poll(load_notes(poll)[poll[0].id], clock.now())}
    Poll.objects.update(expires_at=clock.now())
    sent["update_question_closed"] = activities.update_poll(load_notes(poll)[poll[0].id], clock.now())
    post, quote, boost, own = load_posts(
        [
            make_status(anna).id,
            _with_quote(anna, zoe).id,
            make_reblog(anna, make_remote_status(zoe)).id,
            make_reblog(anna, make_status(anna, visibility="private")).id,
        ]
    )
    sent |= {
        "delete_note": activities.delete(post),
        "quote_request": activities.quote_request(load_notes([quote])[quote.id], f"{anna.uri}#1", theirs),
        "announce_public": activities.of_posts([boost])[boost.id],
        "announce_own_private": activities.of_posts([own])[own.id],
        "undo_announce": activities.undo_announce(boost),
        "like": activities.like(anna, 5, theirs),
        "undo_like": activities.undo_like(anna, 5, theirs),
        "create_vote": activities.vote(anna, 1, "one", theirs, zoe.uri),
        "delete_quote_authorization": activities.delete_authorization(
            anna, activities.quote_authorization(anna, 5, theirs, post.object_uri)
        ),
    }
    for name, ours in sent.items():
        compare(name, ours)


def test_documents_of_local_posts_have_the_members_of_mastodons() -> None:
    anna = make_account("anna")
    status = _edited(anna, anna)
    base = f"/users/anna/statuses/{status.id}"
    paths = {
        "note": base,
        "get_note_activity": f"{base}/activity",
        "get_note_likes": f"{base}/likes",
        "get_note_shares": f"{base}/shares",
        "get_note_replies": f"{base}/replies",
        "get_note_replies_page": f"{base}/replies?page=true",
        "get_note_replies_others": f"{base}/replies?page=true&only_other_accounts=true",
        "get_context": f"/contexts/{anna.id}-{status.id}",
        "get_outbox": "/users/anna/outbox",
        "get_tag": "/tags/birds",
    }
    for name, path in paths.items():
        compare(name, Api().get(path, headers={"Accept": record(name)["accept"]}).json())
