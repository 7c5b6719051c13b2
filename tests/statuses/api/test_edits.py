"""Tests of edits: their effects, the stored versions, and who can read these versions."""

from typing import Any

import pytest

from accounts.models import Account, FeaturedTag, Tag, TagUse
from accounts.models.account import SuspensionOrigin
from accounts.services.tags import feature_tag
from social.kernel.events import Event
from social.kernel.outbox import drain
from statuses.events import StatusEdited
from statuses.models import MediaAttachment, Mention, PollVote, Status, StatusCard, StatusEdit
from statuses.services import revising
from statuses.services.media import remove_unattached
from tests.factories.accounts import make_remote
from tests.factories.statuses import (
    block,
    counts,
    edit,
    make_media,
    make_poll,
    make_reblog,
    make_remote_status,
    make_scheduled,
    make_status,
)
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.entities import check, check_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"
BLANK = {"error": "Validation failed: Text can't be blank"}


def _put(author: Account, status: Status | str, body: dict[str, Any]) -> Any:
    return api_of(author).put(f"{STATUSES}/{getattr(status, 'id', status)}", body)


def _edited(author: Account, status: Status | str, body: dict[str, Any]) -> dict[str, Any]:
    answer = _put(author, status, body)
    assert answer.status_code == 200, answer.content
    entity: dict[str, Any] = answer.json()
    check("StatusOfUser", entity)
    return entity


def _history(viewer: Account | None, status: Status) -> list[dict[str, Any]]:
    api = Api() if viewer is None else api_of(viewer)
    versions: list[dict[str, Any]] = api.get(f"{STATUSES}/{status.id}/history").json()
    check_all("StatusEdit", versions)
    return versions


def test_trap_35_an_edit_keeps_id_audience_language_and_quote_policy_and_clears_what_is_left_out(
    alice: Account, bob: Account
) -> None:
    post = make_status(
        alice, "First words", visibility="unlisted", language="de", quote_approval_policy="nobody", sensitive=True
    )
    body = _edited(alice, post, {"status": "Second @bob #edited", "visibility": "public"})
    assert (body["id"], body["visibility"], body["language"]) == (str(post.id), "unlisted", "de")
    assert body["quote_approval"]["automatic"] == []
    assert body["edited_at"] is not None
    assert ([one["acct"] for one in body["mentions"]], [tag["name"] for tag in body["tags"]]) == (["bob"], ["edited"])
    assert body["sensitive"] is False  # omitted parameters are reset
    warned = _edited(alice, post, {"status": "Third", "spoiler_text": "Warned", "language": "fr"})
    assert (warned["spoiler_text"], warned["sensitive"], warned["language"]) == ("Warned", True, "fr")
    assert (warned["mentions"], warned["tags"]) == ([], [])
    alone = _edited(alice, post, {"spoiler_text": "Only a warning"})
    assert (alone["content"], alone["spoiler_text"], alone["sensitive"]) == ("<p>Only a warning</p>", "Warned", False)
    assert _edited(alice, post, {"status": "x", "language": "xx"})["language"] == "fr"
    assert _edited(alice, post, {"status": "x", "quote_approval_policy": "public"})["quote_approval"]["automatic"] == [
        "public"
    ]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, BLANK),
        ({"status": " \n"}, BLANK),
        ({"status": "x" * 501}, {"error": "Validation failed: Text character limit of 500 exceeded"}),
        ({"spoiler_text": "w" * 495}, {"error": "Validation failed: Text character limit of 500 exceeded"}),
        ({"status": "x", "quote_approval_policy": "odd"}, {"error": "Record invalid"}),
        (
            {"status": "x", "media_ids": ["1", "abc"]},
            {"error": "Media 1, abc not found or already attached to another post"},
        ),
        ({"status": "x", "media_ids": ["1"]}, {"error": "Media 1 not found or already attached to another post"}),
        ({"status": "x", "media_ids": list("12345")}, {"error": "Cannot attach more than 4 files"}),
        (
            {"status": "x", "poll": {"options": ["a"], "expires_in": 600}},
            {"error": "Validation failed: Choices must have more than one item"},
        ),
    ],
)
def test_an_edit_must_follow_the_rules_for_new_posts(alice: Account, body: dict[str, Any], error: Any) -> None:
    post = make_status(alice, "stays", spoiler_text="warned")
    answer = _put(alice, post, body)
    assert (answer.status_code, answer.json()) == (422, error)
    post.refresh_from_db()
    assert (post.text, post.edited_at, StatusEdit.objects.count()) == ("stays", None, 0)


