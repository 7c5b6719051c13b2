"""Reads custom emojis: those a text may show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import regex

from accounts.models import Account, CustomEmoji

_SHORTCODE = regex.compile(r"(?<=[^\p{L}\p{N}:]|^):([a-zA-Z0-9_]{2,}):(?=[^\p{L}\p{N}:]|$)")


def shortcodes_in(*texts: str) -> set[str]:
    """The shortcodes written in these texts (contract, behaviours section 8)."""
    return {code for text in texts if ":" in text for code in _SHORTCODE.findall(text)}


def load_emojis(wanted: Iterable[tuple[str, str | None]]) -> Mapping[tuple[str, str | None], CustomEmoji]:
    """Enabled emojis by (shortcode, domain), in one query; none when nothing is asked for."""
    pairs = set(wanted)
    if not pairs:
        return {}
    found = CustomEmoji.objects.filter(shortcode__one_of={code for code, _domain in pairs}, disabled=False)
    emojis = {(emoji.shortcode, emoji.domain): emoji for emoji in found}
    return {pair: emoji for pair, emoji in emojis.items() if pair in pairs}


def list_local_emojis() -> list[CustomEmoji]:
    """Emojis of the picker: enabled local ones, by category and shortcode."""
    return list(CustomEmoji.objects.filter(domain=None, disabled=False, visible_in_picker=True).order_by("shortcode"))


class EmojiLookup:
    """The emojis that a page of accounts or posts needs, read once and asked without queries."""

    def __init__(self, texts: Iterable[tuple[str | None, Iterable[str]]]) -> None:
        wanted = {(code, domain) for domain, parts in texts for code in shortcodes_in(*parts)}
        self._emojis: Mapping[tuple[str, str | None], CustomEmoji] = load_emojis(wanted)

    @classmethod
    def for_accounts(cls, accounts: Iterable[Account]) -> EmojiLookup:
        """Emojis in the names, bios and fields of these accounts."""
        return cls((account.domain, account_texts(account)) for account in accounts)

    def find(self, domain: str | None, *texts: str) -> list[CustomEmoji]:
        """The emojis in these texts, sorted by shortcode."""
        if not self._emojis:
            return []
        found = (self._emojis.get((code, domain)) for code in sorted(shortcodes_in(*texts)))
        return [emoji for emoji in found if emoji is not None]


def account_texts(account: Account) -> list[str]:
    """The texts of an account that may hold emojis."""
    fields = [text for item in account.fields for text in (item["name"], item["value"])]
    return [account.display_name, account.note, *fields]
