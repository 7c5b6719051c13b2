"""Decides which spam rules a post or a sign-up matches, in time proportional to its text (security row 67)."""

import ipaddress
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Final

import regex
from django.utils.translation import gettext as _

from accounts.policies.domains import domain_and_parents
from accounts.policies.networks import network_of
from accounts.spam.models import RuleOrigin, RuleOutcome, RuleSubject, SpamRule
from social.kernel.errors import FieldError
from social.kernel.lengths import NAME_LIMIT
from social.kernel.text.names import normalise_domain
from social.kernel.text.patterns import Patterns
from social.kernel.text.searching import Text, comparable, split

RULES_LIMIT: Final = 100
"""Maximum number of rules on a server, enabled or not."""

ENTRIES_LIMIT: Final = 500
"""Maximum number of entries in one list of a rule."""

WORD_LENGTH: Final = 200
MENTIONS_LIMIT: Final = 1000
AGE_LIMIT: Final = 24 * 365
# Scripts without spaces between words; words in these scripts are found as substrings.
_UNSPACED: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


@dataclass(frozen=True)
class SpamRuleDraft:
    """Values of a rule, as staff have entered them."""

    name: str
    subject: str
    outcome: str
    words: tuple[str, ...] = ()
    link_hosts: tuple[str, ...] = ()
    minimum_mentions: int | None = None
    maximum_age_hours: int | None = None
    first_contact: bool = False
    origin: str = RuleOrigin.ANY
    mail_domains: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()

    @property
    def has_conditions(self) -> bool:
        """Tell whether the rule has a condition; a rule without conditions would match everything."""
        of_posts = (self.words, self.link_hosts, self.minimum_mentions, self.maximum_age_hours, self.first_contact)
        of_sign_ups = (self.words, self.mail_domains, self.networks)
        return any(of_posts if self.subject == RuleSubject.POSTS else of_sign_ups)


def rule_errors(draft: SpamRuleDraft) -> list[FieldError]:
    errors = []
    if not draft.name.strip():
        errors.append(FieldError.blank("name"))
    if len(draft.name) > NAME_LIMIT:
        errors.append(FieldError.too_long("name", NAME_LIMIT))
    for field, choices in (("subject", RuleSubject), ("outcome", RuleOutcome), ("origin", RuleOrigin)):
        if getattr(draft, field) not in choices.values:
            errors.append(FieldError.not_included(field))
    for field in ("words", "link_hosts", "mail_domains", "networks"):
        entries: tuple[str, ...] = getattr(draft, field)
        if len(entries) > ENTRIES_LIMIT:
            message = _("has too many entries (maximum is %(count)d)") % {"count": ENTRIES_LIMIT}
            errors.append(FieldError(field, "ERR_TOO_MANY", message))
        wrong = [entry for entry in entries[:ENTRIES_LIMIT] if not _READERS[field](entry)]
        if wrong:
            message = _("contains an entry that cannot be used: %(entry)s") % {"entry": wrong[0][:80]}
            errors.append(FieldError(field, "ERR_INVALID", message))
    errors += _out_of_range("minimum_mentions", draft.minimum_mentions, MENTIONS_LIMIT)
    errors += _out_of_range("maximum_age_hours", draft.maximum_age_hours, AGE_LIMIT)
    if not draft.has_conditions:
        message = _("are missing: this rule would match everything")
        errors.append(FieldError("conditions", "ERR_BLANK", message, _("Conditions")))
    return errors


def _out_of_range(field: str, number: int | None, limit: int) -> list[FieldError]:
    if number is None or 1 <= number <= limit:
        return []
    return [FieldError(field, "ERR_INVALID", _("must be between 1 and %(count)d") % {"count": limit})]


def _word(entry: str) -> str:
    word = " ".join(entry.split())
    # A word without visible characters would be in every text, or in none.
    return word if "\0" not in word and len(word) <= WORD_LENGTH and comparable(word).strip() else ""


def _network(entry: str) -> str:
    try:
        return str(network_of(entry))
    except ValueError:
        return ""


def _host(entry: str) -> str:
    return normalise_domain(entry.strip().lower()) or ""


_READERS: Final[dict[str, Callable[[str], str]]] = {
    "words": _word,
    "link_hosts": _host,
    "mail_domains": _host,
    "networks": _network,
}


