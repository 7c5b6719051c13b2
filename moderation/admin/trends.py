"""Review of trends, for staff: posts, links and hashtags in one list, the link publishers, and all hashtags."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import DraftForm, EditedAdmin, PermittedAdmin, Writes
from accounts.models import Tag
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.services.tags import TagChange, review_tag
from social.api.staff_acts import Act, Words
from social.api.staff_columns import States, address, condition_filter, lines, shortened, shown
from social.kernel.text.markup import plain
from social.kernel.text.names import normalise_hashtag
from timelines.models import LinkPublisher, Trend, TrendKind
from timelines.queries.trends import list_trends_with_names
from timelines.services.trends import review_publisher, review_trend

_WORDS = 120
_KINDS = {TrendKind.STATUS: _("Post"), TrendKind.LINK: _("Link"), TrendKind.TAG: _("Hashtag")}


_STATES = States(
    waiting=(_("Not reviewed"), "waiting", Q(trendable=None)),
    approved=(_("Approved"), "good", Q(trendable=True)),
    rejected=(_("Rejected"), "bad", Q(trendable=False)),
)
STATE = _STATES.column()
ReviewFilter = _STATES.filter()
KindFilter = condition_filter(
    "kind", _("kind"), **{kind.value: (words, Q(kind=kind)) for kind, words in _KINDS.items()}
)


def _reviews(review: Callable[[Staff, Any, bool], Any]) -> tuple[Act, ...]:
    return (
        Act(
            "approve",
            _("Approve"),
            lambda by, row: review(by, row, True),
            verb="approve_trend",
            many=Words(
                _("Allow these as trending?"),
                ngettext_lazy("%(count)d was approved.", "%(count)d were approved.", "count"),
            ),
        ),
        Act(
            "reject",
            _("Reject"),
            lambda by, row: review(by, row, False),
            verb="reject_trend",
            many=Words(
                _("Reject these as trending?"),
                ngettext_lazy("%(count)d was rejected.", "%(count)d were rejected.", "count"),
            ),
        ),
    )


class ReviewedAdmin(PermittedAdmin):
    """Base of the pages on which staff decide whether something may trend (`trendable`)."""

    permission = Permission.MANAGE_TAXONOMIES
    waits = Q(trendable=None)


def _words(trend: Trend) -> str:
    row: Any = trend
    if trend.kind == TrendKind.TAG:
        return f"#{row.name}"
    return plain(row.name) or gettext("(no text)") if trend.kind == TrendKind.STATUS else row.name


@admin.register(Trend)
class TrendAdmin(ReviewedAdmin):
    acts = _reviews(
        lambda by, trend, trendable: review_trend(
            by=by, kind=TrendKind(trend.kind), object_id=trend.object_id, trendable=trendable
        )
    )
    list_display = (
        shown("name", _("Trend"), lambda trend: shortened(_words(trend), _WORDS)),
        shown("kind", _("Kind"), lambda trend: _KINDS[TrendKind(trend.kind)], minor=True),
        shown("source", _("From"), lambda trend: address(trend.source) if trend.source else ""),
        STATE,
    )
    list_display_links = None
    list_filter = (KindFilter, ReviewFilter)
    ordering = ("-score", "id")

    def name_of(self, row: Trend) -> str:
        source = getattr(row, "source", None)
        return f"{_words(row)[:_WORDS]} ({source})" if source else _words(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return list_trends_with_names()

    def waiting(self) -> QuerySet[Any]:
        return list_trends_with_names().filter(trendable=None)


@admin.register(LinkPublisher)
class LinkPublisherAdmin(ReviewedAdmin):
    """Sites whose pages have trended. A decision applies to each of their pages that has no decision of its own."""

    acts = _reviews(lambda by, row, trendable: review_publisher(by=by, publisher_id=row.pk, trendable=trendable))
    list_display = (
        shown("domain", _("Site"), lambda publisher: address(publisher.domain), order="domain"),
        STATE,
        shown("reviewed_at", _("Reviewed"), order="reviewed_at", minor=True),
    )
    fieldsets: ClassVar[Any] = (lines(None, *list_display),)
    list_filter = (ReviewFilter,)
    search_fields = ("domain",)
    ordering = (F("reviewed_at").asc(nulls_first=True), "-id")

    def name_of(self, row: LinkPublisher) -> str:
        return row.domain


class TagForm(DraftForm):
    """Form for the spelling of a hashtag and the decisions about it. The new spelling must have the same normalised form."""

    class Meta:
        model = Tag
        fields = ("display_name", "usable", "listable", "trendable")
        labels = {
            "display_name": _("Spelling"),
            "usable": _("Allow in new posts"),
            "listable": _("Show in search and directories"),
            "trendable": _("Allow as trending"),
        }
        widgets = {"display_name": forms.TextInput({"dir": "auto"})}

    def clean_display_name(self) -> str:
        name: str = self.cleaned_data["display_name"].strip().removeprefix("#")
        if normalise_hashtag(name) != self.instance.name:
            raise forms.ValidationError(gettext("does not match the previous name"))
        return name


@admin.register(Tag)
class TagAdmin(EditedAdmin):
    """Hashtags: their spelling and where they may be shown."""

    permission = Permission.MANAGE_TAXONOMIES
    form = TagForm
    # Hashtags are created by their first use, and stay because posts refer to them.
    writes = Writes(change=lambda by, row, form: review_tag(by=by, tag=row, change=TagChange(**form.cleaned_data)))
    list_display = (
        shown("display_name", _("Hashtag"), lambda tag: shortened(str(tag), _WORDS)),
        STATE,
        shown("usable", _("In new posts"), minor=True),
        shown("listable", _("In search"), minor=True),
    )
    list_filter = (ReviewFilter,)
    # A search for a part of the name would scan every row.
    search_fields = ("name__startswith",)
    search_help_text = _("Beginning of a hashtag")

    def find_rows(self, rows: QuerySet[Tag], term: str) -> QuerySet[Tag]:
        return rows.filter(name__startswith=normalise_hashtag(term.removeprefix("#")))
