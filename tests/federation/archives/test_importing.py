"""Tests that old posts are imported with their dates, and that nobody is notified."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import AccountStat, Role, User
from accounts.services.erasing import delete_user
from accounts.transfers.models import PastImport
from accounts.transfers.services.past import start_past, take_archive, undo_past
from federation.archives.working import process_import
from moderation.policies.reports import ReportDraft
from moderation.services.reports import file_report
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import moment_of
from social.kernel.outbox import OutboxRow
from statuses.models import ImportedPost, Status
from statuses.queries.statuses import find_post
from statuses.services.pins import pin_status
from tests.factories.accounts import make_account
from tests.factories.statuses import edit, follow, make_favourite, make_status, picture
from tests.federation.archives.conftest import bring, read
from tests.support.past import OLD, PUBLIC, mastodon, note, tarred, zipped
from tests.support.work import work

pytestmark = pytest.mark.django_db
FILE = "media_attachments/files/000/000/001/original/a.png"


def full() -> dict[str, bytes]:
    """Return the files of an archive with posts that are imported and posts that are not."""
    mention = '<p><span class="h-card"><a href="https://else.example/@bob" class="u-url mention">@<span>bob</span></a></span> '
    return mastodon(
        note(
            2,
            mention + '<a href="https://old.example/tags/Cats" class="mention hashtag">#<span>Cats</span></a></p>'
            "<script>alert(1)</script>",
            inReplyTo=f"{OLD}/statuses/1",
            published="2019-04-01T10:05:00Z",
            tag=[
                {"type": "Hashtag", "name": "#Cats", "href": "https://old.example/tags/cats"},
                {"type": "Mention", "name": "@bob@else.example", "href": "https://else.example/users/bob"},
            ],
        ),
        note(
            1,
            summary="careful",
            sensitive=True,
            updated="2019-04-02T10:00:00Z",
            attachment=[
                {
                    "type": "Document",
                    "mediaType": "image/png",
                    "url": f"/{FILE}",
                    "name": "a cat",
                    "focalPoint": [0.5, 0],
                },
                {"type": "Document", "mediaType": "image/png", "url": "media_attachments/files/gone.png", "name": None},
            ],
        ),
        note(
            3,
            type="Question",
            oneOf=[
                {"type": "Note", "name": "tea", "replies": {"type": "Collection", "totalItems": 5}},
                {"type": "Note", "name": "coffee", "replies": {"type": "Collection", "totalItems": 2}},
            ],
            votersCount=7,
            endTime="2019-04-02T10:00:00Z",
            to=[f"{OLD}/followers"],
            cc=[],
        ),
        note(4, to=["https://else.example/users/bob"], cc=[]),
        note(5, attributedTo="https://old.example/users/eve"),
        note(6, published="2219-01-01T00:00:00Z"),
        note(7, inReplyTo="https://else.example/notes/1"),
        {
            "id": f"{OLD}/statuses/8/activity",
            "type": "Announce",
            "actor": OLD,
            "object": "https://else.example/notes/2",
        },
        note(1),
        files={FILE: picture()},
        likes=["https://else.example/notes/3"],
    )


@pytest.mark.parametrize("packed", [zipped, tarred])
def test_posts_are_imported_unchanged_and_nobody_is_notified(ada: User, packed: Any) -> None:
    follow(make_account("follower"), ada.account)
    OutboxRow.objects.all().delete()
    made = read(ada, packed(full()))
    # A dry run stores nothing.
    assert not Status.objects.exists()
    assert (made.state, made.source, made.total) == ("ready", OLD, 4)
    assert made.numbers == {"public": 3, "private": 1, "polls": 1, "files": 1, "bytes": len(picture())}
    assert made.reasons == {
        "direct": 1,
        "foreign_author": 1,
        "wrong_date": 1,
        "boost": 1,
        "repeated": 1,
        "like": 1,
        "file_missing": 1,
    }
    assert {(line.line, line.reason) for line in made.lines.all()} >= {(4, "direct"), (8, "boost"), (2, "file_missing")}

    start_past(account=ada.account, import_id=made.id)
    while process_import(made.id):
        pass
    made.refresh_from_db()
    assert (made.state, made.done, made.position) == ("finished", 4, 4)
    assert made.reasons["reply_of_others"] == 1
    posts = {row.uri.rpartition("/")[2]: row.status for row in ImportedPost.objects.select_related("status")}
    first, second, asked, answer = posts["1"], posts["2"], posts["3"], posts["7"]
    assert first.created_at == datetime(2019, 4, 1, 10, tzinfo=UTC)
    assert abs(moment_of(first.id) - first.created_at) < timedelta(seconds=1)
    assert (first.spoiler_text, first.sensitive, first.text, first.local) == ("careful", True, "hello", True)
    assert first.edited_at == datetime(2019, 4, 2, 10, tzinfo=UTC)
    (file,) = first.media.all()
    assert (file.description, file.type, file.meta["focus"]) == ("a cat", "image", {"x": 0.5, "y": 0.0})
    assert second.in_reply_to_id == first.id
    assert second.id > first.id
    assert second.thread_path == [first.id, second.id]
    assert "<script" not in second.content
    assert 'href="https://else.example/@bob"' in second.content
    assert not second.mentions.exists()
    assert [row.tag.name for row in second.status_tags.all()] == ["cats"]
    assert (asked.visibility, asked.poll.tallies, asked.poll.voters_count) == ("private", [5, 2], 7)
    assert asked.poll.expires_at == datetime(2019, 4, 2, 10, tzinfo=UTC)
    assert (answer.in_reply_to_id, answer.in_reply_to_uri) == (None, "https://else.example/notes/1")
    assert AccountStat.objects.get(account=ada.account).statuses_count == 4
    # The only job is the one for the search index.
    assert set(OutboxRow.objects.exclude(queue="past").values_list("subscriber", flat=True)) == {
        "timelines.services.search_index.index_posts"
    }


def test_importing_an_archive_again_creates_no_duplicates(ada: User) -> None:
    bring(ada, zipped(mastodon(note(1), note(2))))
    again = bring(ada, zipped(mastodon(note(2), note(3))))
    assert (again.total, again.done, again.reasons) == (1, 1, {"already": 1})
    assert Status.objects.count() == 3


def test_visibility_is_lowered_and_never_raised(ada: User) -> None:
    posts = [note(1), note(2, to=[f"{OLD}/followers"], cc=[PUBLIC]), note(3, to=[f"{OLD}/followers"], cc=[])]
    bring(ada, zipped(mastodon(*posts)), visibility="unlisted")
    found = {row.uri[-1]: row.status.visibility for row in ImportedPost.objects.select_related("status")}
    assert found == {"1": "unlisted", "2": "unlisted", "3": "private"}


def test_links_from_one_old_post_to_another_lead_to_the_posts_here(ada: User) -> None:
    first = note(1)
    second = note(
        2,
        '<p><a href="https://old.example/@ada/1">one</a> <a href="https://old.example/@ada/9?a=1&amp;b=2">other</a> '
        '<a href="https://else.example/@ada/1">else</a></p>',
        published="2020-01-01T00:00:00Z",
    )
    bring(ada, zipped(mastodon(second, first)))
    posts = {row.uri[-1]: row.status for row in ImportedPost.objects.select_related("status")}
    content = posts["2"].content
    assert f'href="http://social.localhost/@ada/{posts["1"].id}"' in content
    assert 'href="https://old.example/@ada/9?a=1&amp;b=2"' in content
    assert 'href="https://else.example/@ada/1"' in content


def test_an_archive_beyond_the_limits_of_a_role_is_refused_before_anything_is_stored(ada: User) -> None:
    data = zipped(full())
    Role.objects.filter(id=ada.role_id).update(imported_posts_limit=5)
    bring(ada, data)
    more = read(ada, zipped(mastodon(note(21), note(22))))
    assert (more.state, more.problem, more.total) == ("unreadable", "over_posts", 2)
    assert Status.objects.count() == 4
    Role.objects.filter(id=ada.role_id).update(imported_posts_limit=100, imported_mebibytes_limit=0)
    with pytest.raises(Invalid):
        read(ada, data)
    assert ada.account.past_imports.count() == 2
    # Operators may exceed the limits on archives.
    made = take_archive(account=ada.account, file=io.BytesIO(zipped(mastodon(note(21)))), file_name="a", unlimited=True)
    process_import(made.id)
    made.refresh_from_db()
    assert made.state == "ready"


def test_the_time_of_an_imported_edit_is_never_in_the_future(ada: User) -> None:
    bring(ada, zipped(mastodon(note(1, updated="9999-12-01T00:00:00Z"))))
    edited_at = Status.objects.get().edited_at
    assert edited_at is not None
    assert edited_at <= clock.now(), "other servers would accept no later edit"


def test_undoing_an_import_keeps_posts_that_others_know_or_staff_review(ada: User) -> None:
    made = bring(ada, zipped(mastodon(*(note(number) for number in range(1, 6)))))
    edited, pinned, answered, reported, other = Status.objects.order_by("imported__uri")
    edit(edited, "It was not so")
    pin_status(account_id=ada.account_id, status=find_post(pinned.id, ada.account_id))
    make_status(ada.account, "I still think so", reply_to=answered)
    report = ReportDraft(comment="Look", status_ids=(str(reported.id),))
    file_report(account=make_account("bob"), target=ada.account, draft=report)
    undo_past(account=ada.account, import_id=made.id)
    while process_import(made.id):
        pass
    assert set(Status.objects.exclude(deleted_at=None)) == {edited, pinned, answered, reported}
    assert not Status.objects.filter(id=other.id).exists()
    assert not ImportedPost.objects.exists()


def test_an_erased_account_leaves_nothing_of_its_imports(ada: User, tmp_path: Any) -> None:
    bring(ada, zipped(full()))
    waiting = read(ada, zipped(mastodon(note(9))))
    assert (tmp_path / "private" / "past" / str(waiting.id)).exists()
    delete_user(user=ada)
    work()
    assert not PastImport.objects.exists()
    assert not ImportedPost.objects.exists()
    assert not Status.objects.filter(deleted_at=None).exists()
    assert not (tmp_path / "private" / "past" / str(waiting.id)).exists()


def test_an_import_is_undone_as_a_whole(ada: User) -> None:
    own = make_status(ada.account)
    made = bring(ada, zipped(full()))
    liked = ImportedPost.objects.get(uri=f"{OLD}/statuses/1").status
    make_favourite(make_account("fan"), liked)
    OutboxRow.objects.all().delete()
    undo_past(account=ada.account, import_id=made.id)
    while process_import(made.id):
        pass
    made.refresh_from_db()
    assert made.state == "undone"
    assert list(Status.objects.filter(deleted_at=None)) == [own]
    assert not ImportedPost.objects.exists()
    assert AccountStat.objects.get(account=ada.account).statuses_count == 1
    # Only the deletion of the post that another user had favourited is streamed.
    assert set(OutboxRow.objects.exclude(queue="past").values_list("key", flat=True)) == {f"status:{liked.id}"}
    bring(ada, zipped(full()))
    assert Status.objects.filter(deleted_at=None).count() == 5
