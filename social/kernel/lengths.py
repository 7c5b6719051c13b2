"""Limits on the lengths of texts in the database: each table declares them once, and PostgreSQL refuses longer texts. Services
cut or refuse longer texts earlier, with a reason; the constraint is the last safeguard (security row 33).
`tests/security/test_columns.py` checks every column in PostgreSQL.
"""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, models
from django.db.models import Transform

WORD_LIMIT: Final = 64  # words that this program chooses: types, states, kinds, languages
NAME_LIMIT: Final = 255  # names that people give, digests and short keys
HOST_LIMIT: Final = 260  # a host with its port: 253 characters and six (RFC 1035 section 2.3.4)
# Ids and addresses on the web; longer ids from other servers are refused earlier: `federation.documents.reading.MAX_URI`.
URI_LIMIT: Final = 2048
ADDRESS_LIMIT: Final = 2400  # addresses of accounts: the longest remote username, an @ and a host
HTML_LIMIT: Final = 200_000  # HTML, rendered or received; `social.kernel.text.sanitize` returns less than this
PATH_LIMIT: Final = 1024  # paths in the media storage, which are all chosen by this server
DOCUMENT_LIMIT: Final = 1 << 20  # documents that servers send each other: `federation.documents.reading.MAX_BYTES`
MESSAGE_LIMIT: Final = 2000  # reasons and error messages, which are truncated before they are stored
OBJECT_LIMIT: Final = 1_000_000  # objects and lists as JSON whose parts have limits of their own


class TextLength(Transform):
    """Number of characters of a value as PostgreSQL writes it; for JSON and arrays this includes the punctuation."""

    lookup_name = "text_length"
    function = "LENGTH"
    template = "%(function)s((%(expressions)s)::text)"
    output_field = models.IntegerField()


for _kind in (models.CharField, models.TextField, models.JSONField, ArrayField):
    _kind.register_lookup(TextLength)


def lengths(name: str, /, **limits: int) -> models.CheckConstraint:
    """Return the constraint `name`: a value of a column in `limits` has at most that many characters; NULL is allowed."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{column}__{TextLength.lookup_name}__lte": limit for column, limit in limits.items()}),
        name=name,
    )


def is_refused_value(error: DatabaseError) -> bool:
    """Tell whether the database refused the value itself, for example because of its length.

    Every retry would then fail as well.

    PostgreSQL's codes for this are check_violation, string_data_right_truncation, program_limit_exceeded (a value too long for
    an index).
    """
    return getattr(error.__cause__, "sqlstate", None) in ("23514", "22001", "54000")
