"""Changes posts written on this server."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language

from accounts.models import Account
from social.kernel.errors import NotFound
from social.kernel.text.languages import choose_language
from statuses.models import MediaAttachment, Status
from statuses.policies.polls import PollDraft, check_poll
from statuses.policies.publishing import check_text, choose_content_type
from statuses.policies.quotes import check_addressing, choose_policy, local_policy
from statuses.queries.rows import Row, load_rows
from statuses.queries.statuses import find_own_status, find_page_url
from statuses.services.composing import check_files
from statuses.services.formatting import format_text, stripped
from statuses.services.media import MediaChange, prepared
from statuses.services.revising import Revision, store_revision
from statuses.services.storing import lock_media


@dataclass(frozen=True)
class EditDraft:
    """What a client sent for an edit, before any check (contract, parameters section 3).

    What is left out is cleared, but `language`, `quote_approval_policy` and `content_type`, which stay. `media_changes`
    are by id, for the files among `media_ids`; others are ignored.
    """

    text: str = ""
    spoiler_text: str = ""
    sensitive: bool | None = None
    language: str | None = None
    media_ids: tuple[int | str, ...] = ()
    media_changes: tuple[tuple[int, MediaChange], ...] = ()
    poll: PollDraft | None = None
    quote_approval_policy: str | None = None
    content_type: str | None = None


@dataclass(frozen=True)
class _Words:
    """What is written; a `spoiler_text` of None stays as it is."""

    text: str
    spoiler_text: str | None
    sensitive: bool


def edit_status(*, author: Account, status_id: int, draft: EditDraft) -> None:
    """Change one's own post, and keep the version before. `author` is local, with its `user` loaded.

    Of several edits at once the last one wins, and each version is kept once; an edit that changes nothing writes nothing.
    StatusEdited is published. Raises NotFound for somebody else's post, a boost, and one deleted meanwhile; Invalid for
    what is against the rules of a new post.
    """
    status = find_own_status(status_id, author.id)
    if status.is_reblog:
        raise NotFound
    (row,) = load_rows([status.id])
    quoted = _shown_quoted(row)
    media_ids = check_files(author.id, draft.media_ids, of_status_id=status_id)
    policy = None if draft.quote_approval_policy is None else choose_policy(draft.quote_approval_policy, "")
    words = _words(draft, is_quote=row.quote_state is not None)
    spoiler_text = status.spoiler_text if words.spoiler_text is None else words.spoiler_text
    check_text(words.text, spoiler_text, has_more=bool(media_ids) or row.quote_state is not None)
    if draft.poll is not None:
        check_poll(draft.poll)
    content_type = choose_content_type(draft.content_type, status.content_type)
    quote_url = None if quoted is None else find_page_url(quoted)
    formatted = format_text(words.text, author, quote_url, content_type=content_type)
    if quoted is not None:
        mentioned = {account.id for account in formatted.mentions}
        check_addressing(status.visibility, quoted.account_id, {author.id, *mentioned})
    revision = Revision(
        text=formatted.text,
        content=formatted.content,
        content_type=content_type,
        sensitive=words.sensitive,
        mentions=formatted.mentions,
        tags=formatted.tags,
        poll=draft.poll,
        has_link=formatted.has_link and row.quote_state is None,
    )
    with ExitStack() as stack:
        changes = {
            media.id: stack.enter_context(prepared(media, change))
            for media, change in _changed_files(author, media_ids, draft)
        }
        with transaction.atomic():
            locked = Status.objects.select_for_update().filter(id=status.id, deleted_at=None).first()
            if locked is None:
                raise NotFound
            media = lock_media(author, media_ids, of_status_id=locked.id)
            changed = [item.id for item in media if item.id in changes and changes[item.id].apply(item)]
            store_revision(
                locked,
                replace(
                    revision,
                    spoiler_text=locked.spoiler_text if words.spoiler_text is None else words.spoiler_text,
                    language=_language(author, locked, draft),
                    quote_policy=None if policy is None else local_policy(locked.visibility, policy),
                    media=media,
                    changed_media=changed,
                ),
            )


def _shown_quoted(row: Row) -> Row | None:
    """The post that is quoted, if it is still there."""
    return row.quoted if row.quoted is not None and not row.quoted.is_deleted else None


def _words(draft: EditDraft, *, is_quote: bool) -> _Words:
    """A warning without a text becomes the text, of a post that quotes nothing: the warning before it stays."""
    text, spoiler_text = stripped(draft.text), stripped(draft.spoiler_text)
    if not text and spoiler_text and not is_quote:
        return _Words(spoiler_text, None, bool(draft.sensitive))
    sensitive = bool(spoiler_text) if draft.sensitive is None else draft.sensitive
    return _Words(text, spoiler_text, sensitive)


def _language(author: Account, status: Status, draft: EditDraft) -> str | None:
    user = author.user
    return choose_language(
        draft.language,
        status.language,
        user.default_language,
        user.locale,
        get_language(),
        settings.LANGUAGE_CODE,
    )


def _changed_files(
    author: Account, media_ids: tuple[int, ...], draft: EditDraft
) -> list[tuple[MediaAttachment, MediaChange]]:
    """The author's own among the files of the post that are changed as well; which may be attached is asked later."""
    wanted = {number: change for number, change in draft.media_changes if number in media_ids}
    if not wanted:
        return []
    found = MediaAttachment.objects.filter(id__one_of=list(wanted), account_id=author.id)
    return [(media, wanted[media.id]) for media in found]
