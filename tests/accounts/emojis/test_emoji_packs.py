"""Tests of packs of custom emojis."""

import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.emojis.models import CustomEmoji
from accounts.emojis.services.packs import Terms, import_emojis, read_archive
from accounts.models import AuditEntry
from accounts.policies.staff import staff_of
from social.kernel.errors import Forbidden
from social.kernel.media import storage
from tests.factories.accounts import make_user
from tests.factories.statuses import picture

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media_root(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return Path(settings.MEDIA_ROOT)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("manage_emojis", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def names() -> set[str]:
    return set(CustomEmoji.objects.values_list("shortcode", flat=True))


FILES = {"cat.png": picture(), "moving.gif": picture(image_format="GIF"), "readme.txt": b"hello"}


def _pack(kind: str, folder: Path, files: dict[str, bytes]) -> Path:
    source = folder / "pack"
    source.mkdir()
    for name, data in files.items():
        (source / name).write_bytes(data)
    if kind == "folder":
        return source
    target = folder / f"pack.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for name in files:
                archive.write(source / name, f"inner/{name}")
    else:
        with tarfile.open(target, "w:gz") as pack:
            pack.add(source, "inner")
    return target


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_a_pack_is_imported_once_and_audited(kind: str, tmp_path: Path) -> None:
    pack = _pack(kind, tmp_path, FILES)
    assert run("import", str(pack), "--dry-run") == "would be: added 2"
    assert not names()
    assert run("import", str(pack), "--category", "Animals", "--prefix", "x_") == "added 2"
    cat = CustomEmoji.objects.get(shortcode="x_cat")
    assert (cat.domain, cat.category, cat.visible_in_picker) == (None, "Animals", True)
    assert storage.exists(cat.image)
    assert AuditEntry.objects.filter(target_name=":x_cat:", action="create").count() == 1
    assert run("import", str(pack), "--prefix", "x_") == "known 2"
    before = cat.image
    assert run("import", str(pack), "--prefix", "x_", "--overwrite", "--not-in-picker") == "replaced 2"
    cat.refresh_from_db()
    assert cat.image != before
    assert not cat.visible_in_picker


def test_an_exported_pack_can_be_imported_again(tmp_path: Path, django_capture_on_commit_callbacks: Any) -> None:
    run("import", str(_pack("folder", tmp_path, FILES)))
    run("export", str(tmp_path / "out.zip"))
    with pytest.raises(CommandError, match="File exists"):
        run("export", str(tmp_path / "out.zip"))
    files = list(CustomEmoji.objects.values_list("image", flat=True))
    with django_capture_on_commit_callbacks(execute=True):
        assert "removed" in run("remove", "cat", ":moving:")
    assert not names()
    assert not any(map(storage.exists, files))
    assert run("import", str(tmp_path / "out.zip")) == "added 2"
    assert names() == {"cat", "moving"}
    assert ":cat:" in run("list")


def test_an_invalid_emoji_is_refused_by_name_and_the_others_are_imported(tmp_path: Path) -> None:
    files = {
        "good.png": picture(),
        "a.png": picture(),
        "with space.png": picture(),
        "broken.png": picture()[:40],
        "text.png": b"hello",
        "large.png": picture() + os.urandom(300_000),
    }
    err = io.StringIO()
    call_command("manage_emojis", "import", str(_pack("folder", tmp_path, files)), stdout=io.StringIO(), stderr=err)
    assert names() == {"good"}
    for name in files.keys() - {"good.png"}:
        assert f"{name}: it" in err.getvalue()


def test_invalid_arguments_of_the_command_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no archive")
    for arguments in (
        ("import", str(tmp_path / "file")),
        ("import", str(tmp_path / "nothing")),
        ("import", str(_pack("folder", tmp_path, {"readme.txt": b""}))),
        ("remove",),
        ("remove", "unknown"),
        ("remove", "unknown", "--category", "x"),
    ):
        with pytest.raises(CommandError):
            run(*arguments)


def test_an_archive_is_read_no_further_than_its_limits() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.png", b"\0" * 50_000_000)
        archive.writestr("../../up.png", picture())
        archive.writestr("__MACOSX/._cat.png", b"")
    found = dict(read_archive(data.getvalue()))
    assert set(found) == {"bomb.png", "../../up.png"}
    assert len(found["bomb.png"]) == 256 * 1024 + 1


def test_importing_emojis_requires_the_permission() -> None:
    by = staff_of(make_user("moderator", role="Moderator"))
    with pytest.raises(Forbidden):
        list(import_emojis(by=by, files=[("cat.png", picture())], terms=Terms()))
