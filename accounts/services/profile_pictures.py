"""Processes profile pictures: validates and re-encodes them, stores their files, and removes the files of replaced pictures."""

import mimetypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.copies.models import QuarantineSource
from accounts.copies.services.quarantine import Origin, refuse_unless_clean
from accounts.events import ProfileUpdated
from accounts.models import Account
from accounts.services.changing import change_account
from social.kernel.errors import FieldError, require_valid
from social.kernel.events import publish
from social.kernel.media import images, storage, types
from social.kernel.media.images import Drawing, Shape

PICTURE_SIZE_LIMIT: Final = 8 * 1024 * 1024
"""Maximum size of an uploaded picture in bytes (contract, parameters section 2 "update_credentials")."""
_MEBIBYTE: Final = 1024 * 1024
_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
SHAPES: Final = {"avatar": Shape(400, 400, cropped=True), "header": Shape(1500, 500, cropped=False)}
_FOLDERS: Final = {"avatar": "accounts/avatars", "header": "accounts/headers"}


@dataclass(frozen=True)
class PictureUpload:
    """Uploaded picture; `content_type` and `file_name` are what the client claims."""

    data: bytes
    content_type: str = ""
    file_name: str = ""


def picture_errors(name: str, upload: PictureUpload) -> list[FieldError]:
    """Return the errors in the size and the first bytes of the `avatar` or `header`; the picture is not decoded."""
    media_type = types.media_type(upload.data[: types.HEAD])
    if media_type is None and upload.content_type.partition(";")[0].strip().lower() in _TYPES:
        return [_spoofed(name)]
    if media_type not in _TYPES:
        message = _("is invalid")
        # The space in the code is part of the contract (parameters section 2 "update_credentials").
        return [FieldError(f"{name}_content_type", "ERR_INVALID", message), FieldError(name, "ERR_IS INVALID", message)]
    if len(upload.data) >= PICTURE_SIZE_LIMIT:
        message = _("must be less than %(size)d MB") % {"size": PICTURE_SIZE_LIMIT // _MEBIBYTE}
        return [FieldError(field, "ERR_LESS_THAN", message) for field in (name, f"{name}_file_size")]
    return [_spoofed(name)] if _has_other_extension(upload.file_name) else []


def _has_other_extension(file_name: str) -> bool:
    """Tell whether the file name has the extension of a known file type other than a picture."""
    kind, _encoding = mimetypes.guess_type(file_name.rpartition("/")[2])
    return kind is not None and not kind.startswith("image/")


def _spoofed(name: str) -> FieldError:
    message = _("has contents that are not what they are reported to be")
    return FieldError(name, "ERR_SPOOFED_MEDIA_TYPE", message)


def draw_pictures(uploads: Mapping[str, PictureUpload], *, account_id: int) -> dict[str, Drawing]:
    """Re-encode pictures that the scanner finds clean, and return them by name. It is slow, so call it outside of transactions.

    Raises Invalid with `details`; Unavailable when the scanner does not respond.
    """
    for upload in uploads.values():
        origin = Origin(QuarantineSource.PROFILE, account_id=account_id)
        refuse_unless_clean(upload.data, content_type=upload.content_type, origin=origin)
    drawn = {}
    errors = []
    for name, upload in uploads.items():
        try:
            with images.draw(BytesIO(upload.data), SHAPES[name]) as drawing:
                drawn[name] = drawing.in_memory()
        except images.Unidentified:
            errors.append(_spoofed(name))
        except images.Unsupported as refused:
            errors.append(FieldError(name, "ERR_INVALID", refused.message, ""))
    require_valid(errors, details=True)
    return drawn


@contextmanager
def stored(drawn: Mapping[str, Drawing]) -> Iterator[dict[str, str]]:
    """Store the files of re-encoded pictures, and yield the account's columns to write; remove the files after an exception."""
    columns: dict[str, str] = {}
    try:
        for name, drawing in drawn.items():
            for column, rendition in ((name, drawing.shown), (f"{name}_static", drawing.still)):
                columns[column] = ""
                if rendition is not None:
                    columns[column] = storage.store(
                        rendition.file, folder=_FOLDERS[name], extension=rendition.extension
                    )
        yield columns
    except BaseException:
        storage.remove(*columns.values())
        raise


def remove_replaced(account: Account, columns: Mapping[str, object]) -> None:
    """Delete, after the commit, the files of the account's pictures in these columns."""
    paths = [getattr(account, column) for name in SHAPES for column in (name, f"{name}_static") if column in columns]
    storage.remove_after_commit(*paths)


def delete_picture(*, account_id: int, name: str) -> None:
    """Remove the `avatar` or `header` with its files; its description stays. Publishes ProfileUpdated."""
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).get(id=account_id)
        if getattr(account, name):
            columns = {name: "", f"{name}_static": ""}
            remove_replaced(account, columns)
            change_account(account.id, **columns)
            publish(ProfileUpdated(account_id=account.id))
