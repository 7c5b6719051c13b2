"""Reads the previews of links, with the accounts that they name as authors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from accounts.models import Account
from accounts.policies.domains import is_attributed_from
from accounts.queries.accounts import CountedAccounts, by_address, load_counted_accounts, split_address
from social.kernel.errors import require_found
from statuses.models import PreviewCard, StatusCard
from statuses.policies.cards import card_url


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A preview as a post shows it. `url` is the link as written in the post. `author_id` is the account that the page names as
    its author, if the account allows this for the page's server. `claimed_by` is an account that the page names but that does
    not allow this (yet).
    """

    card: PreviewCard
    url: str
    author_id: int | None = None
    claimed_by: int | None = None


@dataclass(slots=True)
class ShownCards:
    """Previews by post id (`load_status_cards`) or by their own id (`load_shown_cards`), and their authors' accounts."""

    by_id: dict[int, ShownCard] = field(default_factory=dict)
    authors: CountedAccounts = field(default_factory=CountedAccounts)

    def __bool__(self) -> bool:
        return bool(self.by_id)


def load_status_cards(status_ids: Iterable[int], viewer_id: int | None) -> ShownCards:
    """Load the previews of these posts, keyed by post id.

    One query, none if there are no posts; up to four more if pages name authors.
    """
    ids = list(status_ids)
    if not ids:
        return ShownCards()
    rows = StatusCard.objects.select_related("card").filter(status_id__one_of=ids).exclude(card__title="")
    return _shown_cards({row.status_id: (row.card, row.url) for row in rows}, viewer_id)


def load_shown_cards(cards: Iterable[PreviewCard], viewer_id: int | None) -> ShownCards:
    """Load previews by their own ids, with the addresses from which they were fetched."""
    return _shown_cards({card.id: (card, card.url) for card in cards if card.is_shown}, viewer_id)


def find_card(url: str) -> PreviewCard:
    """Return the preview of the page at `url`. Raises NotFound for an address without a preview."""
    key = card_url(url)
    return require_found(PreviewCard.objects.filter(url=key).exclude(title="").first() if key is not None else None)


def _shown_cards(found: Mapping[int, tuple[PreviewCard, str]], viewer_id: int | None) -> ShownCards:
    split_names = {card.creator: split_address(card.creator) for card, _url in found.values() if card.creator}
    addresses = {name: (address[0].lower(), address[1]) for name, address in split_names.items() if address is not None}
    accounts = by_address(set(addresses.values()))
    creators = {name: accounts[address] for name, address in addresses.items() if address in accounts}
    by_id = {number: _with_author(card, url, creators.get(card.creator)) for number, (card, url) in found.items()}
    author_ids = {shown_card.author_id for shown_card in by_id.values() if shown_card.author_id is not None}
    return ShownCards(by_id, load_counted_accounts(author_ids, viewer_id))


def _with_author(card: PreviewCard, url: str, creator: Account | None) -> ShownCard:
    if creator is None or creator.suspended:
        return ShownCard(card, url)
    if is_attributed_from(card.host, creator.attribution_domains):
        return ShownCard(card, url, author_id=creator.id)
    return ShownCard(card, url, claimed_by=creator.id)
