"""Sends notifications by mail to users who want them, and summaries to users who are away.

Each notification is stored as an item, and a queue entry is created for its recipient (a `Mailing`, called turn). A turn sends
one mail about the items that are still wanted, visible and unread at that time, and queues another turn if items remain. If a
process is killed, nothing is lost, but one mail per recipient may arrive twice, with the same Message-ID.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import connection, transaction
from django.urls import reverse
from django.utils import translation

from accounts.models import User
from accounts.policies.audience import PRESENT
from accounts.policies.mails import NO_MAILS, NOTIFICATIONS, SUMMARIES, list_headers, type_switch
from accounts.queries.site_settings import find_site_title
from accounts.services.preferences import PreferencesChange, change_preferences
from notifications.events import MailsDue, NotificationMade
from notifications.models import Mailing, MailItem, MailRecord
from notifications.policies import mails as policy
from notifications.policies.titles import title_of
from notifications.queries.contents import Content, load_contents
from notifications.queries.mails import (
    CHOSEN_CONDITION,
    DAILY_CONDITION,
    TYPES_SQL,
    UNREAD_CONDITION,
    Mailbox,
    MailedNotification,
    find_mailbox,
    list_unread,
)
from social.kernel import clock, links, mail
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from social.kernel.identity import default_language
from social.kernel.runner import TERMS, Failed, Job, Steps, Work
from social.kernel.text.markup import plain
from timelines.services.broadcasting import listeners

ENTRIES_LIMIT: Final = 20
"""Maximum number of notifications that a mail about several notifications shows; further notifications are only counted."""

SUMMARIES_PER_HOUR: Final = 1000
"""Maximum number of users per hour who are checked for a summary, because mail servers limit the rate of mails."""

#: Maximum number of characters of a post in a mail about this post alone, and in a mail about several notifications.
TEXT_LIMIT: Final = 2000
EXCERPT_LIMIT: Final = 300
_SCAN_LIMIT: Final = 50
_UNREAD_LIMIT: Final = 1000
_PARAMETERS: Final = {
    "delay": policy.DELAY.total_seconds(),
    "hour": policy.HOUR.total_seconds(),
    "day": policy.DAY.total_seconds(),
    "single": policy.SINGLE_MAILS,
}
# Mails are sent in separate threads, because the threads of the network loop resolve host names for all senders.
_THREADS: Final = ThreadPoolExecutor(TERMS["mails"].at_once, thread_name_prefix="mails")

# A recipient who has got all mails allowed in an hour waits for the next hour. Existing rows are locked even if nothing
# changes, so that a row that is deleted at the same moment is inserted again. The statement locks rows in the order of their
# ids, as the runner does.
_MAKE_TURNS: Final = f"""
INSERT INTO notifications_mailing AS m (host, account_id, due_at)
SELECT %(host)s, u.account_id, GREATEST(
         min(n.created_at) + make_interval(secs => CASE WHEN {DAILY_CONDITION} THEN %(day)s::float8 ELSE %(delay)s::float8 END),
         CASE WHEN NOT {DAILY_CONDITION} AND max(r.sent) > %(single)s
              THEN max(r.began_at) + make_interval(secs => %(hour)s::float8) END)
  FROM {{items}} i
  JOIN notifications_notification n ON n.id = i.notification_id
  JOIN accounts_user u ON u.account_id = n.account_id
  LEFT JOIN notifications_mailrecord r ON r.account_id = n.account_id
  LEFT JOIN notifications_mailing e ON e.account_id = n.account_id
 GROUP BY u.id, e.id ORDER BY e.id, u.account_id
    ON CONFLICT (account_id) DO UPDATE
   SET due_at = excluded.due_at, dead_at = NULL, attempts = 0,
       created_at = CASE WHEN m.dead_at IS NULL THEN m.created_at ELSE statement_timestamp() END
 WHERE m.dead_at IS NOT NULL OR (m.attempts = 0 AND m.due_at > excluded.due_at)