def test_only_its_author_edits_a_post_and_nobody_a_boost(alice: Account, bob: Account) -> None:
    post = make_status(alice)
    boost = make_reblog(bob, post)
    for author, number in ((bob, post.id), (bob, boost.id), (alice, boost.id), (alice, 1)):
        answer = _put(author, str(number), {"status": "mine"})
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
    assert api_of(alice, "read").put(f"{STATUSES}/{post.id}", {"status": "x"}).status_code == 403
    api_of(alice).delete(f"{STATUSES}/{post.id}")
    assert _put(alice, post, {"status": "late"}).status_code == 404


def test_an_edit_that_changes_nothing_writes_nothing(alice: Account, published: list[Event]) -> None:
    media = make_media(alice, "a cat")
    post = make_status(alice, "Same #words", media=[media])
    before = Status.objects.get(id=post.id).version
    same = {
        "status": " Same #words ",
        "media_ids": [str(media.id)],
        "media_attributes": [{"id": str(media.id), "description": "a cat"}],
    }
    assert _edited(alice, post, same)["edited_at"] is None
    post.refresh_from_db()
    assert (post.version, StatusEdit.objects.count()) == (before, 0)
    assert not [event for event in published if isinstance(event, StatusEdited)]
    _edited(alice, post, same | {"quote_approval_policy": "nobody"})
    post.refresh_from_db()
    assert (post.quote_policy, post.edited_at) == (0, None)


def test_trap_32_history_lists_every_version_oldest_first_and_one_for_an_unedited_post(
    alice: Account, bob: Account
) -> None:
    post = make_status(alice, "one :)", spoiler_text="w")
    (only,) = _history(None, post)
    shown = api_of(alice).get(f"{STATUSES}/{post.id}").json()
    assert (only["content"], only["created_at"]) == (shown["content"], shown["created_at"])
    _edited(alice, post, {"status": "two @bob"})
    last = _edited(alice, post, {"status": "three", "sensitive": "true"})
    versions = _history(bob, post)
    assert [
        one["content"].startswith(f"<p>{word}") for one, word in zip(versions, ("one", "two", "three"), strict=True)
    ]
    assert [one["spoiler_text"] for one in versions] == ["w", "", ""]
    assert [one["sensitive"] for one in versions] == [True, False, True]
    assert versions[0]["created_at"] == shown["created_at"]
    assert versions[-1]["created_at"] == last["edited_at"]
    assert {one["account"]["id"] for one in versions} == {str(alice.id)}
    boost = make_reblog(bob, post)
    assert len(_history(bob, boost)) == 3


def test_the_source_is_the_text_as_typed_for_every_token_that_may_read_the_post(alice: Account, bob: Account) -> None:
    post = make_status(alice, "two *words* #x\n\n@bob", spoiler_text="w", visibility="private")
    source = api_of(alice).get(f"{STATUSES}/{post.id}/source").json()
    check("StatusSource", source)
    assert source == {"id": str(post.id), "text": "two *words* #x\n\n@bob", "spoiler_text": "w"}
    assert api_of(bob).get(f"{STATUSES}/{post.id}/source").status_code == 200
    assert Api().get(f"{STATUSES}/{post.id}/source").status_code == 401


