"""Changes the texts that staff write about this server. Every change requires a permission of `by`, and logs the previous
values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC
from io import BytesIO
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.copies.models import QuarantineSource
from accounts.copies.services.quarantine import Origin, refuse_unless_clean
from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.accounts import by_address, has_address, split_address
from accounts.queries.site_settings import ACCESS_SETTING, fixed_site_settings, load_site_texts
from accounts.services.audit import record, write_setting
from moderation.models import InstanceRule, TermsOfService
from moderation.policies import documents as policies
from moderation.policies.documents import RuleDraft, SiteTexts, TermsDraft
from moderation.queries.first_steps import HIDDEN_SETTING
from social.kernel import clock
from social.kernel.colours import parse_colour
from social.kernel.errors import Conflict, FieldError, Invalid, require_valid
from social.kernel.identity import ICON_SIZES, forget_identity
from social.kernel.locks import lock_row
from social.kernel.media import images, storage
from timelines.policies.access import HASHTAG, LIVE, TRENDING_LINK
from timelines.queries.public import forget_access

THUMBNAIL_LIMIT: Final = 8 * 1024 * 1024
_THUMBNAIL: Final = images.Shape(1200, 630, cropped=True)


def create_rule(*, by: Staff, draft: RuleDraft) -> InstanceRule:
    """Add a rule. Raises Forbidden, Invalid."""
    require(by, Permission.MANAGE_RULES)
    values = _values(draft)
    with transaction.atomic():
        rule = InstanceRule.objects.create(**values)
        _record(by, "create", "Rule", rule.id, rule.text, after=values)
    return rule


def update_rule(*, by: Staff, rule: InstanceRule, draft: RuleDraft) -> None:
    """Change a rule. Raises Forbidden, Invalid, NotFound."""
    require(by, Permission.MANAGE_RULES)
    values = _values(draft)
    with transaction.atomic():
        locked = lock_row(rule)
        before = {name: getattr(locked, name) for name in values}
        InstanceRule.objects.filter(id=rule.id).update(**values)
        _record(by, "update", "Rule", rule.id, locked.text, before=before, after=values)


def withdraw_rule(*, by: Staff, rule: InstanceRule) -> None:
    """Withdraw a rule; its row is kept, because reports may name it. Repeating it is not an error. Raises Forbidden."""
    require(by, Permission.MANAGE_RULES)
    with transaction.atomic():
        if InstanceRule.objects.filter(id=rule.id, withdrawn_at=None).update(withdrawn_at=clock.now()):
            _record(by, "destroy", "Rule", rule.id, rule.text)


def write_terms(*, by: Staff, draft: TermsDraft, terms: TermsOfService | None = None) -> TermsOfService:
    """Store a new or changed draft of the terms of service. Raises Forbidden, Invalid; Conflict for a published version."""
    require(by, Permission.MANAGE_SETTINGS)
    with transaction.atomic():
        version = _lock_draft(terms) if terms is not None else TermsOfService()
        _check_terms(version, draft, publish=False)
        version.text, version.changelog, version.effective_date = draft.text, draft.changelog, draft.effective_date
        version.save()
        _record(by, "create" if terms is None else "update", "TermsOfService", version.id, str(version))
    return version


def publish_terms(*, by: Staff, terms: TermsOfService) -> None:
    """Publish a draft: it applies from its effective date on, and can never be changed. Raises Forbidden, Invalid, Conflict."""
    require(by, Permission.MANAGE_SETTINGS)
    with transaction.atomic():
        version = _lock_draft(terms)
        _check_terms(version, TermsDraft(version.text, version.changelog, version.effective_date), publish=True)
        TermsOfService.objects.filter(id=version.id).update(published_at=clock.now())
        _record(by, "publish", "TermsOfService", version.id, str(version))


def delete_terms(*, by: Staff, terms: TermsOfService) -> None:
    """Delete a draft. Raises Forbidden, and Conflict for a published version."""
    require(by, Permission.MANAGE_SETTINGS)
    with transaction.atomic():
        version = _lock_draft(terms)
        _record(by, "destroy", "TermsOfService", version.id, str(version))
        version.delete()


def change_site(*, by: Staff, texts: SiteTexts) -> None:
    """Store the texts and settings of this server; an empty text removes the stored text, and values set by the environment
    are not changed. Takes effect within seconds. Raises Forbidden, Invalid.
    """
    require(by, Permission.MANAGE_SETTINGS)
    texts = replace(texts, site_colour=parse_colour(texts.site_colour) or texts.site_colour)
    contact = texts.site_contact_username
    is_contact_known = not contact or Account.objects.filter(has_address(contact, None), deleted_at=None).exists()
    suggested = texts.site_suggested_accounts
    unknown = _unknown(suggested) if len(suggested) <= policies.SUGGESTED_LIMIT else ()
    require_valid(policies.site_errors(texts, contact_known=is_contact_known, unknown=unknown), details=True)
    with transaction.atomic():
        before = load_site_texts(raw=True)
        defaults, fixed = _values_to_store(SiteTexts()), fixed_site_settings()
        after = _values_to_store(texts)
        changes = {
            name: value
            for name, value in after.items()
            if before.get(name, defaults[name]) != value and name not in fixed
        }
        for name, value in changes.items():
            if name not in policies.ACCESS_NAMES:
                write_setting(name, value)
        if changes.keys() & set(policies.ACCESS_NAMES):
            openness = {
                kind: {origin: after[f"site_access_{kind}_{origin}"] for origin in ("local", "remote")}
                for kind in (LIVE, HASHTAG, TRENDING_LINK)
            }
            write_setting(ACCESS_SETTING, openness)
            transaction.on_commit(forget_access, robust=True)
        if changes:
            transaction.on_commit(forget_identity, robust=True)
            old = {name: before.get(name) for name in changes}
            _record(by, "update", "SiteSetting", 0, "", before=old, after=changes)


def _unknown(addresses: Sequence[str]) -> list[str]:
    """Return the addresses among these that are not addresses of known accounts."""
    pairs = {address: split_address(address) for address in addresses}
    known = by_address([pair for pair in pairs.values() if pair is not None])
    lowered = {address: pair and (pair[0].lower(), pair[1]) for address, pair in pairs.items()}
    return [address for address, pair in lowered.items() if pair not in known]


def _values_to_store(texts: SiteTexts) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(texts).items()}


def change_thumbnail(*, by: Staff, data: bytes | None) -> None:
    """Replace the picture of this server, cropped to 1200 by 630; None removes it. Raises Forbidden, Invalid, Unavailable."""
    require(by, Permission.MANAGE_SETTINGS)
    stored = _draw_all(by, "thumbnail", data, {"thumbnail": _THUMBNAIL})
    _replace_pictures(by, "site_thumbnail", stored.get("thumbnail", ""), stored.values())


def change_icon(*, by: Staff, data: bytes | None, favicon: bool = False) -> None:
    """Replace the icon of this server or, with `favicon`, the icon that browsers show in tabs. The picture is cropped to
    squares of ICON_SIZES. None removes it. Raises the same errors as `change_thumbnail`.
    """
    require(by, Permission.MANAGE_SETTINGS)
    field = "favicon" if favicon else "icon"
    shapes = {str(size): images.Shape(size, size, cropped=True) for size in ICON_SIZES}
    stored = _draw_all(by, field, data, shapes)
    _replace_pictures(by, f"site_{field}", stored, stored.values())


def _draw_all(by: Staff, field: str, data: bytes | None, shapes: Mapping[str, images.Shape]) -> dict[str, str]:
    """Store the picture in each shape; return the paths."""
    paths: dict[str, str] = {}
    if data is None:
        return paths
    if len(data) > THUMBNAIL_LIMIT:
        message = _("must be less than %(size)d MB") % {"size": THUMBNAIL_LIMIT // 1024 // 1024}
        raise Invalid.of([FieldError(field, "ERR_LESS_THAN", message)], details=True)
    refuse_unless_clean(data, content_type="", origin=Origin(QuarantineSource.STAFF, by.account_id))
    try:
        for name, shape in shapes.items():
            with images.draw(BytesIO(data), shape) as drawing:
                picture = drawing.still or drawing.shown
                paths[name] = storage.store(picture.data, folder="site", extension=picture.extension)
    except BaseException:
        storage.remove(*paths.values())
        raise
    return paths


def _replace_pictures(by: Staff, key: str, value: Any, paths: Iterable[str]) -> None:
    """Store the setting, and remove the files of its former value; if storing fails, remove the new files."""
    try:
        with transaction.atomic():
            before = load_site_texts(raw=True).get(key) or ""
            write_setting(key, value)
            _record(by, "update", "SiteSetting", 0, key)
            former = list(before.values()) if isinstance(before, dict) else [before]
            transaction.on_commit(forget_identity, robust=True)
            storage.remove_after_commit(*former)
    except BaseException:
        storage.remove(*paths)
        raise


def hide_first_steps(*, by: Staff) -> None:
    """Hide the steps for setting up a new server, which the first page of the admin shows, from all staff. Raises Forbidden."""
    require(by, Permission.MANAGE_SETTINGS)
    with transaction.atomic():
        write_setting(HIDDEN_SETTING, True)
        _record(by, "update", "SiteSetting", 0, HIDDEN_SETTING)


def _values(draft: RuleDraft) -> dict[str, Any]:
    """Return the columns of a rule. Raises Invalid."""
    require_valid(policies.rule_errors(draft), details=True)
    return {
        "text": draft.text.strip(),
        "hint": draft.hint.strip(),
        "translations": {code: dict(words) for code, words in draft.translations.items()},
        "position": draft.position,
    }


def _lock_draft(terms: TermsOfService) -> TermsOfService:
    locked = lock_row(terms)
    if locked.published_at is not None:
        raise Conflict(_("These terms have been published and cannot be changed any more."))
    return locked


def _check_terms(terms: TermsOfService, draft: TermsDraft, *, publish: bool) -> None:
    others = TermsOfService.objects.filter(effective_date=draft.effective_date).exclude(id=terms.id)
    is_taken = draft.effective_date is not None and others.exists()
    today = clock.now().astimezone(UTC).date()
    require_valid(policies.terms_errors(draft, publish=publish, today=today, is_date_taken=is_taken), details=True)


def _record(by: Staff, action: str, kind: str, number: int, name: str, **details: Any) -> None:
    record(by=by, action=action, target_type=kind, target_id=number, target_name=name[:80], **details)
