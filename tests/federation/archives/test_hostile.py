"""Tests that malicious archives are refused, or do no harm."""

import gzip
import io
import json
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role, User
from federation.archives import containers, formats, items, scanning
from federation.archives.items import list_items
from statuses.models import Status
from tests.federation.archives.conftest import bring, read
from tests.support.past import create, mastodon, note, tarred, zipped

pytestmark = pytest.mark.django_db


def linked(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_nothing_is_read_or_written_outside_of_an_archive(ada: User, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    files = [
        {"type": "Document", "mediaType": "image/png", "url": name}
        for name in ("../../../secret.png", str(secret), "link.png", "hard.png")
    ]
    names = {"../../escaped.png": b"x", "/tmp/absolute.png": b"x", "a/../../b.png": b"x"}
    packed = mastodon(note(1, attachment=files), files=names)
    links = [
        linked("link.png", str(secret)),
        linked("hard.png", str(secret), tarfile.LNKTYPE),
        linked("pipe", "", tarfile.FIFOTYPE),
    ]
    for data in (zipped(packed), tarred(packed, *links)):
        found = read(ada, data)
        assert (found.total, found.reasons) == (1, {"file_missing": 4})
        folder = tmp_path / "private" / "past" / str(found.id)
        assert {path.resolve().is_relative_to(folder.resolve()) for path in folder.rglob("*")} == {True}
        assert not [path for path in tmp_path.rglob("*") if path.name in ("escaped.png", "b.png", "absolute.png")]


def test_files_that_are_no_archives_or_too_large_are_refused_with_a_reason(ada: User, monkeypatch: Any) -> None:
    good = zipped(mastodon(note(1)))
    locked = bytearray(good)
    locked[good.index(b"PK\1\2") + 8] |= 1
    deep = b'{"orderedItems": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}"
    cut = mastodon(note(1))["outbox.json"][:-20]
    for data, problem in (
        (b"", "no_archive"),
        (b"<html>", "no_archive"),
        (good[:-30], "no_archive"),
        (tarred(mastodon(note(1)))[:-200], "no_archive"),
        (bytes(locked), "locked"),
        (zipped({"readme.txt": b"hi"}), "no_posts"),
        (zipped({"outbox.json": b'{"orderedItems": []}'}), "no_posts"),
        (zipped({"outbox.json": deep}), "no_json"),
        (zipped({"outbox.json": cut}), "no_json"),
        (zipped({"outbox.json": b'{"orderedItems": [' + b" " * 100 + b'"' + b"x" * (5 << 20)}), "no_json"),
    ):
        found = read(ada, data)
        assert (found.state, found.problem) == ("unreadable", problem)
    monkeypatch.setattr(containers, "UNPACKED_LIMIT", 100_000)
    bomb = mastodon(note(1), note(2, content="<p>" + " " * 200_000 + "</p>"))
    assert read(ada, zipped(bomb)).problem == read(ada, tarred(bomb)).problem == "too_large"
    monkeypatch.setattr(containers, "ARCHIVE_ENTRIES_LIMIT", 3)
    assert read(ada, good).problem == read(ada, tarred(mastodon(note(1)))).problem == "too_many"
    monkeypatch.undo()
    monkeypatch.setattr(formats, "POSTS_LIMIT", 1)
    assert read(ada, zipped(mastodon(note(1), note(2)))).problem == "too_many"


def test_an_archive_that_would_fill_the_disk_is_refused_beforehand(ada: User, tmp_path: Path, monkeypatch: Any) -> None:
    large = tarred(mastodon(note(1), files={"media_attachments/a.png": b"x" * 300_000}))
    Role.objects.filter(id=ada.role_id).update(imported_mebibytes_limit=1)
    monkeypatch.setattr(scanning, "LIST_SIZE_LIMIT", -1_000_000)
    assert read(ada, large).problem == "too_large"
    monkeypatch.undo()
    monkeypatch.setattr(containers, "FREE_SPACE", 1 << 60)
    assert read(ada, large).problem == read(ada, zipped(mastodon(note(1)))).problem == "no_space"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"]


def test_a_list_with_endless_whitespace_is_refused(ada: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(items, "ITEM_LIMIT", 1 << 20)
    spaces = mastodon(note(1))["outbox.json"].replace(b'"orderedItems": [', b'"orderedItems": [' + b" " * (3 << 20))
    assert read(ada, zipped({"outbox.json": spaces})).problem == "no_json"
    monkeypatch.setattr(items, "LIST_SIZE_LIMIT", 1000)
    assert read(ada, zipped(mastodon(note(1), note(2)))).problem == "too_large"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_files_with_one_name_the_same_one_is_always_read(ada: User) -> None:
    files = mastodon(note(1))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in [*files.items(), ("outbox.json", b"[]"), ("OUTBOX.JSON", b"[]")]:
            file.writestr(name, data)
    assert bring(ada, target.getvalue()).done == 1


def test_a_header_of_a_tar_file_cannot_fill_the_memory(ada: User) -> None:
    long = tarfile.TarInfo("x")
    long.pax_headers = {"comment": "x" * (3 << 20)}
    assert read(ada, tarred(mastodon(note(1)), long)).problem == "too_large"
    # The table of gaps in a sparse file: even a small compressed archive can declare a huge number of gaps.
    sparse = tarfile.TarInfo("x")
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x"}
    head = sparse.tobuf(tarfile.PAX_FORMAT)
    gaps = b"100000000\n" + b"0\n" * (2 << 20)
    assert read(ada, gzip.compress(head + gaps)).problem == "too_large"


def test_a_tar_file_with_endless_nested_headers_is_refused(ada: User) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 1
    nested = (name.tobuf(tarfile.GNU_FORMAT) + b"x".ljust(512, b"\0")) * 900
    assert read(ada, gzip.compress(nested)).problem == "no_archive"


def test_the_total_number_of_lines_in_tables_is_limited(ada: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(formats, "POSTS_LIMIT", 5)
    tables = {f"{name}.csv": b"ann@far.example\n" * 3 for name in ("follows", "mutes")}
    assert read(ada, zipped(tables)).problem == "too_many"
    tables["mutes.csv"] = b"ann@far.example\n"
    assert read(ada, zipped(tables)).reasons == {"list_entry": 4}


def test_invalid_entries_are_reported_and_the_others_imported(ada: User) -> None:
    odd: list[Any] = [
        None,
        7,
        "https://old.example/users/ada/statuses/9",
        {"type": "Create", "object": [note(1)]},
        create(note(2, content=None, contentMap=None)),
        create(note(3, published="yesterday")),
        create(note(4, published="0001-01-01T00:00:00Z")),
        create(note(11, published="0000-01-01T00:00:00Z")),
        create(note(12, published="9999-12-31T23:59:59-14:00")),
        create(note(13, published=10**20)),
        create(note(5, attributedTo=["https://else.example/users/x"])),
        create(note(6, id="javascript:alert(1)")),
        create(note(7, content="<p onclick=x>a<iframe src=//evil></iframe><a href='javascript:x'>b</a></p>")),
        create(note(8, sensitive={"a": 1}, tag="x", attachment="y", to=None, cc=None)),
        create(note(9, content="\ud800 \u0000 x", name=10**30)),
        create(note(10, summary="s" * 50_000, tag=[{"type": "Hashtag", "name": "#" + "x" * 5000}] * 500)),
    ]
    made = bring(ada, zipped(mastodon(*odd)))
    assert made.reasons == {
        "no_post": 3,
        "empty": 1,
        "wrong_date": 5,
        "foreign_author": 1,
        "unreadable": 2,
        "direct": 1,
    }
    post = Status.objects.get(text__startswith="a")
    assert "onclick" not in post.content
    assert "javascript" not in post.content
    assert "iframe" not in post.content
    assert made.done == Status.objects.count() == 3


def test_a_long_list_is_read_in_constant_memory() -> None:
    item = json.dumps(create(note(1, content="<p>" + "word " * 400 + "</p>"))).encode()

    class Endless(io.RawIOBase):
        """A stream that contains a list of 20,000 items, about 50 MB in total."""

        def __init__(self) -> None:
            self.parts = iter([b'{"a": {"b": [1]}, "orderedItems": [' + item, *[b", " + item] * 19_999, b'], "z": 1}'])
            self.rest = b""

        def read(self, size: int = -1, /) -> bytes:
            while len(self.rest) < size and (part := next(self.parts, b"")):
                self.rest += part
            data, self.rest = self.rest[:size], self.rest[size:]
            return data

    tracemalloc.start()
    try:
        assert sum(1 for _item in list_items(Endless(), "orderedItems")) == 20_000  # type: ignore[arg-type]  # read alone
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_at_most_a_hundred_files_of_a_post_are_read(ada: User) -> None:
    assert read(ada, zipped(mastodon(note(1, attachment=[1] * 1000)))).reasons == {"file_missing": 100}


def test_a_list_is_read_correctly_wherever_the_chunks_of_the_file_end(monkeypatch: Any) -> None:
    text = 'window.x = [1234, "a\\u00e4\\"]", {"b": [1, [2]]}, -1.5e3, true , null]\n'
    for size in range(1, 20):
        monkeypatch.setattr(items, "_CHUNK", size)
        assert list(list_items(io.BytesIO(text.encode()))) == [1234, 'aä"]', {"b": [1, [2]]}, -1500.0, True, None]


@pytest.mark.parametrize("limit", ["DIRECTORY_LIMIT", "ARCHIVE_ENTRIES_LIMIT"])
def test_the_size_of_a_zip_directory_is_limited_whatever_the_file_states(
    tmp_path: Path, monkeypatch: Any, limit: str
) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for number in range(50):
            file.writestr(f"{number}", b"")
    data = bytearray(made.getvalue())
    end = data.rindex(b"PK\5\6")
    # The disk numbers, which zipfile ignores, look like the start of a second, harmless end record.
    data[end + 4 : end + 8] = b"PK\5\6"
    data[end + 8 : end + 12] = b"\1\0\1\0"
    (tmp_path / "a.zip").write_bytes(data)
    with containers.opened(tmp_path / "a.zip", tmp_path) as found:
        assert len(list(found.names())) == 50
    monkeypatch.setattr(containers, limit, 49)
    monkeypatch.setattr(zipfile, "ZipInfo", None)
    with pytest.raises(containers.UnreadableArchive) as refused, containers.opened(tmp_path / "a.zip", tmp_path):
        pass
    assert refused.value.reason == "too_many"