def test_the_source_of_a_post_without_text_is_empty_and_that_of_another_server_is_its_html(
    alice: Account, bob: Account
) -> None:
    quote = make_status(alice, "", quoted_status_id=str(make_status(bob).id))
    assert "RE: " in quote.content
    theirs = make_remote_status(make_remote(), "<p>far</p>")
    for number, text in ((quote.id, ""), (theirs.id, "<p>far</p>")):
        assert api_of(alice).get(f"{STATUSES}/{number}/source").json()["text"] == text


@pytest.mark.parametrize("name", ["history", "source"])
def test_row_19_versions_and_source_are_only_for_readers_of_the_post(alice: Account, bob: Account, name: str) -> None:
    private, blocked = make_status(alice, "x", visibility="private"), make_status(alice, "y")
    _edited(alice, private, {"status": "z"})
    missing = api_of(bob).get(f"{STATUSES}/1/{name}")
    assert api_of(bob).get(f"{STATUSES}/{private.id}/{name}").content == missing.content
    block(alice, bob)
    assert api_of(bob).get(f"{STATUSES}/{blocked.id}/{name}").content == missing.content
    alice.suspended_at, alice.suspension_origin = alice.created_at, SuspensionOrigin.LOCAL
    alice.save()
    assert api_of(bob).get(f"{STATUSES}/{blocked.id}/{name}").status_code == 404


def test_an_edit_can_reorder_describe_exchange_and_remove_files(alice: Account, bob: Account) -> None:
    first, second, other = (make_media(alice, word) for word in ("a", "b", "c"))
    post = make_status(alice, "Two", media=[first, second])

    def ids(entity: dict[str, Any]) -> list[int]:
        return [int(file["id"]) for file in entity["media_attachments"]]

    swapped = {"status": "Two", "media_ids": [str(second.id), str(first.id)]}
    assert ids(_edited(alice, post, swapped)) == [second.id, first.id]
    changes = [
        {"id": str(first.id), "description": "new words", "focus": "0.5,-0.5"},
        {"id": str(other.id), "description": "not of this post"},
    ]
    described = _edited(alice, post, swapped | {"media_attributes": changes})["media_attachments"][1]
    assert (described["description"], described["meta"]["focus"]) == ("new words", {"x": 0.5, "y": -0.5})
    other.refresh_from_db()
    assert other.description == "c"
    exchanged = _edited(alice, post, {"status": "Two", "media_ids": [str(first.id), str(other.id)]})
    assert ids(exchanged) == [first.id, other.id]
    # Files that an edit removes stay with the post, for its history and for later edits.
    for author in (alice, bob):
        stolen = api_of(author).post(STATUSES, {"status": "Stolen", "media_ids": [str(second.id)]})
        assert stolen.json() == {"error": f"Media {second.id} not found or already attached to another post"}
    assert api_of(alice).put(f"/api/v1/media/{second.id}", {"description": "x"}).status_code == 404
    assert api_of(alice).delete(f"/api/v1/media/{second.id}").status_code == 422
    MediaAttachment.objects.update(unattached_at="2000-01-01T00:00:00Z")
    assert remove_unattached() == 0
    assert ids(_edited(alice, post, {"status": "None"})) == []
    assert [ids(version) for version in _history(None, post)] == [
        [first.id, second.id],
        [second.id, first.id],
        [second.id, first.id],
        [first.id, other.id],
        [],
    ]
    words = [[file["description"] for file in version["media_attachments"]] for version in _history(None, post)]
    assert words == [["a", "b"], ["b", "a"], ["b", "new words"], ["new words", "c"], []]
    assert ids(_edited(alice, post, {"status": "Back", "media_ids": [str(second.id)]})) == [second.id]
    # Deleting a post returns all its files to the author; with `delete_media` the files are removed instead.
    api_of(alice).delete(f"{STATUSES}/{post.id}")
    again = api_of(alice).post(STATUSES, {"status": "Again", "media_ids": [str(first.id), str(second.id)]})
    assert again.status_code == 200
    _edited(alice, again.json()["id"], {"status": "None"})
    api_of(alice).delete(f"{STATUSES}/{again.json()['id']}?delete_media=true")
    assert set(MediaAttachment.objects.values_list("id", flat=True)) == {other.id}


