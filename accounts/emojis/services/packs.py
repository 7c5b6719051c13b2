"""Imports, exports, changes and removes local custom emojis, and copies remote emojis.

A pack is a set of pictures named after their shortcodes. Changes take effect immediately; cached posts show them within ten
minutes.
"""

import bz2
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose, CopyState, QuarantineSource
from accounts.copies.services.copying import request_copy
from accounts.copies.services.quarantine import Origin, refuse_unless_clean
from accounts.emojis.models import CustomEmoji
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record, record_about
from social.kernel import clock
from social.kernel.errors import Conflict, FieldError, Invalid, require_found
from social.kernel.lengths import NAME_LIMIT
from social.kernel.media import images, storage, types
from social.kernel.media.images import Shape

FOLDER: Final = "emojis"
PICTURE_LIMIT: Final = 256 * 1024
"""Maximum size of a picture in bytes (contract: the limit of Mastodon's own emojis)."""
PACK_LIMIT: Final = 10_000
"""Maximum number of files that are read from a pack."""
UNPACKED_LIMIT: Final = 128 * 1024 * 1024
"""Maximum size of an unpacked pack in bytes."""
_TYPES: Final = ("image/png", "image/gif", "image/webp", "image/jpeg")
_SUFFIXES: Final = (".png", ".gif", ".webp", ".jpg", ".jpeg")
_SHAPE: Final = Shape(256, 256, cropped=False)
_SHORTCODE: Final = re.compile(r"[a-zA-Z0-9_]{2,128}")
_BATCH: Final = 200
_UNREADABLE: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError)


class UnreadablePack(Invalid):
    """Raised for a file that is neither a folder nor an archive of pictures."""


@dataclass(frozen=True)
class Terms:
    """Options of an import: prefix and suffix of the shortcodes, category, and whether pickers list the emojis."""

    category: str = ""
    prefix: str = ""
    suffix: str = ""
    overwrite: bool = False
    listed: bool = True


@dataclass(frozen=True)
class Outcome:
    """The result for one file: `added`, `replaced`, `known` (an emoji of this name exists) or `refused`."""

    name: str
    shortcode: str
    result: str
    reason: str = ""


def read_pack(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the file name and at most PICTURE_LIMIT + 1 bytes of each picture in a folder, a zip archive or a tar archive.

    Other files, links and hidden files are skipped. Raises UnreadablePack.
    """
    if source.is_dir():
        files = sorted(path for path in source.iterdir() if path.is_file() and not path.is_symlink())
        for path in files[:PACK_LIMIT]:
            if _is_picture(path.name):
                with path.open("rb") as file:
                    yield path.name, file.read(PICTURE_LIMIT + 1)
        return
    with source.open("rb") as file:
        yield from read_archive(file.read())


def read_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the pictures of a zip or tar archive of at most UNPACKED_LIMIT bytes. Raises UnreadablePack."""
    try:
        if zipfile.is_zipfile(BytesIO(data)):
            yield from _read_zip(data)
        else:
            yield from _read_tar(data)
    # RuntimeError is raised for a zip archive with a password or an unknown compression method.
    except (*_UNREADABLE, EOFError, OSError, ValueError, RuntimeError) as error:
        raise UnreadablePack(_("That is neither a folder nor a zip or tar archive of pictures.")) from error


def _read_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    room = UNPACKED_LIMIT
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for member in archive.infolist()[:PACK_LIMIT]:
            if not member.is_dir() and _is_picture(member.filename):
                with archive.open(member) as file:
                    picture = file.read(PICTURE_LIMIT + 1)
                room -= len(picture)
                if room < 0:
                    raise UnreadablePack(_("The archive is too large when unpacked."))
                yield member.filename, picture


def _read_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=BytesIO(_unpacked(data)), mode="r:") as pack:
        for number, entry in enumerate(pack):
            if number >= PACK_LIMIT:
                break
            if entry.isfile() and _is_picture(entry.name):
                file = pack.extractfile(entry)
                if file is not None:
                    yield entry.name, file.read(PICTURE_LIMIT + 1)


