"""Storage of files in an object store with the protocol of Amazon S3, for installations of more than one machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.utils.translation import gettext as _
from storages.backends.s3 import S3Storage

from social.kernel.errors import Unavailable
from social.kernel.media.types import TYPES

_CONNECT_SECONDS: Final = 5
_READ_SECONDS: Final = 30
_ATTEMPTS: Final = 3
_CACHE_CONTROL: Final = "public, max-age=31536000, immutable"


class ObjectStorage(S3Storage):
    """Bucket of files. The bucket's policy, or `default_acl`, decides whether everybody can read them. Raises Unavailable
    when the storage fails, FileNotFoundError for a missing file.
    """

    def __init__(self, *, addressing_style: str, **options: Any) -> None:
        super().__init__(
            **options,
            file_overwrite=True,  # names are random, so no check for an existing file is needed
            querystring_auth=False,
            transfer_config=TransferConfig(use_threads=False),
            client_config=Config(
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_READ_SECONDS,
                retries={"max_attempts": _ATTEMPTS, "mode": "standard"},
                signature_version="s3v4",
                s3={"addressing_style": addressing_style},
                # Object stores other than Amazon's do not support the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def get_object_parameters(self, name: str) -> dict[str, Any]:
        """Return the headers for a file; browsers download a file with an unknown extension instead of showing it."""
        extension = name.rpartition(".")[2]
        known = TYPES.get(f".{extension}")
        if known is None:
            return {"ContentType": "application/octet-stream", "ContentDisposition": "attachment"}
        return {"ContentType": known, "CacheControl": _CACHE_CONTROL}

    def _open(self, name: str, mode: str = "rb") -> Any:
        with _translated():
            return super()._open(name, mode)

    def _save(self, name: str, content: Any) -> str:
        with _translated():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        """Remove a file; a missing file is not an error."""
        with _translated():
            super().delete(name)

    def walk(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        with _translated():
            prefix = self._normalize_name(folder) if folder else self.location.strip("/")
            for item in self.bucket.objects.filter(Prefix=f"{prefix}/" if prefix else ""):
                yield item.key.removeprefix(self.location).lstrip("/"), item.size, item.last_modified


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(_("There was a temporary problem serving your request, please try again")) from error
