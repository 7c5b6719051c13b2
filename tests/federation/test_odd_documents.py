"""Tests of unusual forms of types, files, texts, times, booleans and languages in documents of other software."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from accounts.services.remote_accounts import RemoteProfile
from federation.documents.reading import flag_of, parse, past_of, time_of
from federation.documents.received_actors import read_actor
from federation.documents.received_notes import ReceivedNote, is_vote, read_note
from federation.reasons import Rejected
from social.kernel import clock
from social.kernel.json import loads
from social.kernel.media import images, recordings
from social.kernel.media.types import TYPES, shown_as
from statuses.services.storing import RemoteFile

HOME = "https://far.example"
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def note(**members: Any) -> ReceivedNote:
    return read_note({"id": f"{HOME}/notes/1", "type": "Note", "attributedTo": f"{HOME}/users/ann", **members})


def actor(**members: Any) -> RemoteProfile:
    uri = f"{HOME}/users/ann"
    document = {"id": uri, "type": "Person", "preferredUsername": "ann", "inbox": f"{uri}/inbox", **members}
    return read_actor(document).profile


def link(name: str, kind: str | None = None) -> dict[str, Any]:
    return {"type": "Link", "href": f"{HOME}/{name}"} | ({"mediaType": kind} if kind is not None else {})


def file_of(attachment: Any) -> tuple[str, str] | None:
    """Return the name and type of the file made from an attachment, or None."""
    files = note(attachment=[attachment]).files
    return (files[0].url.removeprefix(f"{HOME}/"), files[0].type) if files else None


class TestFiles:
    @pytest.mark.parametrize(
        ("links", "expected"),
        [
            ([link("i.jxl", "image/jxl"), link("i.jpg", "image/jpeg")], ("i.jpg", "image")),
            ([link("page", "text/html"), link("i.jpg", "image/jpeg")], ("i.jpg", "image")),
            ([link("i.jpg", "image/jpeg"), link("page", "text/html")], ("i.jpg", "image")),
            ([link("v.m3u8", "application/x-mpegURL"), link("v.mp4", "video/mp4")], ("v.mp4", "video")),
            ([link("i.jpg", "image/jpeg"), link("i.avif", "image/avif")], ("i.jpg", "image")),
            ([link("i.svg"), link("i.PNG?size=2")], ("i.PNG?size=2", "image")),
            ([f"{HOME}/i.svg", f"{HOME}/i.webp"], ("i.webp", "image")),
            ([link("i.jxl", "image/jxl"), link("i.svg", "image/svg+xml")], ("i.jxl", "unknown")),
            ([{"href": "ftp://far.example/i.png"}, link("i.png")], ("i.png", "image")),
            ([link("page", "text/html; charset=utf-8")], None),
        ],
    )
    def test_of_several_representations_of_a_file_the_first_that_can_be_shown_is_used(
        self, links: list[Any], expected: tuple[str, str] | None
    ) -> None:
        assert file_of({"type": "Image", "url": links}) == expected

    @pytest.mark.parametrize(
        "said", [{}, {"mediaType": None}, {"mediaType": "application/octet-stream"}, {"mediaType": "image/*"}]
    )
    @pytest.mark.parametrize(
        ("kind", "name", "expected"),
        [
            ("Document", "i.png", "image"),
            ("Document", "i.JPEG?x=1.txt", "image"),
            ("Document", "v.mp4", "video"),
            ("Document", "a.opus", "audio"),
            ("Document", "file/17", "unknown"),
            ("Image", "file/17", "image"),
            ("Video", "file/17", "video"),
            ("Audio", "file/17", "audio"),
            ("Image", "i.svg", "unknown"),
            ("Image", "i.eps", "unknown"),
            ("Image", "i.tiff", "unknown"),
            ("Document", "text.txt", "unknown"),
            ("Page", "i.png", "image"),
            (None, "i.png", "image"),
        ],
    )
    def test_without_a_usable_type_the_ending_decides_and_then_the_kind_of_object(
        self, said: dict[str, Any], kind: str | None, name: str, expected: str
    ) -> None:
        document = {"url": f"{HOME}/{name}"} | said | ({"type": kind} if kind is not None else {})
        assert file_of(document) == (name, expected)

    @pytest.mark.parametrize(
        ("announced", "expected"),
        [
            ("image/JPG; q=1", "image"),
            ("image/x-png", "image"),
            ("audio/x-flac", "audio"),
            ("video/x-m4v", "video"),
            ("image/svg+xml", "unknown"),
            ("image/tiff", "unknown"),
            ("video/x-matroska", "unknown"),
            ("application/pdf", "unknown"),
        ],
    )
    def test_an_announced_type_beats_the_ending_and_is_read_in_any_of_its_names(
        self, announced: str, expected: str
    ) -> None:
        assert file_of({"type": "Document", "url": f"{HOME}/i.png", "mediaType": announced}) == ("i.png", expected)

    def test_the_type_of_a_link_beats_that_of_the_object_around_it(self) -> None:
        found = note(attachment={"type": "Document", "mediaType": "image/png", "url": link("v", "video/webm")}).files
        assert [(file.type, file.content_type) for file in found] == [("video", "video/webm")]

    @pytest.mark.parametrize(
        "attachment",
        [f"{HOME}/i.png", link("i.png"), {"href": f"{HOME}/i.png"}, {"url": f"{HOME}/i.png"}, {"url": link("i.png")}],
    )
    def test_addresses_and_objects_without_a_type_are_files(self, attachment: Any) -> None:
        assert file_of(attachment) == ("i.png", "image")

    @pytest.mark.parametrize(
        "attachment",
        [
            {"type": "PropertyValue", "name": "a", "value": "b"},
            {"type": "Link", "href": "payto://iban/DE7551"},
            {"type": "Image", "url": "data:image/png;base64,AAAA"},
            {"type": "Note", "content": "x"},
            None,
            17,
            [],
        ],
    )
    def test_an_attachment_without_a_web_address_is_left_out(self, attachment: Any) -> None:
        assert file_of(attachment) is None

    @pytest.mark.parametrize(
        ("attachment", "expected"),
        [
            pytest.param([""], [], id="an empty text"),
            pytest.param({"type": "Image", "url": f"{HOME}/preview.gif"}, ["image"], id="one picture without a list"),
            pytest.param([link("p/B_44")], [], id="a Link to a page"),
            pytest.param([link("p/B_44", "application/pdf")], ["unknown"], id="a Link to a document"),
            pytest.param([link("i.png")], ["image"], id="a Link to a picture"),
            pytest.param(
                [{"type": "Document", "mediaType": "image/jpeg", "url": f"{HOME}/13ee6d64.44205B5D-D0B2", "name": ""}],
                ["image"],
                id="a name without an ending",
            ),
            pytest.param(
                [{"type": "Image", "url": f"{HOME}/xrpc/blob?cid=1"}], ["image"], id="a picture without a type"
            ),
            pytest.param([{"type": "Document", "url": f"{HOME}/DL2i.jpg"}], ["image"], id="a document without a type"),
            pytest.param(
                [{"type": "Page", "url": [link("a", "text/html; charset=UTF-8"), link("b.jpg", "image/jpeg")]}],
                ["image"],
                id="a page with its picture",
            ),
            pytest.param(
                [
                    {
                        "type": "Image",
                        "mediaType": "image/jpeg",
                        "url": [link("d5d6jpeg", "image/jpeg") | {"width": 600}, link("ebc6jpeg", "image/jpeg")],
                    }
                ],
                ["image"],
                id="a picture in two sizes",
            ),
        ],
    )
    def test_files_are_found_as_other_programs_describe_them(self, attachment: Any, expected: list[str]) -> None:
        assert [file.type for file in note(attachment=attachment).files] == expected

    def test_the_sizes_of_the_representation_that_was_chosen_are_kept(self) -> None:
        small = link("i.png", "image/png") | {"width": 2, "height": 1}
        (found,) = note(attachment={"type": "Image", "url": [link("i.jxl"), small], "width": 9, "height": 9}).files
        assert found.meta["original"]["size"] == "2x1"

    def test_every_type_that_is_taken_from_people_here_can_be_shown(self) -> None:
        kinds = {*images.ACCEPTED, *recordings.ACCEPTED, *TYPES.values()}
        assert [kind for kind in kinds if shown_as(kind) != kind.partition("/")[0]] == []

    @pytest.mark.parametrize("name", ["icon", "image"])
    @pytest.mark.parametrize(
        ("value", "url"),
        [
            ([{"type": "Image", "url": None}, {"type": "Image", "url": f"{HOME}/b.png", "name": "b"}], "b.png"),
            (
                [{"type": "Image", "url": f"{HOME}/a.svg"}, {"type": "Image", "url": f"{HOME}/b.png", "name": "b"}],
                "b.png",
            ),
            ([17, None, {"url": [link("a", "text/html"), link("b", "image/png")], "name": "b"}], "b"),
            ({"type": ["Image"], "url": f"{HOME}/b", "name": "b"}, "b"),
            ({"type": "Link", "href": f"{HOME}/b.webp", "name": "b"}, "b.webp"),
        ],
    )
    def test_the_first_picture_of_a_list_that_can_be_shown_is_shown_with_its_description(
        self, name: str, value: Any, url: str
    ) -> None:
        found, column = actor(**{name: value}), {"icon": "avatar", "image": "header"}[name]
        picture = getattr(found, f"{column}_remote_url"), getattr(found, f"{column}_description")
        assert picture == (f"{HOME}/{url}", "b")

    def test_a_preview_may_be_one_of_a_list(self) -> None:
        icons = [{"type": "Image", "url": None}, {"type": "Image", "url": f"{HOME}/small.jpg"}]
        (found,) = note(attachment={"type": "Video", "url": f"{HOME}/v.mp4", "icon": icons}).files
        assert isinstance(found, RemoteFile)
        assert found.preview_url == f"{HOME}/small.jpg"


class TestTypes:
    @pytest.mark.parametrize("kind", ["Mention", ["Mention"], ["as:Link", "Mention"], "as:Mention"])
    def test_mentions_have_their_type_among_others(self, kind: Any) -> None:
        assert note(tag=[{"type": kind, "href": f"{HOME}/users/bob"}]).mentioned == [f"{HOME}/users/bob"]

    @pytest.mark.parametrize("kind", ["Hashtag", ["Hashtag"], ["Link", "Hashtag"], "as:Hashtag"])
    def test_hashtags_have_their_type_among_others(self, kind: Any) -> None:
        assert note(tag={"type": kind, "name": "#Cats"}).tags == [("cats", "Cats")]

    @pytest.mark.parametrize("kind", ["PropertyValue", ["PropertyValue"], ["Note", "PropertyValue"]])
    def test_profile_fields_have_their_type_among_others(self, kind: Any) -> None:
        assert [row["name"] for row in actor(attachment=[{"type": kind, "name": "Town", "value": "x"}]).fields] == [
            "Town"
        ]

    def test_a_post_and_an_account_have_their_type_among_others(self) -> None:
        assert note(type=["Object", "Note"]).uri == f"{HOME}/notes/1"
        assert actor(type=["Actor", "Group"]).actor_type == "Group"
        with pytest.raises(Rejected):
            note(type=["Object", 17, None])

    def test_the_name_and_biography_of_an_account_may_stand_under_their_language_alone(self) -> None:
        found = actor(name=None, nameMap={"de": "Zoë"}, summary="", summaryMap={"de": "<p>Hallo</p>"})
        assert (found.display_name, found.note_html) == ("Zoë", "<p>Hallo</p>")
        assert actor(name="Zoe", nameMap={"de": "Zoë"}).display_name == "Zoe"

    @pytest.mark.parametrize("name", ["#1234", "#٤٢", "#", "#🐄", "#-", 7, None])
    def test_an_invalid_hashtag_in_a_document_is_left_out(self, name: Any) -> None:
        assert note(tag={"type": "Hashtag", "name": name}).tags == []


class TestTexts:
    @pytest.mark.parametrize("kind", ["Article", "Event", "Image", "Audio", "Video", "Page"])
    @pytest.mark.parametrize(
        ("summary", "shown"),
        [
            ("<p>Come <b>all</b></p><script>alert(1)</script>", "<p>Come <b>all</b></p>"),
            ('<a href="javascript:x" onclick="x">Come</a>', "Come"),
            ("Tea &amp; cake", "Tea &amp; cake"),
            ("Tea & cake for 3 < 4 people", "<p>Tea &amp; cake for 3 &lt; 4 people</p>"),
            ("A Vector<int> of\nlines\n\nand more", "<p>A Vector&lt;int&gt; of<br>lines</p><p>and more</p>"),
        ],
    )
    def test_the_summary_of_what_becomes_a_post_is_html_and_plain_text_stays(
        self, kind: str, summary: str, shown: str
    ) -> None:
        for said in ({"summary": summary}, {"summaryMap": {"en": summary}}):
            found = note(type=kind, name="Fest", **said)
            assert found.content.startswith(f"<p><strong>Fest</strong></p>{shown}")
            assert found.spoiler_text == ""

    @pytest.mark.parametrize(
        ("kind", "content", "shown"),
        [
            ("text/markdown", "*One* [two](https://a.example)", '<p><em>One</em> <a href="https://a.example"'),
            ("text/markdown", "<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
            ("text/plain", "1 < 2\n<b>x</b>", "<p>1 &lt; 2<br>&lt;b&gt;x&lt;/b&gt;</p>"),
            ("text/html", "<p>1</p>", "<p>1</p>"),
            ("image/png", "<p>1</p>", "<p>1</p>"),
            (None, "<p>1</p>", "<p>1</p>"),
        ],
    )
    def test_a_content_is_read_by_its_media_type(self, kind: str | None, content: str, shown: str) -> None:
        assert note(content=content, mediaType=kind).content.startswith(shown)
        assert shown in note(type="Video", name="V", content=content, mediaType=kind).content

    def test_a_sound_that_is_published_with_a_plain_description_reads_as_it_was_written(self) -> None:
        found = note(
            type="Audio",
            name="zither",
            content="two <3\nlines",
            mediaType="text/plain",
            to=PUBLIC,
            duration=2957,
            image=None,
            url=[link("tracks/75433", "text/html"), link("listen/58fb", "audio/ogg") | {"bitrate": 160000}],
        )
        assert found.content.startswith("<p><strong>zither</strong></p><p>two &lt;3<br>lines</p>")
        assert (found.url, found.to) == (f"{HOME}/tracks/75433", [PUBLIC])

    @pytest.mark.parametrize(
        ("members", "language"),
        [
            ({"contentMap": {"EN": "x"}}, "en"),
            ({"contentMap": {"und": "x"}}, None),
            ({"contentMap": {"zh-TW-x-private-use-of-mine": "x"}}, "zh-TW"),
            ({"contentMap": {"de": "y", "fr": "x"}, "content": "x"}, "fr"),
            ({"nameMap": {"sr-Latn-RS": "x"}}, "sr"),
            ({"language": {"identifier": "fr", "name": "Français"}}, "fr"),
            ({"language": {"identifier": "und"}}, None),
            ({"language": "fr"}, None),
            ({"contentMap": {}}, None),
        ],
    )
    def test_a_language_is_known_in_any_spelling(self, members: dict[str, Any], language: str | None) -> None:
        assert note(**members).language == language

    @pytest.mark.parametrize(
        ("more", "vote"),
        [
            ({}, True),
            ({"content": None, "attachment": []}, True),
            ({"content": "<p>x</p>"}, False),
            ({"contentMap": {"en": "x"}}, False),
            ({"attachment": [{"type": "Image", "url": f"{HOME}/i.png"}]}, False),
            ({"inReplyTo": None}, False),
        ],
    )
    def test_an_answer_with_a_picture_and_no_text_is_no_vote(self, more: dict[str, Any], vote: bool) -> None:
        assert is_vote({"type": ["Note"], "name": "Tea", "inReplyTo": f"{HOME}/polls/1", **more}) is vote


class TestQuotes:
    @pytest.mark.parametrize(
        ("members", "expected"),
        [
            ({"rel": "https://misskey-hub.net/ns#_misskey_quote"}, True),
            ({"rel": ["canonical", "https://w3id.org/fep/044f#quote"], "mediaType": "application/activity+json"}, True),
            ({"mediaType": 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'}, True),
            ({"mediaType": "application/activity+json"}, True),
            ({"mediaType": "application/activity+json", "rel": "canonical"}, False),
            ({"mediaType": "text/html"}, False),
            ({"mediaType": "application/activity+json", "type": "Mention"}, False),
            ({}, False),
        ],
    )
    def test_a_quote_may_be_a_link_among_the_tags(self, members: dict[str, Any], expected: bool) -> None:
        tags = [{"type": "Hashtag", "name": "#cats"}, {**link("notes/2"), **members}]
        found = note(tag=tags)
        assert (found.quoted, found.legacy_quote) == ((f"{HOME}/notes/2", True) if expected else (None, False))
        assert note(tag=tags, quoteUrl=f"{HOME}/notes/3").quoted == f"{HOME}/notes/3", "a property counts before it"


class TestValues:
    @pytest.mark.parametrize(("value", "expected"), [(True, True), ("true", True), (False, False), (None, False)])
    def test_a_post_is_sensitive_when_one_of_its_files_is(self, value: Any, expected: bool) -> None:
        files = [
            {"type": "Image", "url": f"{HOME}/i.png"},
            {"type": "Image", "url": f"{HOME}/2.png", "sensitive": value},
        ]
        assert note(attachment=files).sensitive is expected
        assert note(attachment=files[1], sensitive=False).sensitive is expected

    @pytest.mark.parametrize("value", [True, "true", "TRUE", 1, 1.0])
    def test_truth_is_said_in_several_ways(self, value: Any) -> None:
        assert (flag_of(value), note(sensitive=value).sensitive) == (True, True)
        assert actor(manuallyApprovesFollowers=value, discoverable=value, showMedia=value).locked
        assert actor(discoverable=value).discoverable is True

    @pytest.mark.parametrize("value", [False, "false", 0])
    def test_spellings_of_false_are_read_as_false(self, value: Any) -> None:
        assert not flag_of(value)
        assert (actor(discoverable=value).discoverable, actor(showMedia=value).show_media) == (False, False)

    @pytest.mark.parametrize("value", [None, "yes", 2, [], [True], {}, {"true": True}])
    def test_values_that_are_no_booleans_count_as_missing(self, value: Any) -> None:
        assert not flag_of(value)
        assert (actor(discoverable=value).discoverable, actor(showMedia=value).show_media) == (None, True)

    @pytest.mark.parametrize(
        "written",
        [
            "2024-03-06T07:23:56Z",
            "2024-03-06t07:23:56z",
            "2024-03-06T08:23:56+01:00",
            "2024-03-06 07:23:56.000",
            "2024-03-06 07:23:56 UTC",
            "Wed, 06 Mar 2024 07:23:56 GMT",
            "Wed, 6 Mar 2024 08:23:56 +0100",
            " 2024-03-06T07:23:56Z ",
        ],
    )
    def test_times_are_read_by_both_standards(self, written: str) -> None:
        found = time_of(written)
        assert found is not None
        assert clock.iso(found).startswith("2024-03-06T07:23:56")

    @pytest.mark.parametrize("written", ["yesterday", "", None, 17, [], "1969-12-31T23:00:00Z", "0001-01-01T00:00:00Z"])
    def test_a_time_that_cannot_be_is_now_and_no_edit(self, written: Any) -> None:
        found = note(published=written, updated=written)
        assert clock.now() - found.published < timedelta(minutes=1)
        assert found.updated is None
        assert past_of("2999-01-01T00:00:00Z") is not None

    @pytest.mark.parametrize(
        ("sent", "text"),
        [
            (rb'{"a":"cut \ud83d"}', "cut \ufffd"),
            (rb'{"a":"\ude00 cut"}', "\ufffd cut"),
            (rb'{"a":"\ud83d\ud83d\ude00"}', "\ufffd\U0001f600"),
            (rb'{"a":"\ud83d\\ude00"}', "\ufffd\\ude00"),
            (rb'{"a":"\\ud83d \ud83d\n"}', "\\ud83d \ufffd\n"),
            (b'\xef\xbb\xbf{"a":"b"}', "b"),
            (rb'{"\ud83d":1,"a":"b"}', "b"),
        ],
    )
    def test_half_a_surrogate_pair_and_a_byte_order_mark_cost_nothing_else(self, sent: bytes, text: str) -> None:
        assert parse(sent)["a"] == text
        assert loads(sent)["a"] == text

    @pytest.mark.parametrize(
        "sent", [rb'{"a":"\ud83d"', rb'{"a":"\ud8"}', b"\xef\xbb\xbf\xef\xbb\xbf{}", b'{"a":"\xed\xa0\xbd"}']
    )
    def test_invalid_json_is_rejected(self, sent: bytes) -> None:
        with pytest.raises(Rejected):
            parse(sent)

    def test_json_without_either_is_read_as_before(self) -> None:
        value = {"a": ["\U0001f600", "\\ud83d", 1.5, None]}
        assert loads(json.dumps(value)) == loads(json.dumps(value, ensure_ascii=False).encode()) == value