def _unpacked(data: bytes) -> bytes:
    """Decompress a tar archive. Raises UnreadablePack if it is too large."""
    if data.startswith(b"\x1f\x8b"):
        unpacked = zlib.decompressobj(wbits=31).decompress(data, UNPACKED_LIMIT + 1)
    elif data.startswith(b"BZh"):
        unpacked = bz2.BZ2Decompressor().decompress(data, UNPACKED_LIMIT + 1)
    elif data.startswith(b"\xfd7zXZ\0"):
        unpacked = lzma.LZMADecompressor(memlimit=UNPACKED_LIMIT).decompress(data, UNPACKED_LIMIT + 1)
    else:
        return data
    if len(unpacked) > UNPACKED_LIMIT:
        raise UnreadablePack(_("The archive is too large when unpacked."))
    return unpacked


def _is_picture(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in _SUFFIXES and not path.name.startswith(".") and "__MACOSX" not in path.parts


def import_emojis(
    *, by: Staff, files: Iterable[tuple[str, bytes]], terms: Terms, dry_run: bool = False
) -> Iterator[Outcome]:
    """Import pictures, each in a transaction with an audit row, or only check them (`dry_run`); yield the outcomes.

    Refused pictures do not stop the import. Raises Forbidden; Invalid for a category that is too long; Unavailable
    while the scanner does not respond.
    """
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    if len(terms.category) > NAME_LIMIT:
        raise Invalid.of([FieldError("category", "ERR_TOO_LONG", _("is too long"))])
    known = set(CustomEmoji.objects.filter(domain=None).values_list("shortcode", flat=True))
    for name, data in files:
        shortcode = f"{terms.prefix}{PurePosixPath(name).stem}{terms.suffix}"
        reason = refusal_of(shortcode, data)
        is_known = shortcode in known
        if reason or (is_known and not terms.overwrite):
            yield Outcome(name, shortcode, "refused" if reason else "known", reason)
            continue
        try:
            if not dry_run:
                refuse_unless_clean(data, content_type="", origin=Origin(QuarantineSource.STAFF, by.account_id))
            with images.draw(BytesIO(data), _SHAPE) as drawing:
                if not dry_run:
                    _store_emoji(by, shortcode, drawing.in_memory(), terms)
        except (images.Unidentified, images.Unsupported):
            yield Outcome(name, shortcode, "refused", _("it is not a picture that can be shown"))
            continue
        except Invalid as refusal:
            yield Outcome(name, shortcode, "refused", refusal.message)
            continue
        known.add(shortcode)
        yield Outcome(name, shortcode, "replaced" if is_known else "added")


def refusal_of(shortcode: str, data: bytes) -> str:
    """Return why a picture of this name is refused as an emoji, or an empty text. The picture is not decoded."""
    if not _SHORTCODE.fullmatch(shortcode):
        return _(
            "its name is shorter than two characters, or has characters other than letters, digits and underscores"
        )
    if len(data) > PICTURE_LIMIT:
        return _("it is larger than %(size)d kB") % {"size": PICTURE_LIMIT // 1024}
    if types.media_type(data[: types.HEAD]) not in _TYPES:
        return _("it is not a PNG, GIF, WebP or JPEG picture")
    return ""


def _store_emoji(by: Staff, shortcode: str, drawing: images.Drawing, terms: Terms) -> None:
    paths = [
        storage.store(rendition.file, folder=FOLDER, extension=rendition.extension)
        for rendition in (drawing.shown, drawing.still)
        if rendition is not None
    ]
    values = {
        "image": paths[0],
        "static_image": paths[1] if len(paths) > 1 else "",
        "category": terms.category,
        "visible_in_picker": terms.listed,
        "disabled": False,
        "updated_at": clock.now(),
    }
    try:
        with transaction.atomic():
            row = CustomEmoji.objects.select_for_update().filter(domain=None, shortcode=shortcode).first()
            former = [] if row is None else [row.image, row.static_image]
            if row is None:
                row = CustomEmoji.objects.create(shortcode=shortcode, **values)
            else:
                CustomEmoji.objects.filter(id=row.id).update(**values)
            action = "update" if former else "create"
            record_about(by, action, row)
            storage.remove_after_commit(*former)
    except BaseException:
        storage.remove(*paths)
        raise


def export_emojis(*, category: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the file name and bytes of the picture of each local emoji in one category, or in all categories.

    Missing files are left out.
    """
    rows = CustomEmoji.objects.filter(domain=None).exclude(image="").order_by("shortcode")
    if category is not None:
        rows = rows.filter(category=category)
    for emoji in rows.iterator(chunk_size=_BATCH):
        with suppress(FileNotFoundError), storage.open_stored(emoji.image) as file:
            yield f"{emoji.shortcode}{PurePosixPath(emoji.image).suffix}", file.read()


def remove_local_emojis(*, by: Staff, emojis: Sequence[CustomEmoji]) -> None:
    """Remove local emojis; posts show their shortcodes instead. Writes an audit row for each. Raises Forbidden."""
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    for emoji in emojis:
        with transaction.atomic():
            row = CustomEmoji.objects.select_for_update().filter(id=emoji.id, domain=None).first()
            if row is None:
                continue
            record_about(by, "destroy", row)
            row.delete()
            storage.remove_after_commit(row.image, row.static_image)


def change_emoji(
    *,
    by: Staff,
    emoji: CustomEmoji,
    disabled: bool | None = None,
    listed: bool | None = None,
    category: str | None = None,
) -> None:
    """Change an emoji's values (for a remote emoji only `disabled`); None leaves a value unchanged.

    Raises Forbidden, NotFound; Invalid for a category that is too long, and for other values of a remote emoji.
    """
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    values: dict[str, Any] = {"disabled": disabled, "visible_in_picker": listed, "category": category}
    values = {name: value for name, value in values.items() if value is not None}
    if len(values.get("category", "")) > NAME_LIMIT:
        raise Invalid.of([FieldError("category", "ERR_TOO_LONG", _("is too long"))])
    with transaction.atomic():
        row = require_found(CustomEmoji.objects.select_for_update().filter(pk=emoji.pk).first())
        if row.domain is not None and values.keys() - {"disabled"}:
            raise Invalid.sentence(_("This emoji belongs to another server: copy it first."))
        before = {name: getattr(row, name) for name, value in values.items() if getattr(row, name) != value}
        if not before:
            return
        after = {name: values[name] for name in before}
        CustomEmoji.objects.filter(pk=row.pk).update(**after)
        name = str(row) if row.domain is None else f"{row}@{row.domain}"
        record(
            by=by,
            action="update",
            target_type="CustomEmoji",
            target_id=row.pk,
            target_name=name,
            before=before,
            after=after,
        )


def copy_emoji(*, by: Staff, emoji: CustomEmoji) -> None:
    """Copy a remote emoji to this server under the same shortcode.

    Raises Forbidden; Conflict if the name exists already, or if the picture is still being fetched; Invalid for a picture or
    name that is not accepted here.
    """
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    if emoji.domain is None or CustomEmoji.objects.filter(domain=None, shortcode=emoji.shortcode).exists():
        raise Conflict(_("This server already has an emoji with this name."))
    copy = request_copy(purpose=CopyPurpose.EMOJI, url=emoji.remote_url)
    if copy.state != CopyState.READY:
        raise Conflict(_("Its picture is being fetched: try again in a moment."))
    with storage.open_stored(copy.file) as file:
        files = [(f"{emoji.shortcode}{PurePosixPath(copy.file).suffix}", file.read())]
    (outcome,) = import_emojis(by=by, files=files, terms=Terms(category=emoji.category))
    if outcome.reason:
        raise Invalid.sentence(outcome.reason)
