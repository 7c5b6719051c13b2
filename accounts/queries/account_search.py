"""Finds accounts by the beginning of their names, in a bounded amount of work however many there are.

For every letter that somebody types a client asks again, and one or two letters fit a large part of all accounts. So not
all that fit are collected and sorted: the first in the order of usernames, those with such a word in their display name
(from three letters on, and where usernames do not suffice), the most followed ones and those that the viewer follows are,
each a bounded number from an index.
"""

from __future__ import annotations

import re
from typing import Any, Final

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Case, IntegerField, OuterRef, Q, QuerySet, Value, When

from accounts.policies.relations import blocked, blocked_by
from accounts.queries.accounts import list_accounts, split_address
from social.kernel.plans import IDS, Plan, Slot
from social.kernel.statements import fetch

FOUND: Final = 200
"""No more are ever found, whatever page is asked for."""

_WORD: Final = re.compile(r"[^\W_]+")
_LETTERS_OF_A_WORD: Final = 3

# Without an upper end of the range: for a narrow one the planner collects and sorts all that fit, and misjudges how many.
_NAMED: Final = """
WITH named AS MATERIALIZED (
  SELECT id FROM (SELECT id, username FROM accounts_account
                   WHERE lower(username) COLLATE "C" >= lower(%(text)s) AND suspended_at IS NULL
                   ORDER BY lower(username) COLLATE "C" LIMIT 300) n
   WHERE starts_with(lower(username), lower(%(text)s)))"""
_BY_USERNAME: Final = "(SELECT id FROM named)"
_BY_ADDRESS: Final = """
(SELECT id FROM accounts_account
  WHERE lower(username) = lower(%(username)s) AND lower(COALESCE(domain, '')) = %(domain)s AND suspended_at IS NULL)"""
# A common word fits tens of thousands, who cost as much as everything else; then usernames have filled their share already.
_BY_WORDS: Final = """
(SELECT id FROM accounts_account
  WHERE (SELECT count(*) FROM named) < 300
    AND to_tsvector('simple'::regconfig, COALESCE(display_name, '')) @@ to_tsquery('simple', %(words)s)
    AND suspended_at IS NULL LIMIT 300)"""
_FITS: Final = """a.suspended_at IS NULL AND (starts_with(lower(a.username), lower(%(text)s))
    OR starts_with(lower(a.display_name), lower(%(text)s)) OR strpos(lower(a.display_name), ' ' || lower(%(text)s)) > 0)"""
# The ids stand in arrays, and counters are asked for one by one: joined, whole tables would be read where they are small.
_POPULAR: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT account_id FROM accounts_accountstat WHERE followers_count > 0
                          ORDER BY followers_count DESC LIMIT 500)) AND {_FITS})"""  # noqa: S608 (constants)
_FOLLOWED: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT target_id FROM accounts_follow WHERE account_id = %(viewer)s
                          ORDER BY id DESC LIMIT 500)) AND {_FITS})"""  # noqa: S608 (constants)
_ALL_FOLLOWED: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT target_id FROM accounts_follow WHERE account_id = %(viewer)s)) AND {_FITS})"""  # noqa: S608 (constants)
_MOST_FOLLOWED_OF: Final = f"""{_NAMED}
SELECT id, id IN {_BY_ADDRESS} AS exact FROM ({{candidates}}) c
 ORDER BY exact DESC, (SELECT followers_count FROM accounts_accountstat WHERE account_id = c.id) DESC NULLS LAST, id
 LIMIT %(found)s"""  # noqa: S608 (constants)

_VIEWER: Final = Slot("viewer", BigIntegerField())
_EXACT: Final = Slot("exact", ArrayField(BigIntegerField()))


def _shown_to_viewer(*, following: bool) -> QuerySet[Any, int]:
    exact = Q(id__one_of=_EXACT)
    found = list_accounts().prefetch_related(None).select_related(None).filter(id__one_of=IDS)
    found = found.exclude(blocked_by(_VIEWER, OuterRef("id"))).filter(exact | ~blocked(_VIEWER, OuterRef("id")))
    if following:
        found = found.filter(followers__account_id=_VIEWER)
    rank = Case(When(exact, then=Value(0)), default=Value(1), output_field=IntegerField())
    return found.annotate(rank=rank).order_by("rank", "-stat__followers_count", "id").values_list("id", flat=True)


#: By whether only whom the viewer follows is wanted.
_SHOWN: Final[dict[bool, Plan[int]]] = {
    False: Plan(lambda: _shown_to_viewer(following=False)),
    True: Plan(lambda: _shown_to_viewer(following=True)),
}


def search_accounts(query: str, *, viewer_id: int, following: bool = False) -> list[int]:
    """The ids of accounts whose username, or a word of whose display name, begins with the query: the one with this exact
    address first, then the most followed. An address with a domain is found as a whole only. At most FOUND; two queries.

    Who has blocked the viewer is not found (SEED-128); whom the viewer has blocked is found by the exact address only.
    With `following` among those alone whom the viewer follows.
    """
    text = query.strip().removeprefix("@")
    if not text or "\0" in text:
        return []
    candidates = _candidates(text, viewer_id, following=following)
    if not candidates:
        return []
    exact = [number for number, is_exact in candidates.items() if is_exact]
    return _SHOWN[following].run(ids=list(candidates), exact=exact, viewer=viewer_id)


def _candidates(text: str, viewer_id: int, *, following: bool) -> dict[int, bool]:
    """The ids of everybody who fits, and whether this is the exact address of each."""
    pair = split_address(text)
    username, domain = pair if pair is not None else ("", None)
    parts = [_BY_ADDRESS]
    words = _WORD.findall(text)
    if pair is None or "@" not in text:
        parts += [_ALL_FOLLOWED] if following else [_BY_USERNAME, _POPULAR, _FOLLOWED]
        if not following and max(map(len, words), default=0) >= _LETTERS_OF_A_WORD:
            parts.append(_BY_WORDS)
    values: dict[str, Any] = {
        "text": text,
        "username": username,
        "domain": domain or "",
        "words": " & ".join([*words[:-1], f"{words[-1]}:*"]) if words else "",
        "viewer": viewer_id,
        "found": FOUND,
    }
    return dict(fetch(_MOST_FOLLOWED_OF.format(candidates=" UNION ".join(parts)), values))
