"""What is thrown away on a schedule: codes and revoked tokens, sessions that are over, days of use of hashtags no history
shows, imports that ended, archives that expired, previous keys, what accounts had that have been suspended for long,
people who never confirmed their address, copies of files of other servers.
"""

from __future__ import annotations

from celery import shared_task

from accounts.services import (
    archives,
    importing,
    key_pairs,
    remote_copies,
    sanctions,
    sessions,
    sign_up_blocks,
    tags,
    tokens,
    unconfirmed,
)


@shared_task
def forget_ended_tokens() -> int:
    """Run `services.tokens.forget_ended_tokens`; queue "scheduler", once an hour."""
    return tokens.forget_ended_tokens()


@shared_task
def forget_tag_uses() -> int:
    """Run `services.tags.forget_old_uses` and `services.sign_up_blocks.forget_old_refusals`; queue "scheduler", once an
    hour.
    """
    return tags.forget_old_uses() + sign_up_blocks.forget_old_refusals()


@shared_task
def forget_ended_sessions() -> int:
    """Run `services.sessions.forget_ended_sessions`; queue "scheduler", once an hour."""
    return sessions.forget_ended_sessions()


@shared_task
def forget_imports() -> int:
    """Run `services.importing.forget_imports`; queue "scheduler", once an hour."""
    return importing.forget_imports()


@shared_task
def forget_previous_keys() -> int:
    """Run `services.key_pairs.forget_previous_keys`; queue "scheduler", once an hour."""
    return key_pairs.forget_previous_keys()


@shared_task
def forget_archives() -> int:
    """Run `services.archives.forget_archives`; queue "scheduler", once an hour."""
    return archives.forget_archives()


@shared_task
def erase_suspended() -> int:
    """Run `services.sanctions.erase_suspended`; queue "scheduler", once an hour."""
    return sanctions.erase_suspended()


@shared_task
def remove_unconfirmed() -> int:
    """Run `services.unconfirmed.remove_unconfirmed`; queue "scheduler", once an hour."""
    return unconfirmed.remove_unconfirmed()


@shared_task
def trim_remote_copies() -> int:
    """Run `services.remote_copies.trim_copies`; queue "scheduler", once a minute."""
    return remote_copies.trim_copies()
