"""Tests of unusual forms of types, files, texts, times, booleans and languages in documents from other software."""

import json
from datetime import timedelta
from typing import Any

import pytest

from federation.documents.reading import flag_of, parse, past_of, time_of
from federation.documents.received_notes import is_vote
from federation.reasons import Rejected
from social.kernel import clock
from social.kernel.json import loads
from tests.federation.odd_documents import HOME, PUBLIC, actor, link, note


class TestTypes:
    @pytest.mark.parametrize("kind", ["Mention", ["Mention"], ["as:Link", "Mention"], "as:Mention"])
    def test_mentions_may_have_several_types(self, kind: Any) -> None:
        assert note(tag=[{"type": kind, "href": f"{HOME}/users/bob"}]).mentioned == [f"{HOME}/users/bob"]

    @pytest.mark.parametrize("kind", ["Hashtag", ["Hashtag"], ["Link", "Hashtag"], "as:Hashtag"])
    def test_hashtags_may_have_several_types(self, kind: Any) -> None:
        assert note(tag={"type": kind, "name": "#Cats"}).tags == [("cats", "Cats")]

    @pytest.mark.parametrize("kind", ["PropertyValue", ["PropertyValue"], ["Note", "PropertyValue"]])
    def test_profile_fields_may_have_several_types(self, kind: Any) -> None:
        assert [row["name"] for row in actor(attachment=[{"type": kind, "name": "Town", "value": "x"}]).fields] == [
            "Town"
        ]

    def test_posts_and_accounts_may_have_several_types(self) -> None:
        assert note(type=["Object", "Note"]).uri == f"{HOME}/notes/1"
        assert actor(type=["Actor", "Group"]).actor_type == "Group"
        with pytest.raises(Rejected):
            note(type=["Object", 17, None])

    def test_name_and_biography_of_an_account_may_be_given_only_by_language(self) -> None:
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
    def test_the_summary_of_a_converted_object_is_html_and_plain_text_stays(
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
    def test_content_is_read_according_to_its_media_type(self, kind: str | None, content: str, shown: str) -> None:
        assert note(content=content, mediaType=kind).content.startswith(shown)
        assert shown in note(type="Video", name="V", content=content, mediaType=kind).content

    def test_a_published_sound_with_a_plain_description_keeps_its_text(self) -> None:
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
    def test_languages_are_recognised_in_any_spelling(self, members: dict[str, Any], language: str | None) -> None:
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
        assert note(tag=tags, quoteUrl=f"{HOME}/notes/3").quoted == f"{HOME}/notes/3", (
            "a property takes precedence over a tag"
        )


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
    def test_spellings_of_true_are_read_as_true(self, value: Any) -> None:
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
    def test_times_are_read_in_the_formats_of_both_standards(self, written: str) -> None:
        found = time_of(written)
        assert found is not None
        assert clock.iso(found).startswith("2024-03-06T07:23:56")

    @pytest.mark.parametrize("written", ["yesterday", "", None, 17, [], "1969-12-31T23:00:00Z", "0001-01-01T00:00:00Z"])
    def test_an_impossible_time_is_replaced_by_now_and_is_no_edit(self, written: Any) -> None:
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
    def test_an_unpaired_surrogate_and_a_byte_order_mark_change_nothing_else(self, sent: bytes, text: str) -> None:
        assert parse(sent)["a"] == text
        assert loads(sent)["a"] == text

    @pytest.mark.parametrize(
        "sent", [rb'{"a":"\ud83d"', rb'{"a":"\ud8"}', b"\xef\xbb\xbf\xef\xbb\xbf{}", b'{"a":"\xed\xa0\xbd"}']
    )
    def test_invalid_json_is_rejected(self, sent: bytes) -> None:
        with pytest.raises(Rejected):
            parse(sent)

    def test_json_without_surrogates_and_byte_order_marks_is_read_normally(self) -> None:
        value = {"a": ["\U0001f600", "\\ud83d", 1.5, None]}
        assert loads(json.dumps(value)) == loads(json.dumps(value, ensure_ascii=False).encode()) == value
