"""Reads custom emojis that texts may show."""

from collections.abc import Iterable, Mapping
from typing import Final

import regex
from django.db.models import Q

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from social.kernel.errors import require_found

SHORTCODE: Final = regex.compile(r"(?<=[^\p{L}\p{N}:]|^):([a-zA-Z0-9_]{2,}):(?=[^\p{L}\p{N}:]|$)")
"""Pattern of a custom emoji in a text: its shortcode between colons."""


def shortcodes_in(*texts: str) -> set[str]:
    """Return the shortcodes in these texts (contract, behaviours section 8)."""
    return {code for text in texts if ":" in text for code in SHORTCODE.findall(text)}


def load_emojis(wanted: Iterable[tuple[str, str | None]]) -> Mapping[tuple[str, str | None], CustomEmoji]:
    """Load enabled emojis by (shortcode, domain), in one query (none if `wanted` is empty)."""
    pairs = set(wanted)
    if not pairs:
        return {}
    # The query also filters by server, because very many servers use the same names.
    home = Q(domain=None) | Q(domain__one_of={domain for _code, domain in pairs if domain is not None})
    rows = CustomEmoji.objects.filter(home, shortcode__one_of={code for code, _domain in pairs}, disabled=False)
    emojis = {(emoji.shortcode, emoji.domain): emoji for emoji in rows}
    return {pair: emoji for pair, emoji in emojis.items() if pair in pairs}


def list_local_emojis() -> list[CustomEmoji]:
    """List the emojis of the picker: enabled local emojis, by shortcode."""
    return list(CustomEmoji.objects.filter(domain=None, disabled=False, visible_in_picker=True).order_by("shortcode"))


def find_picture_url(emoji_id: int) -> str:
    """Return the address of an enabled remote emoji's picture on its own server. Raises NotFound, also for a local emoji."""
    emojis = CustomEmoji.objects.filter(id=emoji_id, disabled=False).exclude(domain=None)
    return require_found(emojis.values_list("remote_url", flat=True).first())


class EmojiLookup:
    """Emojis for a page of accounts or posts, loaded once."""

    def __init__(self, texts: Iterable[tuple[str | None, Iterable[str]]]) -> None:
        pairs = {(code, domain) for domain, parts in texts for code in shortcodes_in(*parts)}
        self._emojis: Mapping[tuple[str, str | None], CustomEmoji] = load_emojis(pairs)

    @classmethod
    def for_accounts(cls, accounts: Iterable[Account]) -> "EmojiLookup":
        """Load the emojis in the names, bios and fields of these accounts."""
        return cls((account.domain, account_texts(account)) for account in accounts)

    def find(self, domain: str | None, *texts: str) -> list[CustomEmoji]:
        """Return the emojis in these texts, sorted by shortcode, without a query."""
        if not self._emojis:
            return []
        emojis = (self._emojis.get((code, domain)) for code in sorted(shortcodes_in(*texts)))
        return [emoji for emoji in emojis if emoji is not None]


def account_texts(account: Account) -> list[str]:
    """Return the texts of an account that may contain emojis."""
    fields = [text for item in account.fields for text in (item["name"], item["value"])]
    return [account.display_name, account.note, *fields]
