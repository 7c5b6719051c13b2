"""Tests of the service that publishes posts: the resulting post, and refusals."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import translation

from accounts.models import Account, AccountStat, Follow, Tag, User
from accounts.ports import remote_accounts
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from social.kernel.ids import moment_of
from statuses.events import StatusPublished
from statuses.models import Mention, Status, StatusTag
from statuses.services.composing import Draft, UnexpectedMentions
from statuses.services.publishing import publish_status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import (
    block,
    counts,
    follow,
    make_media,
    make_reblog,
    make_remote_status,
    make_status,
)

pytestmark = pytest.mark.django_db


def _stat(account: Account) -> AccountStat:
    return AccountStat.objects.get(account=account)


def _mentioned(status: Status) -> list[str]:
    return list(Mention.objects.filter(status=status).order_by("id").values_list("account__username", flat=True))


def test_a_post_is_stored_with_its_html_and_published(alice: Account, published: list[Any]) -> None:
    status = make_status(alice, "hello")
    stored = Status.objects.get(id=status.id)
    assert (stored.text, stored.content, stored.visibility, stored.local) == ("hello", "<p>hello</p>", "public", True)
    assert (stored.thread_id, stored.thread_path, stored.uri) == (None, None, None)
    assert published == [StatusPublished(status_id=status.id, account_id=alice.id, local=True, awaited=False)]
    assert abs(moment_of(status.id) - status.created_at) < timedelta(seconds=2)


def test_a_post_is_counted_and_remembered_as_the_authors_last(alice: Account) -> None:
    status = make_status(alice)
    stat = _stat(alice)
    assert (stat.statuses_count, stat.last_status_at) == (1, status.created_at)


def test_direct_posts_are_not_counted(alice: Account) -> None:
    make_status(alice, visibility="direct")
    assert not AccountStat.objects.filter(account=alice, statuses_count__gt=0).exists()


def test_the_event_of_a_post_says_whether_it_has_mentions_and_links(
    alice: Account, bob: Account, published: list[Any]
) -> None:
    first = make_status(alice, "@bob https://example.com/ #x")
    assert published[0] == StatusPublished(
        status_id=first.id, account_id=alice.id, local=True, awaited=False, mentions=True, link=True
    )


def test_a_post_is_awaited_if_a_follower_wants_to_be_notified(
    alice: Account, bob: Account, published: list[Any]
) -> None:
    Follow.objects.create(account=bob, target=alice, notify=True)
    make_status(alice, "to everybody")
    make_status(alice, "to one", visibility="direct")
    make_status(bob, "by somebody else")
    assert [event.awaited for event in published if isinstance(event, StatusPublished)] == [True, False, False]


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\u2028"])
def test_an_empty_post_is_refused(alice: Account, text: str) -> None:
    with pytest.raises(Invalid, match="Validation failed: Text can't be blank"):
        make_status(alice, text)


def test_a_post_may_consist_of_a_picture_only(alice: Account, media_root: Any) -> None:
    status = make_status(alice, "", media=[make_media(alice)])
    assert (status.text, status.content) == ("", "")


@pytest.mark.parametrize(
    ("text", "spoiler"),
    [("x" * 501, ""), ("x" * 250, "y" * 251), ("👨‍👩‍👧" * 501, ""), ("@a " * 168, "")],
)
def test_more_than_five_hundred_characters_are_refused(alice: Account, text: str, spoiler: str) -> None:
    with pytest.raises(Invalid, match="Validation failed: Text character limit of 500 exceeded"):
        make_status(alice, text, spoiler_text=spoiler)


@pytest.mark.parametrize(
    "text",
    ["x" * 500, "👨‍👩‍👧" * 500, "https://example.com/" + "a" * 1000, "@bob@" + "a" * 200 + ".example " + "x" * 490],
)
def test_five_hundred_grapheme_clusters_are_accepted(alice: Account, text: str) -> None:
    assert make_status(alice, text).text


def test_line_ends_and_surrounding_spaces_are_normalised(alice: Account) -> None:
    status = make_status(alice, "  one\r\ntwo\0 \n")
    assert status.text == "one\ntwo"
    assert status.content == "<p>one<br />two</p>"


def test_a_content_warning_makes_a_post_sensitive_and_becomes_the_text_of_one_without_text(alice: Account) -> None:
    warned = make_status(alice, "x", spoiler_text=" careful ")
    assert (warned.spoiler_text, warned.sensitive) == ("careful", True)
    alone = make_status(alice, " ", spoiler_text="careful")
    assert (alone.text, alone.spoiler_text, alone.sensitive) == ("careful", "", True)


def test_spaces_of_other_scripts_at_the_ends_are_part_of_the_text(alice: Account) -> None:
    assert make_status(alice, " \u2028line\u3000\n").text == "\u2028line\u3000"


def test_values_that_are_not_sent_come_from_the_users_settings(alice: Account) -> None:
    User.objects.filter(account=alice).update(default_privacy="unlisted", default_sensitive=True, default_language="de")
    status = make_status(alice)
    assert (status.visibility, status.sensitive, status.language) == ("unlisted", True, "de")
    said = make_status(alice, visibility="public", sensitive=False, language="fr")
    assert (said.visibility, said.sensitive, said.language) == ("public", False, "fr")


def test_locked_accounts_post_privately_by_default() -> None:
    assert make_status(make_account(locked=True)).visibility == "private"


def test_limited_accounts_never_post_publicly() -> None:
    limited = make_account(limited_at=clock.now())
    assert make_status(limited, visibility="public").visibility == "unlisted"
    assert make_status(limited, visibility="private").visibility == "private"


@pytest.mark.parametrize("visibility", ["Public", "everyone", "7"])
def test_other_visibilities_are_refused(alice: Account, visibility: str) -> None:
    with pytest.raises(Invalid, match="Validation failed: Visibility is not included in the list"):
        make_status(alice, visibility=visibility)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("pt_br", "pt"),
        ("zh_tw", "zh-TW"),
        ("zh-Hant", "zh"),
        ("EN", "en"),
        ("de-AT", "de"),
        ("xx", "de"),
        ("", "de"),
        ("klingon", "de"),
    ],
)
def test_instead_of_an_unknown_language_the_next_default_is_used(alice: Account, said: str, kept: str) -> None:
    User.objects.filter(account=alice).update(default_language="de")
    assert make_status(alice, language=said).language == kept


def test_without_a_default_the_language_of_the_page_or_of_the_server_is_used(alice: Account) -> None:
    User.objects.filter(account=alice).update(default_language=None, locale=None)
    with translation.override("ar"):
        assert make_status(alice).language == "ar"
    with translation.override(None):
        assert make_status(alice).language == "en"


def test_local_and_remote_mentions_are_found_in_any_spelling(alice: Account, bob: Account) -> None:
    make_remote("eve", "remote.example")
    status = make_status(alice, "@BOB and @bob@social.localhost and @Eve@Remote.Example and @nobody")
    assert _mentioned(status) == ["bob", "eve"]
    assert status.text == "@bob and @bob and @eve@remote.example and @nobody"
    assert status.content.count('class="u-url mention"') == 3


def test_one_query_finds_all_mentioned_people(alice: Account, django_assert_num_queries: Any) -> None:
    from statuses.services.composing import compose

    for number in range(20):
        make_account(f"friend{number}")
    author = Account.objects.select_related("user").get(id=alice.id)
    few, many = (" ".join(f"@friend{number}" for number in range(size)) for size in (2, 20))
    with django_assert_num_queries(2):
        compose(author=author, draft=Draft(text=few))
    with django_assert_num_queries(2):
        assert len(compose(author=author, draft=Draft(text=many)).mentions) == 20


def test_mentions_of_blocked_and_suspended_accounts_stay_text(alice: Account, bob: Account) -> None:
    block(alice, bob)
    make_account("gone", suspended_at=clock.now())
    status = make_status(alice, "@bob @gone")
    assert _mentioned(status) == []
    assert "<a" not in status.content


def test_an_account_that_blocks_the_author_can_still_be_mentioned(alice: Account, bob: Account) -> None:
    block(bob, alice)
    assert _mentioned(make_status(alice, "@bob")) == ["bob"]


def test_unconfirmed_users_are_not_mentioned(alice: Account) -> None:
    make_user("fresh", confirmed=False)
    assert _mentioned(make_status(alice, "@fresh")) == []


class _Finder:
    def __init__(self) -> None:
        self.asked: list[Any] = []

    def find_by_address(self, addresses: Any) -> Any:
        from django.db import transaction

        self.asked.append(sorted(addresses))
        # The test itself runs in a transaction; the service must not have opened another one.
        self.savepoints = len(transaction.get_connection().savepoint_ids)
        return {("eve", "far.example"): make_remote("eve", "far.example")}


def test_unknown_remote_accounts_are_looked_up_before_anything_is_written(alice: Account, bob: Account) -> None:
    from django.db import transaction

    finder = _Finder()
    before = len(transaction.get_connection().savepoint_ids)
    with remote_accounts.replaced(finder):
        status = make_status(alice, "@eve@far.example @lost@far.example @bob @nobody")
    assert finder.asked == [[("eve", "far.example"), ("lost", "far.example")]]
    assert finder.savepoints == before
    assert _mentioned(status) == ["eve", "bob"]


def test_without_federation_unknown_remote_mentions_stay_text(alice: Account) -> None:
    with remote_accounts.replaced(None):
        status = make_status(alice, "@eve@far.example")
    assert _mentioned(status) == []
    assert status.content == "<p>@eve@far.example</p>"


def test_a_post_with_mentions_that_are_not_allowed_is_refused(alice: Account, bob: Account, carol: Account) -> None:
    with pytest.raises(UnexpectedMentions) as refused:
        make_status(alice, "@bob @carol", allowed_mentions=(carol.id,))
    assert [account.id for account in refused.value.accounts] == [bob.id]
    assert not Status.objects.exists()
    assert make_status(alice, "@bob", allowed_mentions=(bob.id,))


def test_each_hashtag_is_stored_once_in_order_under_its_normalised_name(alice: Account) -> None:
    status = make_status(alice, "#Café #cats #CAFE #１２ #straße")
    names = list(StatusTag.objects.filter(status=status).order_by("id").values_list("tag__name", flat=True))
    assert names[:2] == ["cafe", "cats"]
    assert "straße" in names
    assert Tag.objects.get(name="cafe").display_name == "Café"
    make_status(alice, "#CATS")
    assert Tag.objects.filter(name="cats").count() == 1


def test_a_reply_joins_the_thread(alice: Account, bob: Account) -> None:
    root = make_status(alice)
    answer = make_status(bob, "yes", reply_to=root)
    deeper = make_status(alice, "no", reply_to=answer)
    assert (answer.in_reply_to_id, answer.in_reply_to_account_id) == (root.id, alice.id)
    assert (answer.thread_id, answer.thread_path) == (root.id, [root.id, answer.id])
    assert (deeper.thread_id, deeper.thread_path) == (root.id, [root.id, answer.id, deeper.id])
    assert counts(root) == (1, 0, 0)


def test_replies_to_ones_own_reply_name_the_account_to_which_that_replied(alice: Account, bob: Account) -> None:
    mine = make_status(alice)
    answer = make_status(bob, "1/2", reply_to=mine)
    assert make_status(bob, "2/2", reply_to=answer).in_reply_to_account_id == alice.id
    assert make_status(alice, "2", reply_to=mine).in_reply_to_account_id == alice.id


def test_a_reply_to_a_boost_replies_to_the_boosted_post(alice: Account, bob: Account) -> None:
    post = make_status(alice)
    assert make_status(bob, "yes", reply_to=make_reblog(bob, post)).in_reply_to_id == post.id


def test_only_replies_that_everybody_may_read_are_counted(alice: Account, bob: Account) -> None:
    post = make_status(alice)
    make_status(bob, "psst", reply_to=post, visibility="direct")
    follow(alice, bob)
    make_status(bob, "hm", reply_to=post, visibility="private")
    assert counts(post)[0] == 0


def test_nobody_can_reply_to_a_post_that_they_may_not_read(alice: Account, bob: Account) -> None:
    private = make_status(alice, visibility="private")
    block(alice, bob)
    public = make_status(alice)
    for target in (private.id, public.id, 1, "abc", -1):
        with pytest.raises(NotFound, match="The post you are trying to reply to does not appear to exist"):
            publish_status(
                author=Account.objects.select_related("user").get(id=bob.id),
                draft=Draft(text="x", in_reply_to_id=target),
            )


def test_files_are_attached_in_the_authors_order(alice: Account, media_root: Any) -> None:
    media = [make_media(alice, description=str(number)) for number in range(4)]
    status = make_status(alice, media=media[::-1])
    assert [item.description for item in status.media.order_by("position")] == ["3", "2", "1", "0"]


def test_files_of_others_attached_files_and_unknown_files_get_the_same_refusal(
    alice: Account, bob: Account, media_root: Any
) -> None:
    foreign, used = make_media(bob), make_media(alice)
    make_status(alice, media=[used])
    author = Account.objects.select_related("user").get(id=alice.id)
    for wrong in (foreign.id, used.id, 1, "abc"):
        with pytest.raises(Invalid, match=f"^Media {wrong} not found or already attached to another post$"):
            publish_status(author=author, draft=Draft(text="x", media_ids=(wrong,)))
    foreign.refresh_from_db()
    assert foreign.status_id is None
    assert Status.objects.count() == 1


def test_more_than_four_files_are_refused(alice: Account, media_root: Any) -> None:
    media = [make_media(alice) for _number in range(5)]
    with pytest.raises(Invalid, match=r"^Cannot attach more than 4 files$"):
        make_status(alice, media=media)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"type": "video"}, "Cannot attach a video to a post that already contains images"),
        ({"processing": "running"}, "Cannot attach files that have not finished processing. Try again in a moment!"),
    ],
)
def test_files_that_cannot_be_attached_together_are_refused(
    alice: Account, media_root: Any, values: dict[str, str], message: str
) -> None:
    media = [make_media(alice), make_media(alice)]
    type(media[0]).objects.filter(id=media[1].id).update(**values)
    with pytest.raises(Invalid, match=f"^{message}$"):
        make_status(alice, media=media)


def test_a_remote_post_gets_an_id_of_its_own_time(published: list[Any]) -> None:
    eve = make_remote("eve")
    moment = clock.now() - timedelta(days=400)
    status = make_remote_status(eve, created_at=moment)
    assert abs(moment_of(status.id) - moment) < timedelta(milliseconds=2)
    assert published == [StatusPublished(status_id=status.id, account_id=eve.id, local=False, awaited=False)]
    assert _stat(eve).last_status_at == moment


def test_a_remote_post_from_the_future_is_dated_now() -> None:
    status = make_remote_status(make_remote(), created_at=clock.now() + timedelta(days=400))
    assert moment_of(status.id) < clock.now() + timedelta(minutes=1)


def test_an_id_that_is_taken_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from statuses.services import inserting

    first = make_remote_status(make_remote())
    drawn = iter([first.id, first.id, first.id + 1])
    monkeypatch.setattr(inserting, "snowflake_at", lambda _moment: next(drawn))
    assert make_remote_status(make_remote()).id == first.id + 1


def test_a_known_uri_is_never_stored_twice() -> None:
    from django.db import IntegrityError, transaction

    eve = make_remote()
    make_remote_status(eve, uri="https://remote.example/1")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_remote_status(eve, uri="https://remote.example/1")


def test_the_length_of_a_thread_path_is_limited(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    from statuses.services import inserting

    monkeypatch.setattr(inserting, "PATH_LIMIT", 3)
    status = make_status(alice)
    for _generation in range(5):
        status = make_status(alice, reply_to=status)
    assert status.thread_path is not None
    assert len(status.thread_path) == 3
    assert status.thread_path[-1] == status.id
