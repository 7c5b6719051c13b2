"""Creates, changes and deletes filters (contract, parameters section 4 "filters"); publishes FiltersChanged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Sum
from django.db.models.functions import Length
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from social.kernel import clock
from social.kernel.errors import FieldError, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import keep_row, lock, lock_row
from statuses.events import FiltersChanged
from statuses.models import Filter, FilterAction, FilterContext, FilterKeyword, FilterStatus
from statuses.models.filter import KEYWORD_LIMIT, TITLE_LIMIT
from statuses.policies.filters import CHARACTERS_LIMIT
from statuses.queries.statuses import is_readable, load_existing

FILTERS_LIMIT: Final = 500
"""Maximum number of filters of an account; not in the contract, but needed to keep page requests fast."""

KEYWORDS_LIMIT: Final = 2000
"""Maximum number of keywords in all filters of an account (with at most CHARACTERS_LIMIT characters); not in the contract."""

STATUSES_LIMIT: Final = 2000
"""Maximum number of posts in all filters of an account; not in the contract, but needed, because these posts are read with each
page."""

_LONGEST_SECONDS: Final = 100 * 366 * 24 * 3600
_SEVERAL_KEYWORDS_MESSAGE: Final = gettext_noop(
    "These parameters cannot be changed from this application because they apply to more than one filter keyword. "
    "Use a more recent application or the web interface."
)


@dataclass(frozen=True)
class KeywordDraft:
    """A keyword to be created, changed or, with `destroy`, deleted; None keeps a value or stands for the default."""

    id: int | None = None
    keyword: str | None = None
    whole_word: bool | None = None
    destroy: bool = False


@dataclass(frozen=True)
class FilterDraft:
    """Filter as a client sent it; None stands for a value that was not sent. `expires_in` is in seconds; if it was sent
    (`expires`), None means that the filter never expires.
    """

    title: str | None = None
    context: tuple[str, ...] | None = None
    action: str | None = None
    expires: bool = False
    expires_in: int | None = None
    keywords: Sequence[KeywordDraft] = ()


@contextmanager
def _changing(account_id: int, *rows: Filter | FilterKeyword) -> Iterator[None]:
    """Lock the account's filters and these rows during the block, and publish FiltersChanged. Raises NotFound."""
    with transaction.atomic():
        lock(f"filters:{account_id}")
        for row in rows:
            keep_row(row)
        yield
        publish(FiltersChanged(account_id=account_id))


def create_filter(*, account_id: int, draft: FilterDraft) -> Filter:
    """Create a filter with its keywords; blank keywords are skipped. Raises Invalid with all errors."""
    new_filter = Filter(account_id=account_id, title="", context=[])
    with _changing(account_id):
        if Filter.objects.filter(account_id=account_id).count() >= FILTERS_LIMIT:
            raise Invalid.sentence(_("You have reached the maximum number of filters"))
        _write(new_filter, draft)
    return new_filter


def update_filter(*, found: Filter, draft: FilterDraft) -> None:
    """Update the submitted values of a filter, all or none, and keep the others. Raises Invalid, or NotFound for a keyword of
    another filter.
    """
    with _changing(found.account_id, found):
        _write(found, draft)


def delete_filter(*, found: Filter) -> None:
    """Delete a filter with its keywords and posts. Raises NotFound if the filter is already deleted."""
    with transaction.atomic():
        lock_row(found).delete()
        publish(FiltersChanged(account_id=found.account_id))


def add_keyword(*, found: Filter, draft: KeywordDraft) -> FilterKeyword:
    """Add a keyword. Raises Invalid for a blank or too long keyword, NotFound if the filter was deleted."""
    new_keyword = FilterKeyword(filter=found, keyword="")
    with _changing(found.account_id, found):
        _check(_write_keyword(new_keyword, draft, label=_("Keyword")))
        new_keyword.save()
        _check_keywords(found.account_id)
    return new_keyword


def update_keyword(*, found: FilterKeyword, draft: KeywordDraft) -> None:
    """Update the submitted values of a keyword and keep the others. Raises Invalid, or NotFound if the keyword was deleted."""
    with _changing(found.filter.account_id, found):
        _check(_write_keyword(found, draft, label=_("Keyword")))
        found.save()
        _check_keywords(found.filter.account_id)


def remove_from_filter(*, found: FilterKeyword | FilterStatus) -> None:
    with transaction.atomic():
        found.delete()
        publish(FiltersChanged(account_id=found.filter.account_id))


def add_status(*, found: Filter, status_id: Any) -> FilterStatus:
    """Add a post to a filter. Raises Invalid for a post that is unreadable or already in the filter, NotFound for a deleted
    filter.
    """
    row = load_existing(status_id)
    if row is None:
        raise Invalid.sentence(_("Status must exist"))
    if not is_readable(row, found.account_id):
        raise Invalid.sentence(_("Status is invalid"))
    with _changing(found.account_id, found):
        filter_status, is_new = FilterStatus.objects.get_or_create(filter=found, status_id=row.id)
        if not is_new:
            raise Invalid.sentence(_("Status has already been taken"))
        if FilterStatus.objects.filter(filter__account_id=found.account_id).count() > STATUSES_LIMIT:
            raise Invalid.sentence(_("You have reached the maximum number of filtered posts"))
    return filter_status


