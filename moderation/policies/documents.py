"""Rules for the texts that staff write about this server: rules, terms, and the settings of the instance documents."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.utils.translation import gettext as _

from moderation.models.documents import TERMS_LIMIT
from social.kernel.colours import parse_colour
from social.kernel.errors import FieldError
from social.kernel.text.languages import known_language
from timelines.policies.access import Openness

RULE_LIMIT: Final = 300
HINT_LIMIT: Final = 2000
POSITION_MAXIMUM: Final = 1000
"""Maximum position of a rule; rules are sorted by position, the lowest first."""
TITLE_LIMIT: Final = 100
SHORT_LIMIT: Final = 1000
LONG_LIMIT: Final = 100_000
AUDIENCES: Final = ("disabled", "users", "all")
"""Audiences of published data: nobody, signed-in users, or everybody."""


@dataclass(frozen=True)
class RuleDraft:
    """A rule to be stored; `translations` maps languages to translated texts and hints."""

    text: str
    hint: str = ""
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    position: int = 0


def rule_errors(draft: RuleDraft) -> list[FieldError]:
    errors = []
    if not draft.text.strip():
        errors.append(FieldError.blank("text"))
    texts = [draft.text, *(words.get("text", "") for words in draft.translations.values())]
    hints = [draft.hint, *(words.get("hint", "") for words in draft.translations.values())]
    errors += _too_long("text", max(map(len, texts)), RULE_LIMIT) + _too_long("hint", max(map(len, hints)), HINT_LIMIT)
    if any(known_language(code) != code for code in draft.translations):
        errors.append(FieldError.invalid("translations"))
    if not 0 <= draft.position <= POSITION_MAXIMUM:
        message = _("must be a number from 0 to %(most)d") % {"most": POSITION_MAXIMUM}
        errors.append(FieldError("position", "ERR_INVALID", message))
    return errors


@dataclass(frozen=True)
class TermsDraft:
    """A version of the terms of service, in Markdown; `effective_date` is the first day on which it applies."""

    text: str
    changelog: str = ""
    effective_date: date | None = None


def terms_errors(draft: TermsDraft, *, publish: bool, today: date, is_date_taken: bool) -> list[FieldError]:
    """Return the errors of a version of the terms. With `publish`, its effective date is required and must not be before
    `today`; `is_date_taken` says whether another version has the same date.
    """
    errors = []
    if not draft.text.strip():
        errors.append(FieldError.blank("text"))
    for name, text in (("text", draft.text), ("changelog", draft.changelog)):
        errors += _too_long(name, len(text), TERMS_LIMIT)
    if publish and draft.effective_date is None:
        errors.append(FieldError.blank("effective_date"))
    elif publish and draft.effective_date is not None and draft.effective_date < today:
        errors.append(FieldError("effective_date", "ERR_INVALID", _("must not be in the past")))
    if is_date_taken:
        errors.append(FieldError.taken("effective_date"))
    return errors


@dataclass(frozen=True)
class SiteTexts:
    """Texts that describe this server, with the names in `accounts.queries.site_settings`."""

    site_title: str = ""
    site_short_description: str = ""
    site_extended_description: str = ""
    site_privacy_policy: str = ""
    site_contact_email: str = ""
    site_contact_username: str = ""
    site_languages: tuple[str, ...] = ()
    site_status_page_url: str = ""
    site_registrations: str = ""
    site_closed_message: str = ""
    site_confirm_email: bool = field(default_factory=lambda: bool(settings.CONFIRM_EMAIL))
    site_minimum_age: int = 0
    site_suggested_accounts: tuple[str, ...] = ()
    site_default_language: str = ""
    site_limited_federation: bool = field(default_factory=lambda: bool(settings.LIMITED_FEDERATION))
    site_remote_media_megabytes: int = 10_240
    site_show_domain_blocks: str = "disabled"
    site_show_domain_blocks_rationale: str = "disabled"
    site_publish_activity: bool = True
    site_publish_peers: bool = True
    site_trends_without_review: bool = False
    site_colour: str = ""
    site_custom_css: str = ""
    site_landing_page: str = "trends"
    site_access_live_feeds_local: str = Openness.PUBLIC
    site_access_live_feeds_remote: str = Openness.PUBLIC
    site_access_hashtag_feeds_local: str = Openness.PUBLIC
    site_access_hashtag_feeds_remote: str = Openness.PUBLIC
    site_access_trending_link_feeds_local: str = Openness.PUBLIC
    site_access_trending_link_feeds_remote: str = Openness.PUBLIC
    site_keep_addresses_days: int = 365
    site_keep_audit_log_days: int = 0
    site_keep_closed_reports_days: int = 0
    site_keep_held_posts_days: int = 90
    site_keep_remote_posts_days: int = 0
    site_remote_posts_limit: int = 0


ACCESS_NAMES: Final = tuple(each.name for each in fields(SiteTexts) if each.name.startswith("site_access_"))
RETENTION_NAMES: Final = tuple(each.name for each in fields(SiteTexts) if each.name.startswith("site_keep_"))
"""Retention settings in days; 0 means that the data are kept forever."""
LEAST_DAYS: Final = {"site_keep_audit_log_days": 30, "site_keep_remote_posts_days": 7}
"""Minimum retention in days; for the audit log, the database enforces it as well."""
DAYS_LIMIT: Final = 36_500
NUMBERS: Final = {
    "site_minimum_age": (0, 120),
    "site_remote_media_megabytes": (1, 999_999),
    "site_remote_posts_limit": (0, 999_999_999),
}
"""Settings that are numbers, each with its minimum and maximum."""

SUGGESTED_LIMIT: Final = 50
"""Maximum number of accounts that are suggested to newcomers."""
LANDING_PAGES: Final = ("trends", "local_feed", "about")
"""Options for the front page that visitors see: values of Mastodon's setting `landing_page`."""

