"""Dry runs of spam rules: what a rule would have matched in the last days."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from accounts.models import User
from accounts.spam.models import RuleSubject, SpamRule
from accounts.spam.policies import PostFacts, SignUpFacts, SpamRules
from social.kernel import clock
from social.kernel.ids import MAX_ID, first_at, moment_of
from social.kernel.links import profile_url
from social.kernel.statements import Value, rows_of
from social.kernel.text.markup import plain
from social.kernel.text.names import normalise_domain
from statuses.models import MediaType
from statuses.policies.cards import find_hosts, home_of
from statuses.policies.posts import READ_COLUMNS, read_as_text
from statuses.policies.visibility import OPEN_VISIBILITIES

DAYS: Final = 30
POSTS_LIMIT: Final = 200_000
"""Maximum number of posts that one dry run reads, the newest first."""

SECONDS_LIMIT: Final = 60.0
"""Time limit of one dry run."""

SAMPLES_LIMIT: Final = 20
_BATCH: Final = 1000
_WORDS: Final = 200

_POSTS: Final = f"""
SELECT s.id, s.account_id, s.local, s.visibility, s.created_at,
       ARRAY[{", ".join(f"s.{name}" for name in READ_COLUMNS)}], s.content, a.username, a.domain, a.uri,
       (SELECT array_agg(f.remote_url) FROM statuses_mediaattachment f WHERE f.status_id = s.id AND f.type = %(unknown)s)
         || s.url,
       (SELECT array_agg(DISTINCT address) FROM statuses_mention m JOIN accounts_account t ON t.id = m.account_id,
               unnest(ARRAY[t.uri, NULLIF(t.url, ''), CASE WHEN t.domain IS NULL THEN %(pages)s || t.username END]) address
         WHERE m.status_id = s.id),
       (SELECT count(*) FROM statuses_mention m WHERE m.status_id = s.id AND NOT m.silent),
       (SELECT string_agg(f.description, E'\\n') FROM statuses_mediaattachment f WHERE f.status_id = s.id),
       (SELECT array_to_string(p.options, E'\\n') FROM statuses_poll p WHERE p.status_id = s.id)
  FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
 WHERE s.id < %(before)s AND s.id >= %(since)s AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL
 ORDER BY s.id DESC LIMIT %(limit)s
"""  # noqa: S608 (names of columns that stand in the code)
# Posts by strangers: none of the mentioned accounts follows the author now, and none had mentioned the author in an
# earlier post.
_STRANGERS: Final = """
SELECT s.id FROM unnest(%(ids)s::bigint[]) wanted(id) JOIN statuses_status s ON s.id = wanted.id
 WHERE NOT EXISTS (SELECT FROM statuses_mention m JOIN accounts_follow f
                       ON f.account_id = m.account_id AND f.target_id = s.account_id WHERE m.status_id = s.id)
   AND NOT EXISTS (SELECT FROM statuses_mention m JOIN statuses_status earlier ON earlier.account_id = m.account_id
                     JOIN statuses_mention back ON back.status_id = earlier.id AND back.account_id = s.account_id
                    WHERE m.status_id = s.id AND earlier.id < s.id)
"""

Progress = Callable[[int], None]
"""Function that is called at intervals with the number of rows read so far."""


@dataclass(frozen=True, slots=True)
class Caught:
    """A post (`status_id`) or sign-up that a rule would have matched. `words` is empty for a post that is not public."""

    account_id: int
    address: str
    moment: datetime
    words: str
    status_id: int | None = None


@dataclass
class DryRun:
    """Result of a dry run: the numbers of rows read (`looked_at`) and of matches (`met`), the newest matches, and the
    matched accounts. `complete` is false if a limit ended the run early.
    """

    since: datetime
    looked_at: int = 0
    met: int = 0
    account_ids: set[int] = field(default_factory=set)
    samples: list[Caught] = field(default_factory=list)
    complete: bool = True


def try_rule(
    rule: SpamRule, *, days: int = DAYS, limit: int = POSTS_LIMIT, seconds: float = SECONDS_LIMIT,
    progress: Progress | None = None,
) -> DryRun:  # fmt: skip
    """Match the posts, or the sign-ups, of the last days against a rule, which may be unsaved, in batches of 1000.

    Nothing is written. At most two statements per batch; the run ends after `limit` rows or `seconds`.
    """
    since = clock.now() - timedelta(days=days)
    dry_run = DryRun(since)
    until = time.monotonic() + seconds
    batches = _posts(rule, since, limit) if rule.subject == RuleSubject.POSTS else _sign_ups(rule, since, limit)
    for looked_at, reached, caught in batches:
        dry_run.looked_at += looked_at
        dry_run.met += len(caught)
        dry_run.account_ids |= {match.account_id for match in caught}
        dry_run.samples += caught[: SAMPLES_LIMIT - len(dry_run.samples)]
        if progress is not None:
            progress(dry_run.looked_at)
        if dry_run.looked_at >= limit or time.monotonic() > until:
            dry_run.complete, dry_run.since = False, reached
            break
    return dry_run


_Batch = tuple[int, datetime, list[Caught]]


def _posts(rule: SpamRule, since: datetime, limit: int) -> Iterator[_Batch]:
    rules, before = SpamRules([rule]), MAX_ID
    while True:
        values: dict[str, Value] = {
            "before": before,
            "since": first_at(since),
            "limit": min(_BATCH, limit),
            "unknown": MediaType.UNKNOWN.value,
            "pages": profile_url(""),
        }
        rows = rows_of(_POSTS, values)
        if not rows:
            return
        before = rows[-1][0]
        met = [row for row in rows if rules.met_by_post(_facts(row), lambda: True)]
        if rule.first_contact and met:
            strangers = {number for (number,) in rows_of(_STRANGERS, {"ids": [row[0] for row in met]})}
            met = [row for row in met if row[0] in strangers]
        yield len(rows), rows[-1][4], [_caught_post(row) for row in met]


def _facts(row: Sequence[Any]) -> PostFacts:
    _, account_id, local, _, created_at, texts, content, _, domain, uri, links, people, mentions, *others = row
    return PostFacts(
        text=read_as_text(texts, content, *others),
        hosts=find_hosts(content, links or (), home=home_of(domain, uri), people=people or ()),
        mentions=mentions,
        age=max(created_at - moment_of(account_id), timedelta()),
        local=local,
    )


def _caught_post(row: Sequence[Any]) -> Caught:
    status_id, account_id, _local, visibility, created_at, _texts, content, username, domain, *_others = row
    words = plain(content)[:_WORDS] if visibility in OPEN_VISIBILITIES else ""
    return Caught(account_id, f"@{username}@{domain}" if domain else f"@{username}", created_at, words, status_id)


def _sign_ups(rule: SpamRule, since: datetime, limit: int) -> Iterator[_Batch]:
    rules, before = SpamRules([rule]), MAX_ID
    while True:
        rows = User.objects.select_related("account").filter(created_at__gte=since, id__lt=before).order_by("-id")
        users = list(rows[: min(_BATCH, limit)])
        if not users:
            return
        before = users[-1].id
        caught = []
        for user in users:
            domain, reason = normalise_domain(user.email.rpartition("@")[2]) or "", user.sign_up_reason
            if rules.met_by_sign_up(SignUpFacts(reason, domain, user.sign_up_ip)):
                address = f"@{user.account.username}"
                caught.append(Caught(user.account_id, address, user.created_at, reason[:_WORDS]))
        yield len(users), users[-1].created_at, caught
