"""Subscribes services to the events that call them."""

from accounts.events import AccountBlocked, AccountRenamed, FileReleased, RemoteCopyStored
from social.kernel.events import on
from statuses import events
from statuses.services.card_fetching import CARDS
from statuses.services.cards import attach_cards
from statuses.services.changing import renew_mentions
from statuses.services.deleting import delete_more_boosts, detach_more_answers
from statuses.services.processing import PROCESSING_SECONDS, process_media, process_released
from statuses.services.remote_files import complete_files, measure_files
from statuses.services.requests import reject_blocked
from statuses.services.scheduling import publish_due, send_failure_mails

on(AccountRenamed, renew_mentions, batch=1, seconds=120)
on(AccountBlocked, reject_blocked, batch=20)
# Each call does one step and publishes the event for the next step, so that other rows of the queue are handled in between.
on(events.BoostsOutlived, delete_more_boosts, batch=1)
on(events.ScheduledStatusDue, publish_due, batch=1, seconds=120)
on(events.ScheduledStatusFailed, send_failure_mails, queue="mailers", batch=5, seconds=90)
on(events.AnswersOutlived, detach_more_answers, batch=1)
on(RemoteCopyStored, complete_files, batch=1)
on(events.FilesUnmeasured, measure_files, batch=20)
on(FileReleased, process_released, queue="media", batch=1, seconds=60)
on(events.MediaUploaded, process_media, queue="media", batch=1, seconds=PROCESSING_SECONDS)
on(events.StatusPublished, attach_cards, when=lambda event: event.link)
on(events.StatusEdited, attach_cards)
on(events.StatusFetched, attach_cards)
CARDS.subscribe()
