"""Checks posts against the spam rules before they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import connection

from accounts.models import User
from accounts.spam.models import RuleSubject, SpamRule
from accounts.spam.policies import PostFacts, is_held
from accounts.spam.queries import load_rules
from accounts.spam.services.matches import record_matches
from accounts.spam.services.rules import limit_by_rules
from social.kernel import clock
from social.kernel.ids import moment_of
from statuses.models import MediaAttachment, MediaType, Poll, Status
from statuses.policies.cards import find_hosts, home_of
from statuses.policies.posts import READ_COLUMNS, read_as_text
from statuses.services.storing import Composed

# True if none of the mentioned accounts follows the author, has requested to follow, or has ever mentioned the author.
_FIRST_CONTACT: Final = """
SELECT NOT EXISTS (SELECT FROM accounts_follow WHERE account_id = ANY(%(mentioned)s) AND target_id = %(author)s)
   AND NOT EXISTS (SELECT FROM accounts_followrequest WHERE account_id = ANY(%(mentioned)s) AND target_id = %(author)s)
   AND NOT EXISTS (SELECT FROM statuses_mention m JOIN statuses_status s ON s.id = m.status_id
                    WHERE m.account_id = %(author)s AND s.account_id = ANY(%(mentioned)s))
"""


@dataclass(frozen=True)
class Screening:
    """Spam rules that a post matches, and the facts about the post that were compared with the rules."""

    rules: Sequence[SpamRule] = ()
    facts: PostFacts | None = None

    @property
    def held_by(self) -> SpamRule | None:
        """Return the rule that holds the post for review, or None."""
        return is_held(self.rules)


UNSCREENED: Final = Screening()
"""Screening of a post that matches no rule, or that was not checked."""


def screen(new: Composed, words: Sequence[str] = ()) -> Screening:
    """Return the rules that a post matches, with `words` as further texts; none for local staff. Four statements at most."""
    rules = load_rules(RuleSubject.POSTS)
    if not rules:
        return UNSCREENED
    facts = _facts(new, words)
    met = rules.met_by_post(facts, lambda: _is_first_contact(new))
    if met and new.author.local and _is_staff(new.author.id):
        met = []
    return Screening(met, facts)


def limit_author(new: Composed, screening: Screening) -> list[SpamRule]:
    """Limit the author if a rule demands it, and return the rules that demanded it, for `note_stored`. Called before the post
    is stored.
    """
    return limit_by_rules(new.author, screening.rules)


def note_stored(status: Status, screening: Screening, limited_by: Sequence[SpamRule]) -> None:
    """Record the rules that a stored post matched, in the caller's transaction."""
    if screening.rules:
        record_matches(account_id=status.account_id, rules=screening.rules, limited_by=limited_by, status_id=status.id)


def screen_edit(status: Status, new: Composed, words: Sequence[str] = ()) -> Screening:
    """Return the rules that an edit matches; no rules if the text is unchanged. `words` are the edit's file descriptions."""
    screening = screen(new, words)
    if screening.facts is not None and screening.rules and screening.facts.text == _text_of(status):
        return UNSCREENED
    return screening


def _text_of(status: Status) -> str:
    files = MediaAttachment.objects.filter(status_id=status.id).order_by("position", "id")
    options = Poll.objects.filter(status_id=status.id).values_list("options", flat=True).first() or ()
    texts = [getattr(status, name) for name in READ_COLUMNS]
    return read_as_text(texts, status.content, *options, *files.values_list("description", flat=True))


def _facts(new: Composed, words: Sequence[str]) -> PostFacts:
    described: list[str | None] = [file.description for file in new.files]
    if new.media_ids:
        rows = MediaAttachment.objects.filter(id__one_of=list(new.media_ids), account_id=new.author.id)
        described += rows.values_list("description", flat=True)
    options = new.poll.options if new.poll is not None else ()
    return PostFacts(
        text=read_as_text(new.read_texts, new.content, *options, *described, *words),
        hosts=find_hosts(
            new.content,
            (new.url, *(file.url for file in new.files if file.type == MediaType.UNKNOWN)),
            home=home_of(new.author.domain, new.author.uri),
            people={address for one in new.mentions for address in (one.uri, one.page_url)},
        ),
        mentions=max(len(new.mentions) - len(new.silent), new.named_count),
        age=clock.now() - moment_of(new.author.id),
        local=new.author.local,
    )


def _is_first_contact(new: Composed) -> bool:
    mentioned = [account.id for account in new.mentions]
    if new.parent is not None and new.parent.account_id != new.author.id:
        mentioned.append(new.parent.account_id)
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_CONTACT, {"mentioned": mentioned, "author": new.author.id})
        (answer,) = cursor.fetchone()
    return bool(answer)


def _is_staff(account_id: int) -> bool:
    user = User.objects.select_related("role").filter(account_id=account_id).first()
    return user is not None and user.is_staff
