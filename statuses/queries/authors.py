"""Reads the author of a new post, with only the columns of the account, its user and role that publishing needs."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from django.db import connection, models

from accounts.models import Account, Role, User
from social.kernel import json
from social.kernel.errors import NotFound
from social.kernel.statements import rows_of

T = TypeVar("T", bound=models.Model)

# The other columns of both rows are deferred; reading one of them takes a separate query.
_ACCOUNT_COLUMNS: Final = ("id", "username", "domain", "locked", "limited_at", "suspended_at")
_USER_COLUMNS: Final = (
    "id",
    "account_id",
    "locale",
    "default_privacy",
    "default_sensitive",
    "default_language",
    "default_quote_policy",
    "preferences",
)
_ROLE_COLUMNS: Final = ("id", "posts_per_day")
_COLUMNS: Final = ", ".join(
    f"{alias}.{name}"
    for alias, names in (("a", _ACCOUNT_COLUMNS), ("u", _USER_COLUMNS), ("r", _ROLE_COLUMNS))
    for name in names
)
_AUTHOR: Final = f"""
SELECT {_COLUMNS} FROM accounts_account a JOIN accounts_user u ON u.account_id = a.id JOIN accounts_role r ON r.id = u.role_id
 WHERE a.id = %(id)s
"""  # noqa: S608 (constants)


def find_author(account_id: int) -> Account:
    """Return a local account with its user and role, in one query. Raises NotFound if there is no such account."""
    rows = rows_of(_AUTHOR, {"id": account_id})
    if not rows:
        raise NotFound
    (row,) = rows
    values = iter(row)
    account = _row_of(Account, _ACCOUNT_COLUMNS, list(islice(values, len(_ACCOUNT_COLUMNS))))
    user = _row_of(User, _USER_COLUMNS, list(islice(values, len(_USER_COLUMNS))))
    # The database returns JSON as text here, because only model fields parse it.
    user.preferences = json.loads(user.preferences)
    user.account, user.role = account, _row_of(Role, _ROLE_COLUMNS, list(values))
    return account


def _row_of(model: type[T], names: Sequence[str], values: Sequence[Any]) -> T:
    # Django expects values in the order of the model's fields.
    by_name = dict(zip(names, values, strict=True))
    ordered = [field.attname for field in model._meta.concrete_fields if field.attname in by_name]
    return model.from_db(connection.alias, ordered, [by_name[name] for name in ordered])
