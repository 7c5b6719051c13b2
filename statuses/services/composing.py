"""Composes posts from drafts, before any transaction, because other servers may be asked for mentioned accounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.collections.queries import find_linked
from accounts.models import Account, User
from social.kernel.errors import Invalid, NotFound
from social.kernel.identity import default_language
from social.kernel.ids import parse_id
from social.kernel.text.languages import choose_language
from statuses.models import QuoteState, Status
from statuses.policies import interactions, publishing, quotes
from statuses.policies.polls import PollDraft, check_poll
from statuses.policies.posts import AuthorColumns
from statuses.policies.visibility import LOCAL, quote_visibility
from statuses.queries.media import attachable
from statuses.queries.statuses import find_page_url, find_post, find_post_and_relations
from statuses.services.asking import gated
from statuses.services.formatting import format_text, stripped
from statuses.services.media import MediaChange
from statuses.services.storing import Composed, NewQuote

# Columns of the parent that a reply needs.
_PARENT_FIELDS: Final = (
    *("account_id", "in_reply_to_account_id", "thread_id", "thread_path", "conversation_uri"),
    *("local", "local_only", "interaction_policy"),
)


@dataclass(frozen=True, kw_only=True)
class Draft(AuthorColumns):
    """Post or edit as a client sent it, before any check (contract, parameters section 3); None stands for a value that was not
    sent.

    `in_reply_to_id` and `media_ids` may name objects that do not exist. The post may mention only the `allowed_mentions`, if
    given. `interaction_policy` has rules by kind (`statuses.policies.interactions`). An edit clears a value that is left out,
    except `language`, the policies and `content_type`; `media_changes` are changes by file id. An edit ignores `visibility`,
    `local_only`, `in_reply_to_id`, `quoted_status_id` and `scheduled_at`. `unsent` are the names of texts that were not sent; a
    text that was sent may be empty as well.
    """

    sensitive: bool | None = None
    visibility: str | None = None
    local_only: bool | None = None
    language: str | None = None
    in_reply_to_id: str | int | None = None
    media_ids: tuple[int | str, ...] = ()
    media_changes: tuple[tuple[int, MediaChange], ...] = ()
    quoted_status_id: str | int | None = None
    quote_approval_policy: str | None = None
    interaction_policy: Mapping[str, int] | None = None
    allowed_mentions: tuple[int, ...] | None = None
    poll: PollDraft | None = None
    scheduled_at: datetime | None = None
    content_type: str | None = None
    unsent: tuple[str, ...] = ()


class UnexpectedMentions(Invalid):
    """Error for a text that mentions accounts (`accounts`) which the author did not allow."""

    def __init__(self, accounts: Sequence[Account]) -> None:
        self.accounts = list(accounts)
        super().__init__(_("Post would be sent to unexpected accounts"))


def compose(*, author: Account, draft: Draft, application_id: int | None = None) -> Composed:
    """Check a draft and return the content that `store_status` writes. `author` is local, with its `user` loaded.

    A reply to a local-only post, or a quote of a local-only post, is local-only as well; a reply that needs approval has the
    form that `gated` returns. Raises NotFound for a parent that the author may not read, NotPermitted for a parent to which the
    author may not reply, UnexpectedMentions, and Invalid for every other broken rule.
    """
    user: User = author.user
    parent = _find_parent(draft.in_reply_to_id, author)
    quote = _find_quoted(draft.quoted_status_id, author)
    media_ids = check_files(author.id, draft.media_ids)
    quote_policy = quotes.choose_policy(draft.quote_approval_policy, user.default_quote_policy)
    visibility = publishing.choose_visibility(author, draft.visibility, user.default_privacy)
    local_only = draft.local_only or draft.visibility == LOCAL or (parent is not None and parent.local_only)
    if quote is not None:
        visibility = quote_visibility(quote.visibility, visibility)
        local_only = local_only or quote.local_only
        if local_only and quote.request_uri is not None:
            raise Invalid.sentence(_("A post that stays on this server cannot quote a post from another server."))
    draft = cleaned(draft)
    warned = bool(draft.spoiler_text.strip())
    if not draft.text.strip() and quote is None:
        draft = replace(draft, text=draft.spoiler_text, spoiler_text="")
    new = compose_content(
        author,
        draft,
        visibility=visibility,
        local_only=bool(local_only),
        sensitive=user.default_sensitive or warned if draft.sensitive is None else draft.sensitive,
        media_ids=media_ids,
        is_quote=quote is not None,
        quoted=None if quote is None else (quote.account_id, quote.page_url),
        parent=parent,
        quote=quote,
        quote_policy=quotes.local_policy(visibility, quote_policy),
        interaction_policy=interactions.merged(
            interactions.default_policy(user.preferences, visibility), draft.interaction_policy
        ),
        application_id=application_id,
    )
    return gated(new)


def cleaned(draft: Draft) -> Draft:
    """Return the draft with its texts as they are stored: without invisible characters and surrounding space."""
    columns = draft.author_columns
    return replace(draft, **columns | {name: stripped(it) for name, it in columns.items() if isinstance(it, str)})


def compose_content(
    author: Account,
    draft: Draft,
    *,
    visibility: str,
    sensitive: bool,
    media_ids: tuple[int, ...],
    is_quote: bool,
    quoted: tuple[int | None, str | None] | None,
    before: Status | None = None,
    **more: Any,
) -> Composed:
    """Check the content of a cleaned draft and return it for a new post, or for the edit of `before`. `quoted` is the author's
    id and page URL of the quoted post. `more` are additional fields of the Composed. Raises the errors of `compose`.
    """
    user: User = author.user
    publishing.check_text(draft.text, draft.spoiler_text, has_more=bool(media_ids) or is_quote)
    if draft.poll is not None:
        check_poll(draft.poll)
    content_type = publishing.choose_content_type(
        draft.content_type, publishing.PLAIN_TEXT if before is None else before.content_type
    )
    formatted = format_text(draft.text, author, None if quoted is None else quoted[1], content_type=content_type)
    mentions = formatted.mentions
    if draft.allowed_mentions is not None:
        unexpected = [account for account in mentions if account.id not in draft.allowed_mentions]
        if unexpected:
            raise UnexpectedMentions(unexpected)
    if quoted is not None:
        quotes.check_addressing(visibility, quoted[0], {author.id, *(account.id for account in mentions)})
    return Composed(
        **draft.author_columns | {"text": formatted.text},
        author=author,
        content=formatted.content,
        content_type=content_type,
        sensitive=sensitive,
        visibility=visibility,
        language=choose_language(
            draft.language,
            None if before is None else before.language,
            user.default_language,
            user.locale,
            get_language(),
            default_language(),
        ),
        mentions=mentions,
        tags=formatted.tags,
        media_ids=media_ids,
        poll=draft.poll,
        # A post with a quote has no preview of its links (contract, behaviours section 9 "Cards").
        has_link=bool(formatted.links) and not is_quote,
        collections=list(find_linked(formatted.links).values()),
        **more,
    )


def _find_parent(status_id: str | int | None, author: Account) -> Status | None:
    # The id of a boost stands for the boosted post (behaviours section 7).
    if status_id in (None, ""):
        return None
    try:
        parent_id = find_post(status_id, author.id).proper.id
    except NotFound:
        raise publishing.missing_parent() from None
    parent = Status.objects.only(*_PARENT_FIELDS).filter(id=parent_id).first()
    if parent is None:
        raise publishing.missing_parent()
    return parent


def _find_quoted(status_id: str | int | None, author: Account) -> NewQuote | None:
    # The id of a boost stands for the boosted post.
    if status_id in (None, ""):
        return None
    try:
        post, relations = find_post_and_relations(status_id, author.id)
    except NotFound:
        raise quotes.missing_quoted() from None
    target = post.proper
    allowed = quotes.permission(target, author.id, relations)
    if allowed is quotes.Permission.DENIED or target.account_id in relations.blocking:
        raise quotes.missing_quoted()
    at_once = target.account_id == author.id or (target.local and allowed is quotes.Permission.AUTOMATIC)
    return NewQuote(
        quoted_id=target.id,
        account_id=target.account_id,
        visibility=target.visibility,
        local_only=target.local_only,
        page_url=find_page_url(target),
        state=QuoteState.ACCEPTED if at_once else QuoteState.PENDING,
        request_uri=None if target.local else f"{author.uri}/quote_requests/{uuid4()}",
    )


def check_files(author_id: int, media_ids: Sequence[int | str], *, of_status_id: int | None = None) -> tuple[int, ...]:
    """Return the ids of a draft's files without duplicates; `of_status_id` is the post that is edited. Raises Invalid for too
    many files, and for values that are not ids; the latter error also names ids of missing files and of files that cannot be
    attached.
    """
    publishing.check_media_count(media_ids)
    numbers = {media_id: parse_id(media_id) for media_id in media_ids}
    known_ids = [number for number in numbers.values() if number is not None]
    if len(known_ids) < len(numbers):
        free = attachable(author_id, of_status_id=of_status_id).filter(id__one_of=known_ids)
        found = set(free.values_list("id", flat=True))
        raise publishing.missing_media([media_id for media_id, number in numbers.items() if number not in found])
    return tuple(dict.fromkeys(known_ids))