"""  # noqa: S608 (constants)
_MAKE_ITEMS: Final = f"""
WITH made AS (
  INSERT INTO notifications_mailitem (account_id, notification_id)
  SELECT n.account_id, n.id FROM notifications_notification n JOIN accounts_user u ON u.account_id = n.account_id
   WHERE n.id = ANY(%(ids)s) AND NOT n.filtered AND {CHOSEN_CONDITION} ORDER BY n.account_id, n.id
      ON CONFLICT DO NOTHING RETURNING notification_id)
{_MAKE_TURNS.format(items="made")}
"""  # noqa: S608 (constants)
_MAKE_NEXT_TURNS: Final = _MAKE_TURNS.format(
    items="(SELECT notification_id FROM notifications_mailitem WHERE account_id = ANY(%(ids)s))"
)
# This statement uses the index on the users' last activity. The statement leaves out users with a queued turn, because each
# turn checks whether a summary is due.
_MAKE_TURNS_OF_ABSENT: Final = f"""
INSERT INTO notifications_mailing (host, account_id)
SELECT %(host)s, u.account_id FROM accounts_user u LEFT JOIN notifications_mailrecord r ON r.account_id = u.account_id
 WHERE u.active_at <= %(before)s AND u.active_at > %(after)s AND (r.summary_at IS NULL OR r.summary_at <= %(before)s)
   AND u.disabled_at IS NULL AND u.preferences ->> '{NOTIFICATIONS}' IS DISTINCT FROM '{NO_MAILS}'
   AND u.preferences -> '{SUMMARIES}' IS DISTINCT FROM 'false' AND {PRESENT.sql("u.account_id", has_viewer=False)}
   AND EXISTS (SELECT FROM notifications_notification n
                WHERE n.account_id = u.account_id AND n.created_at > GREATEST(u.active_at, r.summary_at)
                  AND n.type IN ({TYPES_SQL}) AND {UNREAD_CONDITION})
 ORDER BY u.active_at DESC LIMIT %(limit)s
    ON CONFLICT DO NOTHING