def normalised(draft: SpamRuleDraft) -> dict[str, object]:
    """Return the columns of a rule that has no errors: names in Punycode, networks without host bits, no duplicate entries."""
    lists = {
        field: list(dict.fromkeys(read(entry) for entry in getattr(draft, field))) for field, read in _READERS.items()
    }
    return {
        "name": draft.name.strip(),
        "subject": draft.subject,
        "outcome": draft.outcome,
        "minimum_mentions": draft.minimum_mentions,
        "maximum_age_hours": draft.maximum_age_hours,
        "first_contact": draft.first_contact,
        "origin": draft.origin,
        **lists,
    }


@dataclass(frozen=True, slots=True)
class PostFacts:
    """Facts about a post that rules check: `mentions` counts accounts; `age` is how long this server has known the author."""

    text: str
    hosts: Collection[str]
    mentions: int
    age: timedelta
    local: bool


@dataclass(frozen=True, slots=True)
class SignUpFacts:
    """Facts about a sign-up that rules check."""

    reason: str
    mail_domain: str
    address: str | None


class SpamRules:
    """Rules for one subject, which are all matched together."""

    def __init__(self, rules: Sequence[SpamRule] = ()) -> None:
        self._rules = rules

    def __bool__(self) -> bool:
        return bool(self._rules)

    @cached_property
    def _patterns(self) -> tuple[Patterns[set[int]], Patterns[set[int]]]:
        """Patterns for words that are found as substrings, and for whole words; each word has the indexes of its rules."""
        parts: dict[Sequence[str], set[int]] = {}
        words: dict[Sequence[str], set[int]] = {}
        for place, rule in enumerate(self._rules):
            for word in rule.words:
                small = comparable(word).strip()
                if _UNSPACED.search(small):
                    parts.setdefault(small, set()).add(place)
                else:
                    words.setdefault(tuple(split(small)), set()).add(place)
        return Patterns(parts), Patterns(words)

    @cached_property
    def _networks(self) -> list[list[ipaddress.IPv4Network | ipaddress.IPv6Network]]:
        return [[network_of(network) for network in rule.networks] for rule in self._rules]

    def _with_words(self, written: str) -> set[int]:
        """Return the indexes of the rules that have no words, or a word that is in the text `written`."""
        places_found = {place for place, rule in enumerate(self._rules) if not rule.words}
        if len(places_found) < len(self._rules):
            text = Text(written)
            parts, words = self._patterns
            places_found = places_found.union(*(places for places, _start, _end in parts.find(text.lowered)))
            places_found = places_found.union(*(places for places, _start, _end in words.find(text.tokens)))
        return places_found

    def met_by_post(self, facts: PostFacts, is_first_contact: Callable[[], bool]) -> list[SpamRule]:
        """Return the matching rules, in the order of their ids; `is_first_contact` is called at most once."""
        hosts = _names_of(facts.hosts)
        met = {
            place: rule
            for place, rule in enumerate(self._rules)
            if (rule.origin == RuleOrigin.ANY or facts.local == (rule.origin == RuleOrigin.LOCAL))
            and (rule.minimum_mentions is None or facts.mentions >= rule.minimum_mentions)
            and (rule.maximum_age_hours is None or facts.age <= timedelta(hours=rule.maximum_age_hours))
            and (not rule.link_hosts or not hosts.isdisjoint(rule.link_hosts))
            and (not rule.first_contact or facts.mentions > 0)
        }
        if any(rule.words for rule in met.values()):
            with_words = self._with_words(facts.text)
            met = {place: rule for place, rule in met.items() if place in with_words}
        found = list(met.values())
        if any(rule.first_contact for rule in found) and not is_first_contact():
            found = [rule for rule in found if not rule.first_contact]
        return found

    def met_by_sign_up(self, facts: SignUpFacts) -> list[SpamRule]:
        """Return the rules that a sign-up matches, in the order of their ids."""
        domains = _names_of([facts.mail_domain])
        address = None if facts.address is None else ipaddress.ip_address(facts.address)
        with_words = self._with_words(facts.reason)
        return [
            rule
            for place, rule in enumerate(self._rules)
            if place in with_words
            and (not rule.mail_domains or not domains.isdisjoint(rule.mail_domains))
            and (
                not rule.networks
                or (address is not None and any(address in network for network in self._networks[place]))
            )
        ]


def _names_of(hosts: Iterable[str]) -> set[str]:
    """Return the hosts and their parent domains; a host with a port is also included without the port."""
    names = {name for host in hosts for name in domain_and_parents(host)}
    return names | {name.partition(":")[0] for name in names}


def is_held(rules: Iterable[SpamRule]) -> SpamRule | None:
    """Return the first of the matched rules that holds a post or sign-up for review by staff; None if none does."""
    return next((rule for rule in rules if rule.outcome == RuleOutcome.HOLD), None)
