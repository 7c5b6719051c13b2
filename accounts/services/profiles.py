"""Changes the profile of a local account, and its defaults for posts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.events import ProfileLinksChanged, ProfileUpdated
from accounts.models import Account, ActorType, User
from accounts.models.account import NOTE_LIMIT as NOTE_STORED_LIMIT
from accounts.policies.domains import public_domain
from accounts.policies.visibility import DEFAULTS, QUOTE_POLICIES
from accounts.queries.accounts import by_address, split_address
from accounts.services.changing import change_account
from accounts.services.follow_requests import accept_waiting
from accounts.services.following import lock_name
from accounts.services.profile_links import links_to_verify
from accounts.services.profile_pictures import PictureUpload, draw_pictures, picture_errors, remove_replaced, stored
from social.kernel import links
from social.kernel.errors import FieldError, require_valid
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.characters import counted_length
from social.kernel.text.languages import known_language
from social.kernel.text.names import one_line
from social.kernel.text.scan import Token, scan
from social.kernel.text.to_html import MentionTarget, to_html

DISPLAY_NAME_LIMIT = 40
NOTE_LIMIT = 500
FIELDS_LIMIT = 4
FIELD_LENGTH = 255
DESCRIPTION_LIMIT = 150
# contract, parameters, update_credentials
ATTRIBUTION_DOMAINS_LIMIT = 100


@dataclass(frozen=True)
class ProfileChange:
    """Changes of a profile; None leaves a value as it is (parameters section 2 "update_credentials").

    An empty `language` resets the default language of posts. `unsaid` names settings that become null (not chosen).
    """

    display_name: str | None = None
    note: str | None = None
    locked: bool | None = None
    bot: bool | None = None
    discoverable: bool | None = None
    hide_collections: bool | None = None
    indexable: bool | None = None
    show_media: bool | None = None
    show_media_replies: bool | None = None
    show_featured: bool | None = None
    avatar: PictureUpload | None = None
    header: PictureUpload | None = None
    avatar_description: str | None = None
    header_description: str | None = None
    fields: Sequence[tuple[str, str]] | None = None
    attribution_domains: Sequence[str] | None = None
    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None
    unsaid: Sequence[str] = ()

    @property
    def pictures(self) -> dict[str, PictureUpload]:
        sent = {"avatar": self.avatar, "header": self.header}
        return {name: upload for name, upload in sent.items() if upload is not None}


def _cleaned(change: ProfileChange) -> ProfileChange:
    return replace(
        change,
        display_name=one_line(change.display_name) if change.display_name is not None else None,
        note=change.note.strip() if change.note is not None else None,
    )


def change_errors(change: ProfileChange) -> list[FieldError]:
    errors = []
    if change.display_name is not None and len(change.display_name) > DISPLAY_NAME_LIMIT:
        errors.append(FieldError.too_long("display_name", DISPLAY_NAME_LIMIT))
    # One grapheme may have any number of code points, and a link counts as 23 whatever its length. A bio that is too long to be
    # stored is not counted, because counting would take seconds (security row 57).
    if change.note is not None and (len(change.note) > NOTE_STORED_LIMIT or counted_length(change.note) > NOTE_LIMIT):
        errors.append(FieldError.too_long("note", NOTE_LIMIT))
    for name in ("avatar_description", "header_description"):
        text = getattr(change, name)
        if text is not None and len(text) > DESCRIPTION_LIMIT:
            errors.append(FieldError.too_long(name, DESCRIPTION_LIMIT))
    for name, allowed in (("privacy", DEFAULTS), ("quote_policy", QUOTE_POLICIES)):
        value = getattr(change, name)
        if value is not None and value not in allowed:
            errors.append(FieldError.not_included(name))
    errors += _field_errors(change.fields or ())
    if change.language and known_language(change.language) is None:
        errors.append(FieldError.not_included("language"))
    errors += _domain_errors(change.attribution_domains or ())
    for name, upload in change.pictures.items():
        errors += picture_errors(name, upload)
    return errors


def bare_domain(written: str) -> str:
    """Return the domain without a scheme, which people often include, and without a wildcard for subdomains."""
    return written.strip().removeprefix("https://").removeprefix("http://").removeprefix("*.")


def _domain_errors(domains: Sequence[str]) -> list[FieldError]:
    distinct = dict.fromkeys(domains)
    if len(distinct) > ATTRIBUTION_DOMAINS_LIMIT:
        message = _("is too long (maximum is {count})").format(count=ATTRIBUTION_DOMAINS_LIMIT)
        return [FieldError("attribution_domains", "ERR_TOO_LONG", message)]
    return [
        FieldError(
            "attribution_domains",
            "ERR_INVALID_DOMAIN_ON_LINE",
            _("%(domain)s is not a valid domain name") % {"domain": bare_domain(domain)},
        )
        for domain in distinct
        if public_domain(bare_domain(domain)) is None
    ]


def _field_errors(fields: Sequence[tuple[str, str]]) -> list[FieldError]:
    filled = [(name.strip(), value.strip()) for name, value in fields if name.strip() or value.strip()]
    if len(filled) > FIELDS_LIMIT:
        return [FieldError.too_long("fields", FIELDS_LIMIT)]
    if any(not name for name, _value in filled):
        message = _("contains values with missing labels")
        return [FieldError("fields", "ERR_FIELDS_WITH_VALUES_MISSING_LABELS", message)]
    return []


def _mentions(tokens: Iterable[Token]) -> dict[str, MentionTarget]:
    """Return the known accounts that a bio or field mentions, for `to_html`."""
    written = {token.acct: split_address(token.acct) for token in tokens if token.kind == "mention"}
    accounts = by_address([pair for pair in written.values() if pair is not None])
    targets = {}
    for acct, pair in written.items():
        account = accounts.get((pair[0].lower(), pair[1])) if pair is not None else None
        if account is not None:
            targets[acct.lower()] = MentionTarget(account.username, account.acct, account.page_url)
    return targets


def profile_html(text: str, *, field: bool = False) -> str:
    """Render a bio, or with `field` the value of a profile field, as HTML (contract, behaviours section 8)."""
    tokens = scan(text)
    return to_html(tokens, mentions=_mentions(tokens), hashtag_url=links.tag_url, profile_field=field)


_PLAIN_COLUMNS: Final = (
    "locked",
    "discoverable",
    "hide_collections",
    "indexable",
    "show_media",
    "show_media_replies",
    "show_featured",
    "avatar_description",
    "header_description",
)


def update_profile(*, user: User, change: ProfileChange) -> User:
    """Apply a change to a user's own profile and settings completely or not at all. Publishes ProfileUpdated.

    Unlocking accepts pending follow requests, except requests from limited accounts: the first hundred immediately, the others
    in the background. A failed change leaves no files. Raises Invalid with `details`.
    """
    change = _cleaned(change)
    require_valid(change_errors(change), details=True)
    shown: dict[str, Any] = {}
    for name in _PLAIN_COLUMNS:
        value = getattr(change, name)
        if value is not None:
            shown[name] = value
    shown |= dict.fromkeys(change.unsaid)
    if change.display_name is not None:
        shown["display_name"] = change.display_name
    if change.note is not None:
        shown |= {"note": change.note, "note_html": profile_html(change.note)}
    if change.bot is not None:
        shown["actor_type"] = ActorType.SERVICE if change.bot else ActorType.PERSON
    if change.attribution_domains is not None:
        kept = (public_domain(bare_domain(domain)) for domain in dict.fromkeys(change.attribution_domains))
        shown["attribution_domains"] = list(dict.fromkeys(domain for domain in kept if domain is not None))
    if change.fields is not None:
        shown["fields"] = _fields(change.fields, user.account.fields)
    own = {
        "default_privacy": change.privacy,
        "default_sensitive": change.sensitive,
        "default_language": known_language(change.language),
        "default_quote_policy": change.quote_policy,
    }
    with stored(draw_pictures(change.pictures, account_id=user.account_id)) as pictures, transaction.atomic():
        shown |= pictures
        if change.locked is False:
            # This lock is taken before row locks, because a follow request holds it while its foreign keys lock the account's
            # row.
            lock(lock_name(user.account_id))
        # The row is locked with FOR NO KEY UPDATE. With FOR UPDATE, a transaction that blocks this account would wait for the
        # row while it holds the lock of the pair.
        account = Account.objects.select_for_update(no_key=True).get(id=user.account_id)
        settings_changed: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
        if change.language == "":
            settings_changed["default_language"] = None
        if settings_changed:
            User.objects.filter(id=user.id).update(**settings_changed)
        changed = {name: value for name, value in shown.items() if getattr(account, name) != value}
        if changed:
            remove_replaced(account, pictures)
            change_account(account.id, **changed)
            publish(ProfileUpdated(account_id=account.id))
        if links_to_verify(changed.get("fields", ())):
            publish(ProfileLinksChanged(account_id=account.id))
        if account.locked and changed.get("locked") is False:
            accept_waiting(account.id)
    return User.objects.select_related("account__stat", "role").get(id=user.id)


def _fields(new: Sequence[tuple[str, str]], old: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    verified = {(item["name"], item["value"]): item.get("verified_at") for item in old}
    rows = []
    for raw_name, raw_value in new:
        name, value = raw_name.strip()[:FIELD_LENGTH], raw_value.strip()[:FIELD_LENGTH]
        if name or value:
            rows.append(
                {
                    "name": name,
                    "value": value,
                    "html": profile_html(value, field=True),
                    "verified_at": verified.get((name, value)),
                }
            )
    return rows
