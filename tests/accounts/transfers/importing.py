"""Helper that runs an import."""

from typing import Any

from accounts.models import User
from accounts.transfers.models import Import
from accounts.transfers.services.importing import read_import, start_import
from accounts.transfers.services.portable_lists import find_list
from tests.support.work import work


def read(user: User, kind: str, text: str | bytes, **options: Any) -> Import:
    data = text if isinstance(text, bytes) else text.encode()
    options = {"file_name": "x.csv", "overwrite": False} | options
    return read_import(account=user.account, portable=find_list(kind), data=data, **options)


def bring(user: User, kind: str, text: str, **options: Any) -> Import:
    """Read a file, start the import, run all jobs, and return the import's row."""
    made = read(user, kind, text, **options)
    start_import(account=user.account, import_id=made.id)
    work()
    return Import.objects.get(id=made.id)


def problems(batch: Import) -> dict[int, str]:
    return dict(batch.rows.values_list("line", "error"))
