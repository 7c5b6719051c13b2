"""Reads the author of a new post, with only the columns of the account and its user that publishing needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from django.db import connection, models

from accounts.models import Account, User
from social.kernel.errors import NotFound
from social.kernel.statements import rows_of

T = TypeVar("T", bound=models.Model)

# The other columns of both rows are deferred: reading one of them takes a separate query.
_ACCOUNT_COLUMNS: Final = ("id", "username", "domain", "locked", "limited_at", "suspended_at")
_USER_COLUMNS: Final = (
    "id",
    "account_id",
    "locale",
    "default_privacy",
    "default_sensitive",
    "default_language",
    "default_quote_policy",
)
_AUTHOR: Final = f"""
SELECT {", ".join(f"a.{name}" for name in _ACCOUNT_COLUMNS)}, {", ".join(f"u.{name}" for name in _USER_COLUMNS)}
  FROM accounts_account a JOIN accounts_user u ON u.account_id = a.id WHERE a.id = %(id)s
"""  # noqa: S608 (constants)


def find_author(account_id: int) -> Account:
    """Return a local account with its user, in one query. Raises NotFound if there is no such account."""
    rows = rows_of(_AUTHOR, {"id": account_id})
    if not rows:
        raise NotFound
    (row,) = rows
    account = _row_of(Account, _ACCOUNT_COLUMNS, row[: len(_ACCOUNT_COLUMNS)])
    user = _row_of(User, _USER_COLUMNS, row[len(_ACCOUNT_COLUMNS) :])
    user.account = account
    return account


def _row_of(model: type[T], names: Sequence[str], values: Sequence[Any]) -> T:
    """Build a model instance from these columns. Django expects values in the order of the model's fields."""
    by_name = dict(zip(names, values, strict=True))
    ordered = [field.attname for field in model._meta.concrete_fields if field.attname in by_name]
    return model.from_db(connection.alias, ordered, [by_name[name] for name in ordered])
