"""When X is announced, do Y."""

from accounts.events import AccountRenamed
from social.kernel.events import on
from statuses.events import AnswersOutlived, BoostsOutlived
from statuses.services.changing import renew_mentions
from statuses.services.deleting import delete_more_boosts, detach_more_answers

on(AccountRenamed, renew_mentions, batch=1, seconds=120)
# Each call does one step and announces the next: other rows of the queue get their turn in between.
on(BoostsOutlived, delete_more_boosts, batch=1)
on(AnswersOutlived, detach_more_answers, batch=1)
