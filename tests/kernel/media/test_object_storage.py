"""Tests that files in object storage behave like files in a folder."""

import io
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages

from social.kernel import links
from social.kernel.errors import Unavailable
from social.kernel.media import storage
from social.settings import env
from tests.support.s3 import BUCKET, ObjectServer, object_server


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with object_server() as running:
        yield running


@pytest.fixture
def stored(server: ObjectServer, settings: Any) -> ObjectServer:
    """An S3 server, which is configured as the media storage."""
    settings.STORAGES = {**settings.STORAGES, "default": server.entry("/some/folder?acl=public-read")}
    settings.MEDIA_URL = f"{server.endpoint}/{BUCKET}/some/folder/"
    return server


def test_the_storage_serves_a_file_with_its_type_and_caching_for_ever(stored: ObjectServer) -> None:
    path = storage.store(b"abc", folder="things", extension="webp")
    assert not storage.is_local()
    with urllib.request.urlopen(storage.url(path)) as answer:
        assert answer.read() == b"abc"
        assert answer.headers["Content-Type"] == "image/webp"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_a_stored_file_of_any_length_is_unchanged(stored: ObjectServer) -> None:
    data = bytes(range(256)) * 4096 * 12  # longer than one part of a multipart upload
    path = storage.store(io.BytesIO(data), folder="things", extension="mp4")
    with storage.open_stored(path) as file:
        assert file.read() == data


@pytest.mark.parametrize("acl", ["", "?acl=public-read"])
def test_the_object_storage_uses_only_requests_that_all_vendors_accept(
    server: ObjectServer, settings: Any, acl: str
) -> None:
    """Access rights are sent only if the operator sets them; newer checksums and multi-object deletions are not used."""
    settings.STORAGES = {**settings.STORAGES, "default": server.entry(acl)}
    sent: list[Any] = []
    storages["default"].connection.meta.client.meta.events.register(  # type: ignore[attr-defined]  # of this backend
        "before-send.s3", lambda request, **_: sent.append(request)
    )
    for data in (b"abc", bytes(9 << 20)):  # the second file is uploaded in parts
        path = storage.store(io.BytesIO(data), folder="things", extension="mp4")
        with storage.open_stored(path) as file:
            assert file.read() == data
        storage.remove(path)
    assert len(sent) > 8
    headers = {name.lower() for request in sent for name in request.headers}
    assert ("x-amz-acl" in headers) is bool(acl)
    assert not [name for name in headers if "checksum" in name or name == "x-amz-trailer"]
    assert not [request.url for request in sent if "?delete" in request.url]


def test_browsers_download_files_of_unknown_types(stored: ObjectServer) -> None:
    path = storage.store(b"<script>", folder="things", extension="upload")
    head = stored.client.head_object(Bucket=BUCKET, Key=f"some/folder/{path}")
    assert (head["ContentType"], head["ContentDisposition"]) == ("application/octet-stream", "attachment")


def test_files_are_listed_with_their_sizes(stored: ObjectServer) -> None:
    path = storage.store(b"abcd", folder="listed", extension="png")
    other = storage.store(b"x", folder="listed2", extension="png")
    assert [(name, size) for name, size, _written in storage.walk("listed")] == [(path, 4)]
    storage.remove(path, other)
    assert not list(storage.walk("listed"))


def test_opening_a_missing_file_fails_and_removing_it_does_not(stored: ObjectServer) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open_stored("things/none.png")
    storage.remove("things/none.png", "")


def test_a_storage_that_does_not_respond_is_reported_as_unavailable(settings: Any) -> None:
    entry = env._media_storage("s3+http://key:secret@127.0.0.1:9/bucket")
    assert entry is not None
    settings.STORAGES = {**settings.STORAGES, "default": entry}
    with pytest.raises(Unavailable):
        storage.store(b"abc", folder="things", extension="png")
    with pytest.raises(Unavailable):
        storage.open_stored("things/some.png")
    storage.remove("things/some.png")


def test_former_addresses_redirect_to_the_storage(stored: ObjectServer, client: Any) -> None:
    answer = client.get("/system/media_attachments/original/ab/cd/0123.png")
    assert answer.status_code == 302
    assert (
        answer.headers["Location"]
        == f"{stored.endpoint}/{BUCKET}/some/folder/media_attachments/original/ab/cd/0123.png"
    )
    assert client.get("/system/media_attachments/source/ab/cd/0123.upload").status_code == 404


@pytest.mark.parametrize(
    ("written", "endpoint", "bucket", "address"),
    [
        ("s3+https://a:b@s3.example.com/bucket", "https://s3.example.com", "bucket", "https://s3.example.com/bucket/"),
        (
            "s3+http://a:b%2Fc@localhost:9000/bucket/in/here?region=x",
            "http://localhost:9000",
            "bucket",
            "http://localhost:9000/bucket/in/here/",
        ),
        (
            "s3+https://a:b@s3.example.com/bucket?addressing=virtual",
            "https://s3.example.com",
            "bucket",
            "https://bucket.s3.example.com/",
        ),
    ],
)
def test_the_setting_contains_endpoint_bucket_and_keys(
    written: str, endpoint: str, bucket: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = env._media_storage(written)
    assert entry is not None
    assert (entry["OPTIONS"]["endpoint_url"], entry["OPTIONS"]["bucket_name"]) == (endpoint, bucket)
    monkeypatch.setattr(env, "MEDIA_STORAGE", entry)
    assert env._media_url() == address
    for other in ("https://files.example.com", "https://cdn.example.com/file/bucket"):
        monkeypatch.setenv("MEDIA_BASE_URL", other)
        assert (env._media_url(), env._bucket_url()) == (f"{other}/", address)


def test_pages_may_show_files_from_an_address_that_redirects_to_the_bucket(settings: Any) -> None:
    settings.MEDIA_URL, settings.BUCKET_URL = "https://files.example.com/x/", "https://s3.example.com:9000/bucket/"
    assert links.media_source() == " https://files.example.com https://s3.example.com:9000"
    settings.MEDIA_URL = settings.BUCKET_URL
    assert links.media_source() == " https://s3.example.com:9000"
    settings.MEDIA_URL, settings.BUCKET_URL = "/system/", ""
    assert links.media_source() == ""


@pytest.mark.parametrize(
    "wrong",
    [
        "https://a:b@s3.example.com/bucket",
        "s3+https://s3.example.com/bucket",
        "s3+https://a:hunter2@s3.example.com",
        "s3+https://a:hunter2@s3.example.com/bucket?colour=red",
        "s3+https://a:hunter2@s3.example.com:port/bucket",
        "s3+https://a:hunter2@s3.example.com/bucket?addressing=none",
        "nonsense",
    ],
)
def test_a_wrong_setting_is_refused_with_an_example_and_without_showing_the_key(wrong: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="Write it as in") as refused:
        env._media_storage(wrong)
    assert "hunter2" not in str(refused.value)