def create_with_keyword(*, account_id: int, draft: FilterDraft, keyword: KeywordDraft) -> FilterKeyword:
    """Create a filter through the older API: with one keyword, which is also its title. Errors name only the title."""
    keywords = [keyword] if len(keyword.keyword or "") <= TITLE_LIMIT else []
    new_filter = create_filter(account_id=account_id, draft=replace(draft, keywords=keywords))
    return FilterKeyword.objects.select_related("filter").get(filter=new_filter)


def update_with_keyword(*, found: FilterKeyword, draft: FilterDraft, keyword: KeywordDraft) -> None:
    """Change a filter through the older API, by one of its keywords; a changed phrase becomes the title as well. Raises Invalid
    if the filter has other keywords and more than `whole_word` would change, and NotFound.
    """
    parent = found.filter
    with _changing(parent.account_id, parent, found):
        before = (found.keyword, parent.title, parent.context, parent.action, parent.expires_at)
        _check(_write_keyword(found, keyword, label=_("Keyword")))
        _check(_read_filter(parent, draft if found.keyword != before[0] else replace(draft, title=None)))
        after = (found.keyword, parent.title, parent.context, parent.action, parent.expires_at)
        if after != before and FilterKeyword.objects.filter(filter=parent).count() > 1:
            raise Invalid(_(_SEVERAL_KEYWORDS_MESSAGE))
        parent.save()
        found.save()
        _check_keywords(parent.account_id)


def _write(target: Filter, draft: FilterDraft) -> None:
    errors = _read_filter(target, draft)
    known_keywords = {} if target.id is None else {row.id: row for row in FilterKeyword.objects.filter(filter=target)}
    kept_keywords: list[FilterKeyword] = []
    dropped: list[FilterKeyword] = []
    for item in draft.keywords:
        if item.id is not None and item.id not in known_keywords:
            raise NotFound
        if item.id is None and (item.destroy or not (item.keyword or "").strip()):
            continue
        row = FilterKeyword(filter=target, keyword="") if item.id is None else known_keywords[item.id]
        if item.destroy:
            dropped.append(row)
            continue
        errors += _write_keyword(row, item, label=_("Keywords keyword"))
        kept_keywords.append(row)
    _check(errors)
    target.save()
    for row in dropped:
        row.delete()
    for row in kept_keywords:
        row.save()
    _check_keywords(target.account_id)


def _read_filter(target: Filter, draft: FilterDraft) -> list[FieldError]:
    """Copy the sent values into the row, and return its errors."""
    if draft.title is not None:
        target.title = draft.title
    if draft.context is not None:
        target.context = list(draft.context)
    errors = []
    if not target.title.strip():
        errors.append(FieldError("title", "ERR_BLANK", _("can't be blank")))
    elif len(target.title) > TITLE_LIMIT:
        errors.append(_too_long("title", TITLE_LIMIT, None))
    if not target.context:
        errors.append(FieldError("context", "ERR_BLANK", _("can't be blank")))
    if not target.context or not set(target.context) <= set(FilterContext.values):
        errors.append(FieldError("context", "ERR_INVALID", _("None or invalid context supplied")))
    if draft.action is not None:
        if draft.action in FilterAction.values:
            target.action = draft.action
        else:
            errors.append(FieldError("action", "ERR_INCLUSION", _("is not included in the list")))
    if draft.expires:
        seconds = draft.expires_in
        if seconds is not None and abs(seconds) > _LONGEST_SECONDS:
            errors.append(FieldError("expires_in", "ERR_INVALID", _("is invalid")))
        else:
            target.expires_at = None if seconds is None else clock.now() + timedelta(seconds=seconds)
    return errors


def _write_keyword(target: FilterKeyword, draft: KeywordDraft, *, label: str) -> list[FieldError]:
    if draft.keyword is not None:
        target.keyword = draft.keyword
    if draft.whole_word is not None:
        target.whole_word = draft.whole_word
    if not target.keyword.strip():
        return [FieldError("keyword", "ERR_BLANK", _("can't be blank"), label)]
    if len(target.keyword) > KEYWORD_LIMIT:
        return [_too_long("keyword", KEYWORD_LIMIT, label)]
    return []


def _too_long(field: str, count: int, label: str | None) -> FieldError:
    return FieldError(
        field, "ERR_TOO_LONG", _("is too long (maximum is %(limit)d characters)") % {"limit": count}, label
    )


def _check_keywords(account_id: int) -> None:
    stored_keywords = FilterKeyword.objects.filter(filter__account_id=account_id)
    totals = stored_keywords.aggregate(number=Count("id"), characters=Sum(Length("keyword")))
    if totals["number"] > KEYWORDS_LIMIT or (totals["characters"] or 0) > CHARACTERS_LIMIT:
        raise Invalid.sentence(_("You have reached the maximum number of filter keywords"))


def _check(errors: Sequence[FieldError]) -> None:
    if errors:
        raise Invalid.of(errors)
