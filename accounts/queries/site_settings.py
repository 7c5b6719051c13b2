"""Reads the settings that an operator changes while the server runs."""

from datetime import datetime
from typing import Any, Final, Literal, cast

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import SiteSetting
from social.kernel.identity import Identity, default_language

SUGGESTED_SETTING: Final = "site_suggested_accounts"
"""Key of the setting for the accounts that are suggested to newcomers."""

_DEFAULTS: Final[dict[str, Any]] = {
    "site_extended_description": "",
    "site_privacy_policy": "",
    "site_contact_email": "",
    "site_contact_username": "",
    "site_status_page_url": "",
    "site_closed_message": "",
    "site_show_domain_blocks": "disabled",
    "site_show_domain_blocks_rationale": "disabled",
    "site_publish_activity": True,
    "site_publish_peers": True,
    "site_thumbnail": "",
    "site_icon": {},
    "site_favicon": {},
    "site_colour": "",
    "site_custom_css": "",
    "site_landing_page": "trends",
    "site_trends_without_review": False,
    SUGGESTED_SETTING: [],
}


ACCESS_SETTING: Final = "timelines_access"
"""Key of the timeline access setting: `{"live_feeds": {"local": "public", "remote": "disabled"}, "hashtag_feeds": ..}`."""

BACKUP_SETTING: Final = "backup_taken"
"""Key of the setting that holds the time of the last backup."""


def load_site_texts(*, raw: bool = False) -> dict[str, Any]:
    """Load the texts and settings that staff have written for this server, with defaults unless `raw`."""
    rows = SiteSetting.objects.filter(Q(key__startswith="site_") | Q(key=ACCESS_SETTING))
    stored = dict(rows.values_list("key", "value"))
    for kind, origins in (stored.pop(ACCESS_SETTING, None) or {}).items():
        stored |= {f"site_access_{kind}_{origin}": openness for origin, openness in origins.items()}
    if raw:
        return stored
    return (
        _DEFAULTS
        | stored
        | {_key_of(name): _value_of(name, stored.get(_key_of(name))) for name in settings.SITE_SETTINGS}
        | {
            "site_title": stored.get("site_title") or settings.LOCAL_DOMAIN,
            "site_short_description": stored.get("site_short_description")
            or _("A social networking server, open to the fediverse."),
            "site_languages": stored.get("site_languages") or [default_language()],
        }
    )


def fixed_site_settings() -> frozenset[str]:
    """Return the keys of settings from the environment, which staff cannot change."""
    return frozenset(_key_of(name) for name in settings.FIXED_SITE_SETTINGS)


def retention_days(name: str) -> int:
    """Return the retention in days of the setting with this name; 0 means for ever."""
    return int(_find(name))


def find_remote_posts_limit() -> int:
    """Return the number of remote posts beyond which the oldest are deleted; 0 means no limit."""
    return int(_find("REMOTE_POSTS_LIMIT"))


def find_minimum_age() -> int:
    """Return the age in years that people must have to sign up; 0 means no limit."""
    return int(_find("MINIMUM_AGE"))


def must_confirm_email() -> bool:
    """Tell whether people must confirm their e-mail address. They must if there is a captcha, because it is on the confirmation
    page.
    """
    return settings.CAPTCHA is not None or bool(_find("CONFIRM_EMAIL"))


def find_suggested_accounts() -> list[str]:
    """Return the addresses of the accounts that are suggested to newcomers, in the order that staff have chosen."""
    value = SiteSetting.objects.filter(key=SUGGESTED_SETTING).values_list("value", flat=True).first()
    return list(value or ())


def find_media_budget() -> int:
    """Return the storage budget in bytes for copies of remote files."""
    stored = SiteSetting.objects.filter(key=_key_of("REMOTE_MEDIA_MEGABYTES")).values_list("value", flat=True).first()
    if "REMOTE_MEDIA_MEGABYTES" in settings.FIXED_SITE_SETTINGS or not stored:
        return int(settings.REMOTE_MEDIA_BUDGET)
    return int(stored) * 1_000_000


def find_registrations() -> Literal["open", "approval", "closed"]:
    """Return who may sign up without an invitation: everybody, people whom staff approve, or nobody."""
    return cast(Literal["open", "approval", "closed"], _find("REGISTRATIONS"))


def _find(name: str) -> Any:
    return _value_of(name, SiteSetting.objects.filter(key=_key_of(name)).values_list("value", flat=True).first())


def _value_of(name: str, stored: Any) -> Any:
    """Return the value from the environment, or else the stored value, or else the default."""
    is_default = name in settings.FIXED_SITE_SETTINGS or stored is None or stored == ""
    return getattr(settings, name) if is_default else stored


def _key_of(name: str) -> str:
    return f"site_{name.lower()}"


def find_site_text(key: str) -> tuple[str, datetime] | None:
    """Return a text that staff have written, and when it was last changed; None if the text is empty."""
    setting = SiteSetting.objects.filter(key=key).first()
    return (str(setting.value), setting.updated_at) if setting is not None and setting.value else None


_IDENTITY: Final = {
    "site_title": "title",
    "site_short_description": "description",
    "site_thumbnail": "picture",
    "site_icon": "icons",
    "site_favicon": "favicons",
    "site_colour": "colour",
    "site_custom_css": "custom_css",
}

_CHOICES: Final = {
    "REGISTRATIONS": "registrations",
    "DEFAULT_LANGUAGE": "language",
    "LIMITED_FEDERATION": "limited_federation",
}


def load_identity() -> Identity:
    """Load the identity of this server; one query."""
    keys = [*_IDENTITY, *map(_key_of, _CHOICES)]
    stored = dict(SiteSetting.objects.filter(key__one_of=keys).values_list("key", "value"))
    chosen = {field: _value_of(name, stored.pop(_key_of(name), None)) for name, field in _CHOICES.items()}
    return Identity(**{_IDENTITY[key]: value for key, value in stored.items() if value}, **chosen)


def find_site_title() -> str:
    """Return the name of this server: the name set by staff, or else the domain."""
    setting = find_site_text("site_title")
    return settings.LOCAL_DOMAIN if setting is None else setting[0]