_CHOICES: Final[dict[str, Collection[str]]] = {
    # The empty text means that staff have chosen nothing, so the default from the environment applies.
    "site_registrations": ("", "open", "approval", "closed"),
    "site_default_language": ("", *(code for code, _name in settings.LANGUAGES)),
    "site_show_domain_blocks": AUDIENCES,
    "site_show_domain_blocks_rationale": AUDIENCES,
    "site_landing_page": LANDING_PAGES,
    **dict.fromkeys(ACCESS_NAMES, tuple(Openness)),
}


def site_errors(texts: SiteTexts, *, contact_known: bool, unknown: Collection[str] = ()) -> list[FieldError]:
    """Return the errors of the texts; `unknown` are the addresses of suggested accounts that this server does not know."""
    errors = _too_long("site_title", len(texts.site_title), TITLE_LIMIT)
    for name in ("site_short_description", "site_closed_message"):
        errors += _too_long(name, len(getattr(texts, name)), SHORT_LIMIT)
    for name in ("site_extended_description", "site_privacy_policy", "site_custom_css"):
        errors += _too_long(name, len(getattr(texts, name)), LONG_LIMIT)
    if texts.site_contact_email and not _is_valid(validate_email, texts.site_contact_email):
        errors.append(FieldError.invalid("site_contact_email"))
    if texts.site_status_page_url and not _is_valid(URLValidator(["https", "http"]), texts.site_status_page_url):
        errors.append(FieldError.invalid("site_status_page_url"))
    if texts.site_colour and parse_colour(texts.site_colour) != texts.site_colour:
        errors.append(FieldError("site_colour", "ERR_INVALID", _("is not a colour such as #0b6e66")))
    if len(texts.site_suggested_accounts) > SUGGESTED_LIMIT:
        message = _("are more than %(count)d") % {"count": SUGGESTED_LIMIT}
        errors.append(FieldError("site_suggested_accounts", "ERR_TOO_MANY", message))
    elif unknown:
        message = _("contain accounts that this server does not know: %(names)s") % {"names": ", ".join(unknown)}
        errors.append(FieldError("site_suggested_accounts", "ERR_INVALID", message))
    if not contact_known:
        errors.append(FieldError("site_contact_username", "ERR_INVALID", _("is not a person of this server")))
    if any(known_language(code) != code for code in texts.site_languages):
        errors.append(FieldError.invalid("site_languages"))
    for name, choices in _CHOICES.items():
        if getattr(texts, name) not in choices:
            errors.append(FieldError.not_included(name))
    for name, (least, most) in NUMBERS.items():
        if not least <= getattr(texts, name) <= most:
            message = _("must be a number from %(least)d to %(most)d") % {"least": least, "most": most}
            errors.append(FieldError(name, "ERR_INVALID", message))
    for name in RETENTION_NAMES:
        least = LEAST_DAYS.get(name, 1)
        if getattr(texts, name) != 0 and not least <= getattr(texts, name) <= DAYS_LIMIT:
            message = _("is 0, or between %(least)d and %(most)d") % {"least": least, "most": DAYS_LIMIT}
            errors.append(FieldError(name, "ERR_INVALID", message))
    return errors


def is_for(audience: str, *, signed_in: bool) -> bool:
    """Tell whether data for `audience` (one of AUDIENCES) are shown to this viewer."""
    return audience == "all" or (audience == "users" and signed_in)


def obfuscated(domain: str) -> str:
    """Return a domain with its middle hidden, so that only people who know it recognise it."""
    kept_length = max(1, len(domain) // 4)
    return "".join(
        letter if letter == "." or index < kept_length or index >= len(domain) - kept_length else "*"
        for index, letter in enumerate(domain)
    )


def _too_long(name: str, length: int, limit: int) -> list[FieldError]:
    return [FieldError.too_long(name, limit)] if length > limit else []


def _is_valid(validate: Any, value: str) -> bool:
    try:
        validate(value)
    except ValidationError:
        return False
    return True