def test_trap_14_changes_of_files_are_accepted_in_every_encoding(alice: Account) -> None:
    media = make_media(alice)
    post = make_status(alice, "One", media=[media])
    form = (
        f"status=One&media_ids[]={media.id}&media_attributes[][id]={media.id}&media_attributes[][description]=by+form"
    )
    api = api_of(alice)
    answer = api.put(f"{STATUSES}/{post.id}", form=form)
    assert answer.json()["media_attachments"][0]["description"] == "by form"
    odd: Any
    for odd in ("x", ["x"], [{"description": "no id"}], {"0": {"id": str(media.id), "description": "by index"}}):
        assert (
            _put(alice, post, {"status": "One", "media_ids": [str(media.id)], "media_attributes": odd}).status_code
            == 200
        )
    media.refresh_from_db()
    assert media.description == "by index"
    body = {"status": "One", "media_ids": [str(media.id)]}
    long = _put(alice, post, body | {"media_attributes": [{"id": str(media.id), "description": "x" * 10_001}]})
    assert long.status_code == 422
    cover = "data:image/png;base64,AAAA"
    assert (
        _put(alice, post, body | {"media_attributes": [{"id": str(media.id), "thumbnail": cover}]}).status_code == 422
    )
    media.refresh_from_db()
    assert media.description == "by index"


def test_files_of_others_of_scheduled_and_of_other_posts_are_not_attached(alice: Account, bob: Account) -> None:
    mine, waiting, used = make_media(alice), make_media(alice), make_media(alice)
    make_scheduled(alice, media=[waiting])
    make_status(alice, media=[used])
    post = make_status(alice, "One", media=[mine])
    for file in (make_media(bob), waiting, used):
        answer = _put(alice, post, {"status": "One", "media_ids": [str(mine.id), str(file.id)]})
        assert answer.status_code == 422
        assert str(file.id) in answer.json()["error"]
    assert [media.id for media in MediaAttachment.objects.filter(status=post)] == [mine.id]


def test_a_poll_keeps_its_votes_only_while_its_options_stay(alice: Account, bob: Account) -> None:
    poll = make_poll(alice, "a", "b")
    api_of(bob).post(f"/api/v1/polls/{poll.id}/votes", {"choices": ["0"]})
    same = {"options": ["a", "b"], "expires_in": 600, "multiple": "false"}
    kept = _edited(alice, poll.status, {"status": "Which one?", "poll": same})["poll"]
    assert (kept["id"], kept["votes_count"], kept["voters_count"]) == (str(poll.id), 1, 1)
    del same["multiple"]
    assert _edited(alice, poll.status, {"status": "Which one?", "poll": same})["poll"]["votes_count"] == 0
    assert not PollVote.objects.exists()
    api_of(bob).post(f"/api/v1/polls/{poll.id}/votes", {"choices": ["1"]})
    other = _edited(alice, poll.status, {"status": "Which one?", "poll": same | {"options": ["a", "c"]}})["poll"]
    assert ([option["title"] for option in other["options"]], other["votes_count"]) == (["a", "c"], 0)
    assert api_of(bob).get(f"/api/v1/polls/{poll.id}").json()["own_votes"] == []
    assert _edited(alice, poll.status, {"status": "Which one?"})["poll"] is None
    assert api_of(bob).get(f"/api/v1/polls/{poll.id}").status_code == 404
    added = {"options": ["x", "y"], "expires_in": 600, "multiple": True}
    assert _edited(alice, poll.status, {"status": "Which one?", "poll": added})["poll"]["multiple"] is True
    titles = [
        [option["title"] for option in version.get("poll", {"options": []})["options"]]
        for version in _history(bob, poll.status)
    ]
    assert titles == [["a", "b"], ["a", "b"], ["a", "b"], ["a", "c"], [], ["x", "y"]]


