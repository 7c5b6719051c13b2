"""Tests of unusual forms of files in documents from other software."""

from typing import Any

import pytest

from social.kernel.media import images, recordings
from social.kernel.media.types import TYPES, shown_as
from statuses.services.storing import RemoteFile
from tests.federation.odd_documents import HOME, actor, file_of, link, note


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
    def test_without_a_usable_media_type_the_extension_and_then_the_object_type_decides(
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
    def test_a_stated_media_type_takes_precedence_over_the_extension_in_any_spelling(
        self, announced: str, expected: str
    ) -> None:
        assert file_of({"type": "Document", "url": f"{HOME}/i.png", "mediaType": announced}) == ("i.png", expected)

    def test_the_type_of_a_link_takes_precedence_over_the_type_of_its_object(self) -> None:
        found = note(attachment={"type": "Document", "mediaType": "image/png", "url": link("v", "video/webm")}).files
        assert [(file.type, file.content_type) for file in found] == [("video", "video/webm")]

    @pytest.mark.parametrize(
        "attachment",
        [f"{HOME}/i.png", link("i.png"), {"href": f"{HOME}/i.png"}, {"url": f"{HOME}/i.png"}, {"url": link("i.png")}],
    )
    def test_plain_addresses_and_objects_without_a_type_are_files(self, attachment: Any) -> None:
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
    def test_files_are_read_in_the_forms_of_other_programs(self, attachment: Any, expected: list[str]) -> None:
        assert [file.type for file in note(attachment=attachment).files] == expected

    def test_the_size_of_the_chosen_representation_is_stored(self) -> None:
        small = link("i.png", "image/png") | {"width": 2, "height": 1}
        (found,) = note(attachment={"type": "Image", "url": [link("i.jxl"), small], "width": 9, "height": 9}).files
        assert found.meta["original"]["size"] == "2x1"

    def test_every_type_accepted_from_local_users_can_be_shown(self) -> None:
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

    def test_a_preview_may_be_an_item_of_a_list(self) -> None:
        icons = [{"type": "Image", "url": None}, {"type": "Image", "url": f"{HOME}/small.jpg"}]
        (found,) = note(attachment={"type": "Video", "url": f"{HOME}/v.mp4", "icon": icons}).files
        assert isinstance(found, RemoteFile)
        assert found.preview_url == f"{HOME}/small.jpg"
