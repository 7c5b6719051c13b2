"""Fetches remote posts and stores them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.db import transaction

from accounts.collections.queries import find_linked
from accounts.models import Account, Follow
from federation.documents import context, policies, reading
from federation.documents.received_notes import ReceivedNote, is_note, read_note
from federation.reasons import Reason, Rejected
from federation.remote import actors, fetching, references, requests
from federation.remote.permitted import permitted
from moderation.queries.blocks import rule_for
from social.kernel import clock, links
from social.kernel.errors import NotFound
from social.kernel.http.client import Signer
from social.kernel.plans import IDS, Plan
from statuses.models import Quote, QuoteState, Status
from statuses.policies.cards import find_link
from statuses.policies.quotes import NO_GROUP, Group, Permission, encode_policy, permission
from statuses.policies.visibility import ADDRESSED_VISIBILITIES, with_silent_readers
from statuses.queries.statuses import find_post_and_relations, list_statuses
from statuses.services import holding, quotes, receiving
from statuses.services.screening import UNSCREENED, screen
from statuses.services.storing import Composed, NewQuote

QUIET_AFTER: Final = timedelta(hours=6)
"""Age from which a fetched post is stored without notifications (contract, federation section 7 "Create")."""
_FOLLOWS: Final = Plan(
    lambda: Follow.objects.filter(target_id__one_of=IDS, account__domain=None).values_list("id", flat=True)[:1]
)


def find_or_fetch_post(
    uri: str,
    *,
    deadline: float = fetching.DEADLINE,
    publish_event: bool = True,
    ancestors: int = requests.ANCESTORS,
    signer: Signer | None = None,
) -> Status:
    """Return the post with this id, fetched from its origin if it is unknown here. Never call this inside a transaction.

    The request is signed by `signer`, or else by this server; `ancestors` has the same meaning as in `store_note`. With
    `publish_event`, StatusPublished is published for a post younger than QUIET_AFTER. Raises Rejected, Missing, and Unavailable
    when a server could not be reached.
    """
    stored = references.find_post_by_uri(uri)
    if stored is not None:
        if stored.is_deleted:
            raise Rejected(Reason.DELETED_NOTE)
        return stored
    if links.is_own(uri):
        raise Rejected(Reason.NO_SUCH_NOTE)
    note = _fetch_note(uri, deadline, signer)
    author = actors.find_or_fetch(note.author_uri, deadline=deadline)
    publish_event = publish_event and clock.now() - note.published < QUIET_AFTER
    status = store_note(note, author, publish_event=publish_event, ancestors=ancestors)
    if status is None:
        raise Rejected(Reason.HELD_OR_DELETED_NOTE)
    if status.uri != uri:
        receiving.adopt_replies_to_page(status, uri)
    return status


def _fetch_note(uri: str, deadline: float, signer: Signer | None = None) -> ReceivedNote:
    document = fetching.fetch_document(uri, deadline=deadline, signer=signer)
    if not is_note(document):
        raise Rejected(Reason.NO_NOTE)
    return read_note(document)


def store_note(
    note: ReceivedNote,
    author: Account,
    *,
    publish_event: bool = True,
    recipient: Account | None = None,
    ancestors: int = requests.ANCESTORS,
    reviewed: bool = False,
    request_uri: str | None = None,
) -> Status | None:
    """Store a post by `author`, and return it, even if it was stored before; None if the post is deleted, held for review, or
    not allowed by the policy of its parent.

    Spam rules are applied unless staff have `reviewed` the post. `recipient` is the local account in whose inbox the post
    arrived. Unknown parent posts are fetched in the background, up to `ancestors` of them, and so are the first replies that
    the post lists, unless `ancestors` is 0. Raises Rejected when the post was deleted before it arrived, its id belongs to
    another object, or its author is suspended or local.
    """
    if author.local or author.uri != note.author_uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    if author.suspended:
        raise Rejected(Reason.SUSPENDED_AUTHOR)
    new = permitted(compose_received(note, author, recipient, publish_event=publish_event), request_uri)
    if new is None:
        return None
    with references.claimed_id(note.uri, author.uri, Status):
        screening = UNSCREENED if reviewed else screen(new)
        if not reviewed and holding.hold_received(
            new, screening, note.document, recipient=recipient, request_uri=request_uri
        ):
            return None
        status = receiving.publish_remote_status(new=new, screening=screening)
        if status is not None and ancestors > 0:
            requests.request_people(new.unknown_mentions, named_by=note.uri)
            if _answers_unknown(note):
                requests.request_posts([str(note.in_reply_to)], named_by=note.uri, remaining=ancestors - 1)
            requests.request_posts(note.replies, named_by=note.uri, remaining=0)
            _request_linked(new, note.uri)
            if new.quote is not None:
                request_quoted(status, remaining=ancestors - 1)
    if status is not None:
        return status
    stored = references.find_post_by_uri(note.uri)
    return stored if stored is not None and not stored.is_deleted else None


def revise_note(
    status: Status,
    note: ReceivedNote,
    recipient: Account | None = None,
    *,
    reviewed: bool = False,
    from_author: bool = False,
) -> bool:
    """Store the current content of a remote post, and return whether it was edited since it was stored. `recipient` and
    `reviewed` have the same meaning as in `store_note`. `from_author` is True if the author has sent the content, False if it
    was fetched.
    """
    new = compose_received(note, status.account, recipient)
    with transaction.atomic():
        is_changed = receiving.revise_remote_status(
            status_id=status.id,
            new=new,
            edited_at=note.updated,
            document=None if reviewed else note.document,
            recipient=recipient,
            from_author=from_author,
        )
        uri = note.quote_authorization
        is_new = uri is not None and quotes.store_authorization(status_id=status.id, approval_uri=uri)
        request_quoted(status, remaining=requests.ANCESTORS, again=is_new)
        if is_changed:
            _request_linked(new, note.uri)
            requests.request_people(new.unknown_mentions, named_by=note.uri)
    return is_changed


def deliver_note(note: ReceivedNote, author: Account, recipient: Account | None = None) -> Status | None:
    """Publish StatusPublished for a post that was fetched before its author sent it, in the caller's transaction. Return the
    post; None if the post is by another author, or if the event has already been published.
    """
    status = references.find_post_by_uri(note.uri)
    if status is None or status.account_id != author.id or not status.fetched:
        return None
    new = compose_received(note, author, recipient)
    return status if receiving.announce_fetched(status_id=status.id, new=new) else None


def fetch_again(uri: str) -> None:
    """Fetch a known post from its origin again, and store its current content. Raises the errors of `find_or_fetch_post`."""
    status = references.find_post_by_uri(uri)
    if status is None or not is_refreshable(status):
        return
    store_again(status, _fetch_note(uri, fetching.DEADLINE))


def store_again(status: Status, note: ReceivedNote) -> None:
    """Store the current content and counts of a known post. Raises Rejected for the post of another author."""
    if note.author_uri != status.account.uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    revise_note(status, note)


def is_refreshable(status: Status) -> bool:
    """Tell whether the content of a known post may be fetched again."""
    return not (status.local or status.is_deleted or status.is_reblog or status.account.suspended)


def request_quoted(status: Status, *, remaining: int, again: bool = False) -> None:
    """Request the post that a remote post quotes, or a check of its authorization if the quoted post is known. `again` is True
    if the post now names a different authorization.
    """
    quote = Quote.objects.select_related("quoted_status").filter(status=status, state=QuoteState.PENDING).first()
    if quote is None or quote.quoted_uri is None or links.is_own(quote.quoted_uri):
        return
    uri = quote.quoted_uri if quote.quoted_status_id is None else quote.approval_uri
    if uri is not None:
        requests.request_quote(str(status.uri), uri, remaining=remaining, again=again)


def _request_linked(new: Composed, named_by: str) -> None:
    requests.request_collections((one for one in new.collections if isinstance(one, str)), named_by=named_by)


def _answers_unknown(note: ReceivedNote) -> bool:
    uri = note.in_reply_to
    return uri is not None and not links.is_own(uri) and references.find_post_by_uri(uri) is None


def compose_received(
    note: ReceivedNote, author: Account, recipient: Account | None = None, *, publish_event: bool = True
) -> Composed:
    """Return a received post in its stored form, with the known accounts, parent post and quoted post that it refers to."""
    visibility: str = context.visibility_of(note.to, note.cc, author.followers_url)
    accounts_by_uri = references.find_accounts_by_uri({*note.addressed, *note.mentioned})
    people = {account.id: account for uri in note.addressed if (account := accounts_by_uri.get(uri)) is not None}
    if recipient is not None and visibility in ADDRESSED_VISIBILITIES:
        people.setdefault(recipient.id, recipient)
    people.pop(author.id, None)
    mentioned = _mentioned_ids(note, author, accounts_by_uri)
    mentioned_ids = {account.id for uri in mentioned if (account := accounts_by_uri.get(uri)) is not None}
    silent = people.keys() - mentioned_ids
    if any(people[number].local for number in silent):
        visibility = with_silent_readers(visibility)
    addressed = set(note.addressed)
    parent = _readable_parent(note, author)
    pictured = shows_pictures(author)
    linked = find_linked(note.collections)
    return Composed(
        **note.author_columns,
        author=author,
        content=note.content,
        sensitive=note.sensitive,
        visibility=visibility,
        language=note.language,
        parent=parent,
        in_reply_to_uri=note.in_reply_to if parent is None else None,
        # Remote accounts that are addressed but not mentioned need no row.
        mentions=[account for account in people.values() if account.local or account.id not in silent],
        silent=silent,
        unknown_mentions=[
            uri for uri in mentioned if uri in addressed and uri not in accounts_by_uri and not links.is_own(uri)
        ],
        tags=note.tags,
        collections=[linked.get(uri, uri) for uri in note.collections if uri in linked or not links.is_own(uri)],
        files=note.files if pictured else (),
        emojis=note.emojis if pictured else (),
        has_link=note.quoted is None and find_link(note.content) is not None,
        poll=note.poll,
        # FEP-044f: if the document states no policy, nobody may quote the post.
        quote_policy=encode_policy(_groups(note.automatic_approval, author), _groups(note.manual_approval, author)),
        interaction_policy=policies.read_policy(note.interaction_policy, author, note.mentioned),
        quote=_new_quote(note, author),
        uri=note.uri,
        url=note.url,
        conversation_uri=note.conversation,
        created_at=note.published,
        edited_at=note.updated if note.updated is not None and note.updated > note.published else None,
        publish_event=publish_event,
        reblogs_count=note.shares,
        favourites_count=note.likes,
        replies_count=note.replies_count,
        named_count=len(set(note.mentioned)),
    )


def _mentioned_ids(note: ReceivedNote, author: Account, accounts_by_uri: Mapping[str, Account]) -> list[str]:
    """Return the ids of the accounts that the tags of a post mention, without duplicates.

    Some servers put the URL of an account's profile page into the tags, but the account's id into `to` and `cc`. Such a URL is
    replaced by the id of the known account with this page, or else by the id of the only unknown account on the same server
    that the post addresses. Without such an account, the URL is returned unchanged.
    """
    by_page = {account.url: uri for uri, account in accounts_by_uri.items()}
    others = [uri for uri in note.addressed if uri not in accounts_by_uri and uri != author.followers_url]
    by_server: dict[str | None, list[str]] = {}
    for uri in others:
        by_server.setdefault(reading.origin_of(uri), []).append(uri)
    ids = []
    for uri in note.mentioned:
        alone = by_server.get(reading.origin_of(uri), [])
        by_id = uri in accounts_by_uri or uri in others
        ids.append(uri if by_id else by_page.get(uri) or (alone[0] if len(alone) == 1 else uri))
    return list(dict.fromkeys(ids))


def shows_pictures(author: Account) -> bool:
    """Tell whether files and emojis from the author's server are accepted."""
    rule = rule_for(author.domain or "")
    return rule is None or not rule.reject_media


