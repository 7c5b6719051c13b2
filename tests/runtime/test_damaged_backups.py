"""Tests that a damaged or changed backup is refused in one sentence, before anything changes."""

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from social.runtime import secrets_file
from social.runtime.backups import archive
from social.runtime.backups.archive import Manifest
from social.runtime.backups.restoring import Target, check
from social.runtime.failures import OperatorError
from social.runtime.secrets_file import new_secrets

DOMAIN = "kept.localhost"


def silent(_label: str, _total: int | None) -> Any:
    return nullcontext(lambda _amount: None)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A small intact backup."""
    folder = tmp_path / "backup"
    (folder / "media").mkdir(parents=True)
    lines = []
    for name in (archive.DATABASE, archive.SECRETS, "media/a.png"):
        (folder / name).write_text(f"what is in {name}")
        lines.append(_line(folder, name))
    return _sealed(folder, lines)


def _line(folder: Path, name: str) -> str:
    return f"{archive.checksum(folder / name)}  {name}\n"


def _sealed(folder: Path, lines: list[str]) -> Path:
    (folder / archive.CHECKSUMS).write_text("".join(lines))
    sums = archive.checksum(folder / archive.CHECKSUMS)
    Manifest(1, DOMAIN, "2026-01-01", "0.1.0", 18, 1, "included", 3, 3, sums, []).write(folder)
    return folder


def test_a_complete_backup_is_accepted_even_if_its_release_writes_more_fields(backup: Path) -> None:
    assert archive.verify(backup, silent).domain == DOMAIN
    noted = json.loads((backup / archive.MANIFEST).read_text())
    (backup / archive.MANIFEST).write_text(json.dumps(noted | {"added": 1}))
    assert archive.verify(backup, silent).domain == DOMAIN


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: (folder / "media/a.png").write_text("what is IN media/a.png"), "a.png is not what was stored"),
        (lambda folder: (folder / "media/a.png").unlink(), "The backup is not whole"),
        (lambda folder: (folder / archive.CHECKSUMS).write_text(""), "is not the one of this backup"),
        (lambda folder: (folder / archive.MANIFEST).write_text("{"), "is damaged"),
        (lambda folder: (folder / archive.MANIFEST).write_text("[]"), "is damaged"),
        (lambda folder: (folder / archive.MANIFEST).write_text('{"format": 2}'), "a format that this release does not"),
        (lambda folder: (folder / archive.MANIFEST).unlink(), "is no backup"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media/../../x\n"]), "is damaged"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  /etc/passwd\n"]), "is damaged"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  run/last.json\n"]), "does not belong"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media/./a.png\n"]), "does not belong"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media\n"]), "does not belong"),
        (lambda folder: _sealed(folder, []), "lacks database"),
        (lambda folder: _linked(folder / "media" / "a.png"), r"a\.png is a link"),
        (lambda folder: _linked(folder / "media"), r"a\.png is a link"),
        (lambda folder: _linked(folder / archive.DATABASE), "is a link"),
        (lambda folder: _linked(folder / archive.MANIFEST), "is a link"),
        (lambda folder: _linked(folder / archive.CHECKSUMS), "is a link"),
        (lambda folder: _piped(folder / archive.MANIFEST), "is a link, or no file"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused(backup: Path, harm: Any, words: str) -> None:
    harm(backup)
    with pytest.raises(OperatorError, match=words):
        archive.verify(backup, silent)


def _piped(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def _linked(place: Path) -> None:
    elsewhere = place.with_name(f"{place.name}.moved")
    place.rename(elsewhere)
    place.symlink_to(elsewhere)


def test_a_backup_whose_files_and_checksums_were_changed_is_detected_by_its_digest(
    backup: Path,
) -> None:  # security row 82
    digest = archive.checksum(backup / archive.MANIFEST)
    archive.check_digest(backup, f"{digest.upper()}\n")
    (backup / "media/a.png").write_text("another")
    _sealed(backup, [_line(backup, name) for name in (archive.DATABASE, archive.SECRETS)])
    archive.verify(backup, silent)
    with pytest.raises(OperatorError, match="was changed since it was taken"):
        archive.check_digest(backup, digest)


_DEEP = "[" * 100_000
_SECRETS = new_secrets()


@pytest.mark.parametrize(
    "harm",
    [
        None,
        *("{}x", "[]", "5", "null", "{}", _DEEP, "\xff", '{"SECRET_KEY": "x"}'),
        *(
            {**_SECRETS, name: value}
            for name in secrets_file.NAMES
            for value in ("x", "", None, 5, ["x" * 86], "x" * 31)
        ),
        *({**_SECRETS, "SECRET_KEY_FALLBACKS": value} for value in ("x", 5, ["x" * 86], f"{'x' * 86},x")),
        {**_SECRETS, "VAPID_PUBLIC_KEY": new_secrets()["VAPID_PUBLIC_KEY"]},
        {**_SECRETS, "VAPID_PRIVATE_KEY": "A" * 43},
    ],
)
def test_damaged_secrets_of_a_backup_are_refused_before_anything_is_changed(
    backup: Path, harm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_DOMAIN", DOMAIN)
    place, target = backup / archive.SECRETS, Target(tables=0, domain=None, secrets=False, interrupted=False)
    place.write_text(json.dumps(_SECRETS | {"SECRET_KEY_FALLBACKS": "x" * 32}))
    check(backup, archive.read_manifest(backup), target, replace=False)
    place.unlink()
    if harm is not None:
        place.write_text(harm if isinstance(harm, str) else json.dumps(harm), encoding="latin-1")
    with pytest.raises(OperatorError, match=r"secrets\.json is damaged \(.*\)\. Take another backup"):
        check(backup, archive.read_manifest(backup), target, replace=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("migrations", value) for value in (5, None, "accounts.0001_initial", [5], [["a"]], {}, ["a\x1b[2J"])),
        *(
            (name, value)
            for name in ("postgresql", "bytes", "files")
            for value in ("5", -1, 1.5, True, None, 10**30, [])
        ),
        *(
            (name, value)
            for name in ("version", "created_at", "media", "checksums")
            for value in (5, None, [], "\x1b]0;")
        ),
        *(("domain", value) for value in (5, None, "", "../..", "a b", "kept.localhost\n", "Kept.localhost", "x:y")),
        ("format", True),
    ],
)
def test_a_manifest_with_odd_values_is_refused_in_one_sentence(backup: Path, name: str, value: Any) -> None:
    noted = json.loads((backup / archive.MANIFEST).read_text())
    (backup / archive.MANIFEST).write_text(json.dumps(noted | {name: value}))
    with pytest.raises(OperatorError, match=rf"manifest\.json is damaged \({name} is .*\)\. Take another backup"):
        archive.verify(backup, silent)


@pytest.mark.parametrize(
    "text", [_DEEP, '{"format": 1}', '{"format": 1, "domain": 9' + "9" * 5000 + "}", "\xff", "null"]
)
def test_a_file_that_is_not_a_manifest_is_refused_in_one_sentence(backup: Path, text: str) -> None:
    (backup / archive.MANIFEST).write_text(text, encoding="latin-1")
    with pytest.raises(OperatorError, match=r"manifest\.json is damaged"):
        archive.verify(backup, silent)


def test_an_interrupted_backup_is_refused(backup: Path) -> None:
    unfinished = backup.rename(backup.with_name("backup.partial"))
    with pytest.raises(OperatorError, match="was not completed"):
        archive.verify(unfinished, silent)
