"""When X is announced, do Y."""

from accounts.events import AccountRenamed
from social.kernel.events import on
from statuses.services.changing import renew_mentions

on(AccountRenamed, renew_mentions, batch=1, seconds=120)
