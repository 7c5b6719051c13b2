"""Reads accounts for discovery: search by prefix, the directory, and suggestions (contract, behaviours section 14).

One or two letters match a large part of all accounts. A search therefore takes a bounded number of accounts from each of
several indexes: the first by username, the most followed, those that the viewer follows and, from three letters on, those with
a matching word in their display name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When

from accounts.models import Account, AccountStat, DismissedSuggestion, Follow, FollowRequest, SuppressedSuggestion, User
from accounts.policies.audience import PRESENT, is_present
from accounts.policies.relations import blocked, blocked_by
from accounts.queries.accounts import by_address, list_accounts, split_address
from accounts.queries.relations import load_hidden
from accounts.queries.site_settings import find_suggested_accounts
from social.kernel.plans import IDS, Plan, Slot
from social.kernel.statements import rows_of

SUGGESTIONS_LIMIT: Final = 80
"""Maximum number of suggestions across all pages."""
FOLLOWS_LOOKED_AT: Final = 150
"""Number of the viewer's most recently followed accounts whose own follows are considered as suggestions."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An account, with the API's name for the reason why it is suggested."""

    account_id: int
    source: str


# Number of accounts that are considered for each kind of suggestion. The query below counts the latest follows of the
# viewer's latest follows.
_CANDIDATES: Final = 1000
_FRIENDS_OF_FRIENDS: Final = f"""
SELECT f.target_id, count(*)
  FROM unnest(ARRAY(SELECT target_id FROM accounts_follow WHERE account_id = %(viewer)s
                     ORDER BY id DESC LIMIT {FOLLOWS_LOOKED_AT})) friend (id)
 CROSS JOIN LATERAL (
   SELECT target_id FROM accounts_follow WHERE account_id = friend.id ORDER BY id DESC LIMIT 500) f
 WHERE (SELECT hide_collections IS NOT TRUE FROM accounts_account WHERE id = friend.id) AND f.target_id <> %(viewer)s
   AND NOT EXISTS (SELECT 1 FROM accounts_follow mine WHERE mine.account_id = %(viewer)s AND mine.target_id = f.target_id)
 GROUP BY f.target_id ORDER BY count(*) DESC, f.target_id DESC LIMIT {_CANDIDATES}