def _groups(uris: Sequence[str], author: Account) -> Group:
    groups = NO_GROUP
    for uri in uris:
        if uri in context.PUBLIC_NAMES:
            groups |= Group.PUBLIC
        elif uri == author.followers_url:
            groups |= Group.FOLLOWERS
        elif uri == author.following_url:
            groups |= Group.FOLLOWING
        elif uri != author.uri:
            groups |= Group.UNSUPPORTED_POLICY
    return groups


def _new_quote(note: ReceivedNote, author: Account) -> NewQuote | None:
    """Return the quote of a post. A quote of the author's own post is accepted immediately. The quote of a public or unlisted
    local post that the author may not quote is rejected. Any other quote waits for the authorization.

    Only the id of the quoted post is stored if the quoted post is unknown here or the author may not read it.
    """
    if note.quoted is None:
        return NewQuote(state=QuoteState.DELETED) if note.quoted_deleted else None
    quoted = references.find_post_by_uri(note.quoted)
    if note.quoted_deleted or (quoted is not None and quoted.is_deleted):
        return NewQuote(quoted_uri=note.quoted, state=QuoteState.DELETED)
    refused = False
    if quoted is not None:
        quoted = quoted.reblog_of or quoted
        refused = quoted.local and quoted.is_for_anybody and not may_quote(quoted, author)
        if not list_statuses(author.id).filter(id=quoted.id).exists():
            quoted = None
    own = quoted is not None and quoted.account_id == author.id
    return NewQuote(
        quoted_id=None if quoted is None else quoted.id,
        quoted_uri=note.quoted,
        state=QuoteState.ACCEPTED if own else QuoteState.REJECTED if refused else QuoteState.PENDING,
        # The authorization is trusted only after it has been fetched from the server of the quoted author (security row 36).
        approval_uri=note.quote_authorization,
        legacy=note.legacy_quote,
    )


