"""Rate limits on callers, and the headers that report the limits.

Source: contract, behaviours section 4. Windows are fixed and aligned to the period; counting happens in `social.api.admission`,
in the same round trip that finds the caller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from social.kernel import errors

Subject = Literal["user", "token", "account", "address", "visitor"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Limit: at most `limit` requests in each `period` (seconds) for each subject.

    `per`: "address" counts all requests from a client address (or IPv6 /64), "visitor" only requests without a user. With
    `family`, only successful actions count: a refused request is subtracted again.
    """

    name: str
    limit: int
    period: int
    per: Subject
    family: bool = False


class Count(NamedTuple):
    """State of a rule's counter: the requests in this window, and the window's end (unix seconds)."""

    rule: Rule
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        return max(0, self.rule.limit - self.used)

    @property
    def exceeded(self) -> bool:
        return self.used > self.rule.limit


GENERAL_RULES: tuple[Rule, ...] = (
    Rule("api/user", 1500, 300, "user"),
    Rule("api/token", 300, 300, "token"),
    Rule("api/visitor", 300, 300, "visitor"),
)
PAGING: tuple[Rule, ...] = (
    Rule("paging/user", 300, 900, "user"),
    Rule("paging/visitor", 300, 900, "visitor"),
)
PAGING_PARAMETERS = ("page", "min_id", "max_id", "since_id")

_FAMILIES = {
    "follows": (Rule("follows", 400, 86400, "account", family=True),),
    "statuses": (Rule("statuses", 300, 10800, "account", family=True),),
    "reports": (Rule("reports", 400, 86400, "account", family=True),),
}
_LIMITS = {
    "media": (Rule("media", 30, 1800, "user"),),
    "media_proxy": (Rule("media_proxy", 30, 600, "address"),),
    "deletions": (Rule("deletions", 30, 1800, "user"),),
    "translations": (Rule("translations", 60, 600, "user"),),
    "sign_up": (Rule("sign_up", 5, 1800, "address"),),
    "apps": (Rule("apps", 5, 600, "address"),),
    "confirmations": (Rule("confirmations/address", 25, 300, "address"), Rule("confirmations/user", 5, 1800, "user")),
}

# These limits are for pages, which pass the subject themselves: `admission.count(SIGN_IN_EMAIL, subject=email)`.
SIGN_IN_ADDRESS = Rule("sign_in/address", 25, 300, "address")
SIGN_IN_EMAIL = Rule("sign_in/email", 25, 3600, "account")
SIGN_IN_BROWSER = Rule("sign_in/browser", 25, 3600, "account")
PASSWORD_RESET_ADDRESS = Rule("password_reset/address", 25, 300, "address")
PASSWORD_RESET_EMAIL = Rule("password_reset/email", 5, 1800, "account")

# Requests for remote files that this server has not cached yet.
FETCHED_FILES = Rule("fetched_files", 900, 600, "address")
# Look-ups at one remote server, for searches and mentions of all local accounts together (security row 71).
LOOK_UPS = Rule("look_ups", 10, 10, "account")
# Forwarded activities: counted per sending server, and per local account to whose followers they are forwarded.
FORWARDED = Rule("forwarded", 300, 3600, "account")
# Reports from one server: the limit is the same as for one local account.
REPORTS_OF_HOST = Rule("reports_of_host", 400, 86400, "account")
# Changes to one server's collections that make this server ask other servers whether the accounts in them consent.
FEATURED = Rule("featured", 120, 3600, "account")
# Threads that are fetched from other servers because one person opens them.
THREADS = Rule("threads", 300, 3600, "account")
# Unknown accounts that are fetched because posts of one server mention them.
MENTIONED = Rule("mentioned", 600, 3600, "account")
# Limits on claiming the one-time keys of an account: by one other account, and by all accounts of another server together. Once
# all keys are claimed, conversations begin without a one-time key.
CLAIMS = Rule("claims", 30, 3600, "account")
CLAIMS_OF_HOST = Rule("claims_of_host", 100, 3600, "account")

# These limits are for pages with costly work, and for pages on which secrets could be guessed. All pages that ask for the
# password again share one counter.
REAUTHENTICATION = Rule("password_again", 10, 600, "account")
ACCOUNT_LOOK_UPS = Rule("account_look_ups", 20, 3600, "account")
INTERACTIONS = Rule("interactions", 60, 3600, "account")
PUBLISHED_LIST = Rule("published_list", 30, 600, "address")
STORED_FORMS = Rule("kept_forms", 60, 3600, "account")
REMOTE_PAGES = Rule("remote_pages", 30, 600, "address")
IMPORTS = Rule("imports", 20, 86400, "account")
EXPORTS = Rule("exports", 60, 3600, "account")
APPEALS = Rule("appeals", 20, 3600, "account")
INVITATIONS = Rule("invitations", 30, 86400, "account")


def family(name: str) -> tuple[Rule, ...]:
    """Return the limit that related actions share; `name` is a key of `_FAMILIES`. Raises KeyError for any other name."""
    return _FAMILIES[name]


def limited(name: str) -> tuple[Rule, ...]:
    """Return the limit of one action; `name` is a key of `_LIMITS`. Raises KeyError for any other name."""
    return _LIMITS[name]


def tightest(counts: Iterable[Count]) -> Count | None:
    """Return the counter that the headers describe: the one with the fewest requests left, or the first of several such
    counters.
    """
    return min(counts, key=lambda count: count.remaining, default=None)


@lru_cache(maxsize=64)
def iso_reset(reset: int) -> str:
    """Return the time of a reset as `2024-01-31T12:35:00.000000Z`, because clients cannot parse a unix time (clients.md, trap
    13).
    """
    return datetime.fromtimestamp(reset, UTC).isoformat(timespec="microseconds")[:26] + "Z"


def headers(count: Count) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(count.rule.limit),
        "X-RateLimit-Remaining": str(count.remaining),
        "X-RateLimit-Reset": iso_reset(count.reset),
    }


def refuse_exceeded(counts: Iterable[Count | None]) -> None:
    """Raise RateLimited (429) if a counter exceeds its limit; None stands for a request that was not counted."""
    if any(count is not None and count.exceeded for count in counts):
        raise errors.RateLimited
