"""Makes of a draft what can be stored: checked, its mentions found, its HTML written. Nothing is written here.

It may ask other servers who is mentioned, so it runs before any transaction (DESIGN of `publish_status`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.models.tag import TAG_LIMIT
from accounts.queries.accounts import by_address, split_address
from accounts.queries.relations import load_relations
from social.kernel import links
from social.kernel.errors import Invalid, NotFound
from social.kernel.ids import parse_id
from social.kernel.text.languages import choose_language
from social.kernel.text.names import clean_input, normalise_hashtag
from social.kernel.text.scan import Kind, Token, scan
from social.kernel.text.to_html import MentionTarget, to_html
from statuses.policies.publishing import (
    check_media_count,
    check_text,
    choose_visibility,
    missing_media,
    missing_parent,
)
from statuses.ports import remote_accounts
from statuses.queries.statuses import find_post
from statuses.queries.threads import Place, load_place

Address = tuple[str, str | None]
# What is cut off at both ends of a text. Other spaces are part of it: some scripts and line ends are nothing else.
_SPACE: Final = " \t\n\v\f\r"


@dataclass(frozen=True)
class StatusDraft:
    """What an author asks for (contract, parameters section 3); None stands for what was not said.

    `in_reply_to_id` and `media_ids` are as the client sent them. `allowed_mentions` are the only accounts the post may
    mention.
    """

    text: str = ""
    spoiler_text: str = ""
    sensitive: bool | None = None
    visibility: str | None = None
    language: str | None = None
    in_reply_to_id: str | int | None = None
    media_ids: tuple[int | str, ...] = ()
    allowed_mentions: tuple[int, ...] | None = None


class UnexpectedMentions(Invalid):
    """The text mentions accounts the author did not allow; they are in `accounts`."""

    def __init__(self, accounts: Sequence[Account]) -> None:
        self.accounts = list(accounts)
        super().__init__(_("Post would be sent to unexpected accounts"))


@dataclass(frozen=True)
class Composition:
    """A post ready to be stored."""

    text: str
    content: str
    spoiler_text: str
    sensitive: bool
    visibility: str
    language: str | None
    parent: Place | None
    mentions: tuple[Account, ...]
    tags: tuple[tuple[str, str], ...]
    media_ids: tuple[int, ...]
    has_link: bool


def compose(*, author: Account, draft: StatusDraft) -> Composition:
    """Check a draft and make a post of it. `author` is local, with its `user` loaded.

    Raises NotFound for a post to reply to that the author may not read, UnexpectedMentions, and Invalid for everything
    else that is against a rule. Mentions of blocked, suspended and unknown accounts stay text.
    """
    user: User = author.user
    parent = _find_parent(draft.in_reply_to_id, author)
    check_media_count(draft.media_ids)
    visibility = choose_visibility(author, draft.visibility, user.default_privacy)
    text, spoiler_text = clean_input(draft.text).strip(_SPACE), clean_input(draft.spoiler_text).strip(_SPACE)
    sensitive = user.default_sensitive or bool(spoiler_text.strip()) if draft.sensitive is None else draft.sensitive
    if not text.strip():
        text, spoiler_text = spoiler_text, ""
    check_text(text, spoiler_text, has_media=bool(draft.media_ids))
    tokens = scan(text)
    mentioned = _find_mentioned(tokens, author)
    mentions = tuple({account.id: account for account in mentioned.values()}.values())
    if draft.allowed_mentions is not None:
        unexpected = [account for account in mentions if account.id not in draft.allowed_mentions]
        if unexpected:
            raise UnexpectedMentions(unexpected)
    targets = {
        acct: MentionTarget(account.username, account.acct, account.page_url) for acct, account in mentioned.items()
    }
    return Composition(
        text="".join(_canonical(token, mentioned) for token in tokens),
        content=to_html(tokens, mentions=targets, hashtag_url=links.tag_url),
        spoiler_text=spoiler_text,
        sensitive=sensitive,
        visibility=visibility,
        language=choose_language(
            draft.language, user.default_language, user.locale, get_language(), settings.LANGUAGE_CODE
        ),
        parent=parent,
        mentions=mentions,
        tags=_tags(tokens),
        media_ids=_parsed_media_ids(draft.media_ids),
        has_link=any(token.kind is Kind.URL and token.name in ("http", "https") for token in tokens),
    )


def _find_parent(status_id: str | int | None, author: Account) -> Place | None:
    """The post to reply to; of a boost the boosted one (behaviours section 7)."""
    if status_id is None or status_id == "":
        return None
    try:
        return load_place(find_post(status_id, author.id).row.proper)
    except NotFound:
        raise missing_parent() from None


def _parsed_media_ids(media_ids: Sequence[int | str]) -> tuple[int, ...]:
    numbers = [parse_id(media_id) for media_id in media_ids]
    strange = [media_id for media_id, number in zip(media_ids, numbers, strict=True) if number is None]
    if strange:
        raise missing_media(strange)
    return tuple(dict.fromkeys(number for number in numbers if number is not None))


def _find_mentioned(tokens: Iterable[Token], author: Account) -> dict[str, Account]:
    """The accounts that the text mentions and that are told, by the token's `acct`, in the order of the text."""
    wanted: dict[str, Address] = {}
    for token in tokens:
        if token.kind is Kind.MENTION and token.acct not in wanted:
            address = split_address(token.acct)
            if address is not None:
                wanted[token.acct] = address
    if not wanted:
        return {}
    known: dict[Address, Account] = dict(by_address(set(wanted.values())))
    known |= _find_remote({address for address in wanted.values() if address not in known})
    relations = load_relations(author.id, [account.id for account in known.values()])
    return {
        acct: account
        for acct, address in wanted.items()
        if (account := known.get(address)) is not None
        and not account.suspended
        and account.id not in relations.blocking
        and account.id not in relations.domain_blocking
    }


def _find_remote(unknown: Iterable[Address]) -> Mapping[Address, Account]:
    addresses = [(username, domain) for username, domain in unknown if domain is not None]
    port = remote_accounts.find()
    if port is None or not addresses:
        return {}
    return dict(port.find_by_address(addresses).items())


def _canonical(token: Token, mentioned: Mapping[str, Account]) -> str:
    """A token as it is kept: mentions by their `acct`, whatever their author typed (behaviours section 8)."""
    if token.kind is Kind.MENTION and token.acct in mentioned:
        return f"@{mentioned[token.acct].acct}"
    return token.raw


def _tags(tokens: Iterable[Token]) -> tuple[tuple[str, str], ...]:
    """The hashtags of a text, each once, in its order: (normalised, as first written)."""
    found: dict[str, str] = {}
    for token in tokens:
        if token.kind is Kind.HASHTAG:
            found.setdefault(normalise_hashtag(token.name), token.name)
    return tuple((name, shown) for name, shown in found.items() if 0 < len(name) <= TAG_LIMIT)