def may_quote(quoted: Status, author: Account) -> bool:
    """Tell whether a remote account may quote a local post: the policy allows it, and neither account blocks the other
    (contract, federation section 7 "QuoteRequest").
    """
    try:
        post, relations = find_post_and_relations(quoted.id, author.id)
    except NotFound:
        return False
    return permission(post, author.id, relations) is Permission.AUTOMATIC and post.account_id not in relations.blocking


def _readable_parent(note: ReceivedNote, author: Account) -> Status | None:
    """Return the known post to which a received post replies (for a boost, the boosted post), if the author may read it."""
    if note.in_reply_to is None:
        return None
    parent = references.find_post_by_uri(note.in_reply_to)
    if parent is None:
        return None
    parent = parent.reblog_of or parent
    return parent if list_statuses(author.id).filter(id=parent.id).exists() else None


def is_related(note: ReceivedNote, author: Account, recipient: Account | None) -> bool:
    """Tell whether a post is relevant to a local account (contract, federation section 7 "Create"): it addresses the account,
    the account follows its author, or it replies to a local post or to an author whom a local account follows.
    """
    if may_be_related(author, recipient, note.addressed):
        return True
    parent = references.find_post_by_uri(note.in_reply_to) if note.in_reply_to is not None else None
    return parent is not None and is_followed_here(parent)


def is_followed_here(status: Status) -> bool:
    """Tell whether replies to a post are relevant here, because the post is local or a local account follows its author."""
    return status.local or _is_followed([status.account_id])


def may_be_related(author: Account, recipient: Account | None, addressed: Iterable[str]) -> bool:
    """Tell from the addressing of an activity, before its post is fetched, whether the post may be relevant (`is_related`)."""
    if recipient is not None or _is_followed([author.id]):
        return True
    return any(account.local for account in references.find_accounts_by_uri(addressed).values())


def _is_followed(account_ids: Sequence[int]) -> bool:
    return bool(_FOLLOWS.run(ids=list(account_ids)))