def test_a_quote_stays_and_its_text_may_be_empty(alice: Account, bob: Account) -> None:
    post = make_status(alice, "look", quoted_status_id=make_status(bob, "base").id)
    body = _edited(alice, post, {"status": "", "spoiler_text": "w", "quoted_status_id": "1"})
    assert (body["quote"]["state"], body["spoiler_text"]) == ("accepted", "w")
    assert body["content"].startswith('<p class="quote-inline">')
    assert [version["quote"]["state"] for version in _history(bob, post)] == ["accepted", "accepted"]


def test_an_account_that_is_no_longer_mentioned_still_reads_a_direct_post(alice: Account, bob: Account) -> None:
    post = make_status(alice, "@bob secret", visibility="direct")
    assert _edited(alice, post, {"status": "secret"})["mentions"] == []
    assert api_of(bob).get(f"{STATUSES}/{post.id}").status_code == 200
    assert Mention.objects.get(status=post).silent
    assert [one["acct"] for one in _edited(alice, post, {"status": "@bob again"})["mentions"]] == ["bob"]


def test_counters_of_hashtags_follow_edits(alice: Account) -> None:
    for name in ("one", "two"):
        feature_tag(account=alice, name=name)
    post = make_status(alice, "#one #both")
    _edited(alice, post, {"status": "#two #both"})
    found = dict(FeaturedTag.objects.values_list("tag__name", "statuses_count"))
    assert found == {"one": 0, "two": 1}
    uses = dict(TagUse.objects.values_list("tag__name", "uses"))
    assert uses == {"one": 1, "two": 1, "both": 1}
    private = make_status(alice, "#one", visibility="private")
    _edited(alice, private, {"status": "#two"})
    assert dict(FeaturedTag.objects.values_list("tag__name", "statuses_count")) == found
    assert Tag.objects.count() == 3
    assert counts(post) == (0, 0, 0)


def test_the_first_and_the_newest_of_many_versions_are_stored(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revising, "VERSIONS_LIMIT", 3)
    post = make_status(alice, "0")
    for number in range(1, 7):
        edit(post, str(number))
    assert [version["content"] for version in _history(None, post)] == [f"<p>{n}</p>" for n in (0, 4, 5, 6)]


def test_html_in_an_edited_text_is_escaped(alice: Account) -> None:
    post = make_status(alice, "x")
    assert _edited(alice, post, {"status": "<script>alert(1)</script>"})["content"].startswith("<p>&lt;script&gt;")


def test_without_a_translation_service_translating_is_404(alice: Account, bob: Account) -> None:
    public, private = make_status(alice), make_status(alice, visibility="private")
    for author, status in ((bob, public), (alice, public), (alice, private)):
        answer = api_of(author).post(f"{STATUSES}/{status.id}/translate")
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
    hidden = api_of(bob).post(f"{STATUSES}/{private.id}/translate")
    assert hidden.content == api_of(bob).post(f"{STATUSES}/1/translate").content


def test_row_34_the_body_of_an_edit_is_limited(alice: Account) -> None:
    post = make_status(alice)
    assert _put(alice, post, {"status": "x" * 1_000_000}).status_code == 422


def test_an_edit_replaces_or_removes_the_preview_of_a_link(alice: Account) -> None:
    post = make_status(alice, "https://example.org/one")
    links = []
    for text in ("", "https://example.org/two", "no link"):
        if text:
            _edited(alice, post, {"status": text})
        while drain("default"):
            pass
        links += [list(StatusCard.objects.filter(status=post).values_list("url", flat=True))]
    assert links == [["https://example.org/one"], ["https://example.org/two"], []]


def test_null_clears_the_description_of_a_file_in_an_edit(alice: Account) -> None:
    media = make_media(alice, "a cat")
    post = make_status(alice, "One", media=[media])
    body = {"status": "One", "media_ids": [str(media.id)]}
    for sent, expected in (({"focus": "0,0"}, "a cat"), ({"description": None}, None)):
        edited = _edited(alice, post, body | {"media_attributes": [{"id": str(media.id), **sent}]})
        assert (edited["media_attachments"][0]["description"] or None) == expected