"""  # noqa: S608 (constants)


def list_directory(viewer_id: int | None, *, order: str, local: bool) -> QuerySet[Account]:
    """List discoverable accounts by last post (`order` "active"), newest first ("new") or unordered; with `local`, only local
    accounts.

    Limited, suspended and moved accounts are left out, as are accounts without any post or follow, accounts that the viewer
    blocks or mutes, and accounts that block the viewer.
    """
    accounts = _discoverable().filter(stat__isnull=False)
    if local:
        # The statement starts from the users, because local accounts may be rare among all accounts.
        accounts = accounts.filter(domain=None, user__isnull=False)
    if viewer_id is not None:
        accounts = _not_hidden(accounts, viewer_id)
    if order == "active":
        return accounts.order_by(F("stat__last_status_at").desc(nulls_last=True), "-id")
    return accounts.order_by("-id") if order == "new" else accounts


def load_suggestions(viewer_id: int) -> list[Suggestion]:
    """Load suggestions for the viewer: accounts that staff have chosen, then follows of the viewer's latest follows,
    then the most followed accounts.

    Returns at most SUGGESTIONS_LIMIT suggestions, chosen from _CANDIDATES of each kind, and takes four queries (six if staff
    have chosen accounts). Accounts that the viewer follows, has requested to follow, blocks, mutes or has dismissed are left
    out, and so are those that staff suppress.
    """
    allowed = _suggestable(viewer_id, _recommendable())
    offered = _offered_ids(viewer_id)
    followed: dict[int, int] = dict(rows_of(_FRIENDS_OF_FRIENDS, {"viewer": viewer_id}))
    counted = allowed.filter(id__one_of=list(followed)).values_list("id", "stat__followers_count") if followed else ()
    friends = [
        number
        for _friends, _followers, number in sorted(
            ((followed[number], followers or 0, number) for number, followers in counted), reverse=True
        )
    ][:SUGGESTIONS_LIMIT]
    popular: Sequence[int] = []
    if len(friends) < SUGGESTIONS_LIMIT:
        popular = list(_most_followed(allowed).values_list("id", flat=True)[:SUGGESTIONS_LIMIT])
    sources = dict.fromkeys(popular, "most_followed") | dict.fromkeys(friends, "friends_of_friends")
    sources |= dict.fromkeys(offered, "featured")
    found = dict.fromkeys([*offered, *friends, *popular])
    return [Suggestion(number, sources[number]) for number in found][:SUGGESTIONS_LIMIT]


def list_recommended() -> QuerySet[Account]:
    """List the accounts that are suggested to everybody, the most followed first; suppressed accounts are left out."""
    return _most_followed(_recommendable())


def _most_followed(accounts: QuerySet[Account]) -> QuerySet[Account]:
    most = AccountStat.objects.filter(followers_count__gt=0).order_by("-followers_count")
    candidates = ArraySubquery(most.values("account_id")[:_CANDIDATES])
    return accounts.filter(id__one_of=candidates).order_by("-stat__followers_count", "-id")


def _offered_ids(viewer_id: int) -> list[int]:
    """Return the ids of the accounts that staff have chosen for newcomers, whether or not the accounts are discoverable."""
    pairs = [pair for pair in map(split_address, find_suggested_accounts()) if pair is not None]
    if not pairs:
        return []
    accounts = by_address(pairs)
    lowered = [(username.lower(), domain) for username, domain in pairs]
    ids = [accounts[pair].id for pair in lowered if pair in accounts]
    allowed = set(_suggestable(viewer_id, _followable()).filter(id__one_of=ids).values_list("id", flat=True))
    return [number for number in ids if number in allowed]


def _followable() -> QuerySet[Account]:
    """List accounts that can be followed: not limited, suspended or moved, and usable by their users if they are local."""
    # The users are in a subquery, which is evaluated only for local accounts; a join would look for the user of every account.
    unconfirmed = EmailAddress.objects.filter(user=OuterRef("id"), primary=True, verified=False)
    users = User.objects.filter(account_id=OuterRef("id"), approved=True, disabled_at=None).exclude(Exists(unconfirmed))
    in_use = Q(domain__isnull=False) | Exists(users)
    return Account.objects.filter(in_use, is_present(), deleted_at=None, limited_at=None, moved_to=None)


def _discoverable() -> QuerySet[Account]:
    return _followable().filter(discoverable=True)


def _recommendable() -> QuerySet[Account]:
    return _discoverable().exclude(Exists(SuppressedSuggestion.objects.filter(account_id=OuterRef("id"))))


def _suggestable(viewer_id: int, accounts: QuerySet[Account]) -> QuerySet[Account]:
    shown = _not_hidden(accounts, viewer_id)
    return (
        shown.exclude(id=viewer_id)
        .exclude(Exists(Follow.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
        .exclude(Exists(FollowRequest.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
        .exclude(Exists(DismissedSuggestion.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
    )


def _not_hidden(accounts: QuerySet[Account], viewer_id: int) -> QuerySet[Account]:
    # The ids are in arrays, because the planner would expect a subquery to exclude half of all accounts, and would therefore
    # read all accounts.
    hidden = load_hidden(viewer_id)
    people = [*hidden.blocking, *hidden.blocked_by, *hidden.muting]
    return accounts.filter(id__none_of=people, domain__none_of=list(hidden.domains))


_WORD: Final = re.compile(r"[^\W_]+")
_WORDS: Final = "to_tsvector('simple'::regconfig, COALESCE(display_name, '')) @@ to_tsquery('simple', %(words)s)"
_NAMED_SO: Final = f"SELECT id FROM accounts_account WHERE {_WORDS} LIMIT %(limit)s"  # noqa: S608 (constants)


def find_named(text: str, limit: int) -> list[int]:
    """Return the ids of accounts, in any state, with these words in their display names, the last word as a prefix."""
    words = _words_of(text)
    return [number for (number,) in rows_of(_NAMED_SO, {"words": words, "limit": limit})] if words else []


def _words_of(text: str) -> str:
    """Build PostgreSQL's search query for the words of a text, the last one as a prefix; empty if there are none."""
    words = _WORD.findall(text)
    return " & ".join([*words[:-1], f"{words[-1]}:*"]) if words else ""


CANDIDATES_LIMIT: Final = 200
"""Maximum number of search results across all pages."""
_LETTERS_OF_A_WORD: Final = 3
_PRESENT: Final = PRESENT.sql("id", has_viewer=False, joined="accounts_account")

# The range of usernames has no upper bound. For a narrow range, the planner misjudges the number of matches, and then collects
# and sorts them instead of reading the index in order.
_NAMED: Final = f"""
WITH named AS MATERIALIZED (
  SELECT id FROM (SELECT id, username FROM accounts_account
                   WHERE lower(username) COLLATE "C" >= lower(%(text)s) AND {_PRESENT}
                   ORDER BY lower(username) COLLATE "C" LIMIT 300) n
   WHERE starts_with(lower(username), lower(%(text)s)))"""  # noqa: S608 (constants)
_USERNAME_MATCHES: Final = "(SELECT id FROM named)"
_ADDRESS_MATCHES: Final = f"""
(SELECT id FROM accounts_account
  WHERE lower(username) = lower(%(username)s) AND lower(COALESCE(domain, '')) = %(domain)s AND {_PRESENT})"""  # noqa: S608 (constants)