"""  # noqa: S608 (constants)


def queue_mails(events: Sequence[NotificationMade]) -> None:
    """Queue notifications for the recipients who want them by mail, without duplicates, in one statement and the caller's
    transaction. Publishes MailsDue if a turn was queued, restarted or brought forward.
    """
    if _execute(_MAKE_ITEMS, ids=[event.notification_id for event in events]):
        publish(MailsDue())


def queue_summaries() -> None:
    """Queue turns for users who are away and have unread notifications, at most SUMMARIES_PER_HOUR. Publishes MailsDue."""
    now = clock.now()
    with transaction.atomic():
        if _execute(
            _MAKE_TURNS_OF_ABSENT,
            before=now - policy.AWAY_AFTER,
            after=now - policy.LEFT_AFTER,
            limit=SUMMARIES_PER_HOUR,
        ):
            publish(MailsDue())


def _execute(statement: str, **values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"host": settings.EMAIL_HOST or "localhost", **_PARAMETERS, **values})
        return int(cursor.rowcount)


def _write(job: Job[Mailing]) -> Steps:
    letter = _next_letter(job.row.account_id)
    if letter is None:
        return
    host = job.row.host
    try:
        accepted = yield _handed_over(letter.mail)
    except mail.Refused as refusal:
        job.answers[host] = ""
        raise Failed(str(refusal)) from None
    except Unavailable as error:
        job.answers[host] = str(error)
        raise Failed(str(error)) from None
    job.answers[host] = ""
    if accepted:
        letter.note_sent()
    else:
        user = letter.mailbox.user
        change_preferences(user=user, change=PreferencesChange(refused_address=user.email))


async def _handed_over(letter: EmailMultiAlternatives) -> bool:
    return await asyncio.get_running_loop().run_in_executor(_THREADS, mail.hand_over, letter, "notification")


def _make_next_turns(rows: Sequence[Mailing]) -> None:
    """Queue another turn for recipients with remaining items. Items of a turn that was given up are deleted; they are all old,
    because a new item restarts the turn.
    """
    given_up = [row.account_id for row in rows if row.dead_at is not None]
    MailItem.objects.filter(account_id__one_of=given_up).delete()
    if ended := [row.account_id for row in rows if row.dead_at is None]:
        _execute(_MAKE_NEXT_TURNS, ids=ended)


MAILINGS: Final = Work(Mailing, lambda jobs: map(_write, jobs), _make_next_turns)


@dataclass(frozen=True)
class _Letter:
    """A mail, with the ids of the notifications that it covers. `summary`: it is about the time when the recipient was away."""

    mailbox: Mailbox
    mail: EmailMultiAlternatives
    reported: Collection[int]
    summary: bool = False

    def note_sent(self) -> None:
        with transaction.atomic():
            _forget(self.mailbox, self.reported)
            _count_mails(self.mailbox.record, summary=self.summary, mails=1)


def _next_letter(account_id: int) -> _Letter | None:
    """Return the mail that must be sent to an account now, or None; delete items that are no longer to be mailed."""
    while True:
        mailbox = find_mailbox(account_id)
        if mailbox is None:
            MailItem.objects.filter(account_id=account_id).delete()
            return None
        _forget(mailbox, mailbox.gone)
        now, user = clock.now(), mailbox.user
        is_here = policy.is_online(user.preferences, mailbox.seen_at, now) or (
            not user.preferences.get("mails_when_online") and bool(listeners([account_id]))
        )
        if is_here:
            _forget(mailbox, [item.id for item in mailbox.items])
            return None
        if not mailbox.items:
            return _summary(mailbox)
        form = policy.form_of(user.preferences, mailbox.record, mailbox.items[0].created_at, now)
        if form is policy.Form.NOTHING:
            return None
        candidates = (
            mailbox.items[:_SCAN_LIMIT] if form is policy.Form.SINGLE else mailbox.items[: -_SCAN_LIMIT - 1 : -1]
        )
        entries = _entries(candidates)
        if not entries:
            _forget(mailbox, [item.id for item in candidates])
        elif form is policy.Form.SINGLE:
            item, content = entries[0]
            return _Letter(
                mailbox, _single_mail(mailbox, item, content), [each.id for each in candidates if each.id <= item.id]
            )
        else:
            number = len(mailbox.items) - len(candidates) + len(entries)
            mail = _list_mail(mailbox, entries, number, NOTIFICATIONS)
            return _Letter(mailbox, mail, [item.id for item in mailbox.items])


def _summary(mailbox: Mailbox) -> _Letter | None:
    record, now = mailbox.record, clock.now()
    if not policy.is_summary_due(mailbox.user.preferences, record, mailbox.seen_at, now):
        return None
    since = max(mailbox.seen_at, record.summary_at or mailbox.seen_at)
    unread = list_unread(mailbox.user.account_id, since, _UNREAD_LIMIT)
    entries = _entries(unread[:_SCAN_LIMIT])
    if not entries:
        _count_mails(record, summary=True, mails=0)
        return None
    number = len(unread) - len(unread[:_SCAN_LIMIT]) + len(entries)
    return _Letter(mailbox, _list_mail(mailbox, entries, number, SUMMARIES), (), summary=True)


Entry = tuple[MailedNotification, Content]


def _entries(items: Sequence[MailedNotification]) -> list[Entry]:
    """Return the items that the recipient may read and has not filtered out."""
    contents = load_contents({item.subject for item in items})
    entries = [(item, contents[item.subject]) for item in items if item.subject in contents]
    return [(item, content) for item, content in entries if not content.is_hidden]


def _single_mail(mailbox: Mailbox, item: MailedNotification, content: Content) -> EmailMultiAlternatives:
    headers = {"Message-ID": mail.message_id(f"notification-{item.id}")}
    if content.post is not None:
        thread = mail.message_id(f"thread-{content.post.thread_root_id}")
        headers |= {"In-Reply-To": thread, "References": thread}
    return _compose(
        mailbox.user, "notification", type_switch(item.type), headers, lambda: _entry_values(item, content, TEXT_LIMIT)
    )


def _list_mail(mailbox: Mailbox, entries: Sequence[Entry], number: int, switch: str) -> EmailMultiAlternatives:
    newest = max(item.id for item, _content in entries)
    headers = {"Message-ID": mail.message_id(f"{switch.removesuffix('_mails')}-{mailbox.user.account_id}-{newest}")}

    def values() -> dict[str, Any]:
        items = [_entry_values(item, content, EXCERPT_LIMIT) for item, content in entries[:ENTRIES_LIMIT]]
        return {
            "entries": items,
            "title": items[0]["title"],
            "number": number,
            "others": number - 1,
            "more": number - len(items),
            "away": switch == SUMMARIES,
        }

    return _compose(mailbox.user, "notifications", switch, headers, values)


def _compose(
    user: User, template: str, switch: str, headers: Mapping[str, str], values: Callable[[], Mapping[str, Any]]
) -> EmailMultiAlternatives:
    """Return the mail in the language of its recipient; `values` is called while this language is active."""
    language = user.locale or default_language()
    unsubscribe, list_values = list_headers(user.pk, switch)
    with translation.override(language):
        context = {
            "username": user.account.username,
            "unsubscribe": unsubscribe,
            "choose": links.web_url(reverse("settings_notification_mails")),
            **values(),
        }
    return mail.compose(
        user.email, template, context, language, server_name=find_site_title(), headers={**headers, **list_values}
    )


def _entry_values(item: MailedNotification, content: Content, limit: int) -> dict[str, Any]:
    """Return the template values of a notification. For a post with a content warning, only the warning is included."""
    post = content.post
    text = "" if post is None else post.spoiler_text or plain(post.content)
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return {
        "title": title_of(item.type, f"@{content.sender.acct}"),
        "text": text,
        "quoted": mail.quoted(text),
        "warning": post is not None and bool(post.spoiler_text),
        "link": content.link,
    }


def _forget(mailbox: Mailbox, notification_ids: Collection[int]) -> None:
    if notification_ids:
        MailItem.objects.filter(account_id=mailbox.user.account_id, notification_id__one_of=notification_ids).delete()


def _count_mails(record: MailRecord, *, summary: bool, mails: int) -> None:
    # No lock is needed, because only the process that handles the recipient's turn writes the record.
    now = clock.now()
    sent_count = policy.count_this_hour(record, now)
    MailRecord.objects.update_or_create(
        account_id=record.account_id,
        defaults={
            "began_at": record.began_at if sent_count else now,
            "sent": sent_count + mails,
            "summary_at": now if summary else record.summary_at,
        },
    )