# A common word matches tens of thousands of accounts. Words are therefore searched only if few usernames match.
_WORD_MATCHES: Final = f"""
(SELECT id FROM accounts_account
  WHERE (SELECT count(*) FROM named) < 300
    AND {_WORDS}
    AND {_PRESENT} LIMIT 300)"""  # noqa: S608 (constants)
_NAME_CONDITION: Final = f"""{PRESENT.sql("a.id", has_viewer=False, joined="a")}
    AND (starts_with(lower(a.username), lower(%(text)s))
    OR starts_with(lower(a.display_name), lower(%(text)s)) OR strpos(lower(a.display_name), ' ' || lower(%(text)s)) > 0)"""

# The ids are in arrays and the counters in scalar subqueries, because joins would read small tables completely.
_POPULAR: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT account_id FROM accounts_accountstat WHERE followers_count > 0
                          ORDER BY followers_count DESC LIMIT 500)) AND {_NAME_CONDITION})"""  # noqa: S608 (constants)
_FOLLOWED: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT target_id FROM accounts_follow WHERE account_id = %(viewer)s
                          ORDER BY id DESC LIMIT 500)) AND {_NAME_CONDITION})"""  # noqa: S608 (constants)
_FOLLOWED_ACCOUNTS: Final = f"""
(SELECT a.id FROM accounts_account a
  WHERE a.id = ANY(ARRAY(SELECT target_id FROM accounts_follow WHERE account_id = %(viewer)s)) AND {_NAME_CONDITION})"""  # noqa: S608 (constants)
_RANKING: Final = f"""{_NAMED}
SELECT id, id IN {_ADDRESS_MATCHES} AS exact FROM ({{candidates}}) c
 ORDER BY exact DESC, (SELECT followers_count FROM accounts_accountstat WHERE account_id = c.id) DESC NULLS LAST, id
 LIMIT %(found)s"""  # noqa: S608 (constants)
_VIEWER: Final = Slot("viewer", BigIntegerField())
_EXACT: Final = Slot("exact", ArrayField(BigIntegerField()))


def _shown_to_viewer(*, following: bool) -> QuerySet[Any, int]:
    exact = Q(id__one_of=_EXACT)
    accounts = list_accounts().prefetch_related(None).select_related(None).filter(id__one_of=IDS)
    accounts = accounts.exclude(blocked_by(_VIEWER, OuterRef("id"))).filter(exact | ~blocked(_VIEWER, OuterRef("id")))
    if following:
        accounts = accounts.filter(followers__account_id=_VIEWER)
    rank = Case(When(exact, then=Value(0)), default=Value(1), output_field=IntegerField())
    return (
        accounts.annotate(rank=rank)
        .order_by("rank", F("stat__followers_count").desc(nulls_last=True), "id")
        .values_list("id", flat=True)
    )


#: The keys say whether only accounts that the viewer follows are searched.
_SHOWN_TO_VIEWER: Final[dict[bool, Plan[int]]] = {
    False: Plan(lambda: _shown_to_viewer(following=False)),
    True: Plan(lambda: _shown_to_viewer(following=True)),
}


def search_accounts(query: str, *, viewer_id: int, following: bool = False) -> list[int]:
    """Return the ids of accounts whose username begins with the query, or whose display name has a word that begins with the
    query.

    The account whose address is exactly the query comes first, then the most followed accounts; an address with a domain has to
    match exactly. Returns at most CANDIDATES_LIMIT ids, and takes two queries. Accounts that block the viewer are not found
    (SEED-128). Accounts that the viewer blocks are found only by their exact address. With `following` only accounts that the
    viewer follows are found.
    """
    text = query.strip().removeprefix("@")
    if not text or "\0" in text:
        return []
    candidates = _candidates(text, viewer_id, following=following)
    if not candidates:
        return []
    exact = [number for number, is_exact in candidates.items() if is_exact]
    return _SHOWN_TO_VIEWER[following].run(ids=list(candidates), exact=exact, viewer=viewer_id)


def _candidates(text: str, viewer_id: int, *, following: bool) -> dict[int, bool]:
    """Return the ids of matching accounts, each mapped to whether the text is the account's exact address."""
    pair = split_address(text)
    username, domain = pair if pair is not None else ("", None)
    parts = [_ADDRESS_MATCHES]
    words = _WORD.findall(text)
    if pair is None or "@" not in text:
        parts += [_FOLLOWED_ACCOUNTS] if following else [_USERNAME_MATCHES, _POPULAR, _FOLLOWED]
        if not following and max(map(len, words), default=0) >= _LETTERS_OF_A_WORD:
            parts.append(_WORD_MATCHES)
    values: dict[str, Any] = {
        "text": text,
        "username": username,
        "domain": domain or "",
        "words": _words_of(text),
        "viewer": viewer_id,
        "found": CANDIDATES_LIMIT,
    }
    return dict(rows_of(_RANKING.format(candidates=" UNION ".join(parts)), values))
