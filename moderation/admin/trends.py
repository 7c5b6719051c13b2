"""Review of trends, for staff: posts, links and hashtags in one list, the link publishers, and all hashtags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.acting import acting
from accounts.admin.permitted import DraftForm, EditedAdmin, PermittedAdmin
from accounts.models import Tag
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.services.tags import TagChange, review_tag
from social.api.staff_acts import Act, Words
from social.api.staff_columns import ConditionFilter, address, lines, mark, shortened, shown
from social.kernel.text.markup import plain
from social.kernel.text.names import normalise_hashtag
from timelines.models import LinkPublisher, Trend, TrendKind
from timelines.queries.trends import list_trends_with_names
from timelines.services.trends import review_publisher, review_trend

_WORDS = 120
_KINDS = {
    TrendKind.STATUS: gettext_lazy("Post"),
    TrendKind.LINK: gettext_lazy("Link"),
    TrendKind.TAG: gettext_lazy("Hashtag"),
}


def _state(row: Any) -> Any:
    if row.trendable is None:
        return mark(_("Not reviewed"), "waiting")
    return mark(_("Approved"), "good") if row.trendable else mark(_("Rejected"), "bad")


STATE = shown("state", gettext_lazy("State"), _state)


class ReviewFilter(ConditionFilter):
    """Filter by the decision of staff."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Not reviewed"), Q(trendable=None)),
        "approved": (gettext_lazy("Approved"), Q(trendable=True)),
        "rejected": (gettext_lazy("Rejected"), Q(trendable=False)),
    }


class KindFilter(ConditionFilter):
    """Filter by posts, links or hashtags."""

    title = gettext_lazy("kind")
    parameter_name = "kind"
    conditions = {kind.value: (words, Q(kind=kind)) for kind, words in _KINDS.items()}


def _reviews(review: Callable[[Staff, Any, bool], Any]) -> tuple[Act, ...]:
    """Return the two decisions about `trendable`, which `review` passes to the service."""
    return (
        Act(
            "approve",
            gettext_lazy("Approve"),
            lambda by, row: review(by, row, True),
            verb="approve_trend",
            many=Words(
                gettext_lazy("Let these be shown as trending?"),
                ngettext_lazy("%(count)d was approved.", "%(count)d were approved.", "count"),
            ),
        ),
        Act(
            "reject",
            gettext_lazy("Reject"),
            lambda by, row: review(by, row, False),
            verb="reject_trend",
            many=Words(
                gettext_lazy("Show these to nobody as trending?"),
                ngettext_lazy("%(count)d was rejected.", "%(count)d were rejected.", "count"),
            ),
        ),
    )


class ReviewedAdmin(PermittedAdmin):
    """Rows for which staff decide `trendable`."""

    permission = Permission.MANAGE_TAXONOMIES

    def waiting(self) -> QuerySet[Any] | None:
        """Return the rows without a decision."""
        rows: QuerySet[Any] = self.model.objects.filter(trendable=None)
        return rows


def _words(trend: Trend) -> str:
    row: Any = trend
    if trend.kind == TrendKind.TAG:
        return f"#{row.name}"
    return plain(row.name) or _("(without words)") if trend.kind == TrendKind.STATUS else row.name


@admin.register(Trend)
class TrendAdmin(ReviewedAdmin):
    """Trends of all kinds, the strongest first."""

    acts = _reviews(
        lambda by, trend, trendable: review_trend(
            by=by, kind=TrendKind(trend.kind), object_id=trend.object_id, trendable=trendable
        )
    )
    list_display = (
        shown("name", gettext_lazy("What trends"), lambda trend: shortened(_words(trend), _WORDS)),
        shown("kind", gettext_lazy("Kind"), lambda trend: _KINDS[TrendKind(trend.kind)], minor=True),
        shown("source", gettext_lazy("From"), lambda trend: address(trend.source) if trend.source else ""),
        STATE,
    )
    list_display_links = None
    list_filter = (KindFilter, ReviewFilter)
    ordering = ("-score", "id")

    def name_of(self, row: Trend) -> str:
        """Return the first words and the source of the trend."""
        source = getattr(row, "source", None)
        return f"{_words(row)[:_WORDS]} ({source})" if source else _words(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the trends with their names and decisions."""
        return list_trends_with_names()

    def waiting(self) -> QuerySet[Any]:
        """Return the trends without a decision."""
        return list_trends_with_names().filter(trendable=None)


@admin.register(LinkPublisher)
class LinkPublisherAdmin(ReviewedAdmin):
    """Sites whose pages have trended. A decision applies to each of their pages that has no decision of its own."""

    acts = _reviews(lambda by, row, trendable: review_publisher(by=by, publisher_id=row.pk, trendable=trendable))
    list_display = (
        shown("domain", gettext_lazy("Site"), lambda publisher: address(publisher.domain), order="domain"),
        STATE,
        shown("reviewed_at", gettext_lazy("Reviewed"), order="reviewed_at", minor=True),
    )
    fieldsets: ClassVar[Any] = (lines(None, *list_display),)
    list_filter = (ReviewFilter,)
    search_fields = ("domain",)
    ordering = (F("reviewed_at").asc(nulls_first=True), "-id")

    def name_of(self, row: LinkPublisher) -> str:
        return row.domain


class TagForm(DraftForm):
    """Decisions about a hashtag. Its spelling may change as long as it stays the same hashtag."""

    class Meta:
        model = Tag
        fields = ("display_name", "usable", "listable", "trendable")
        labels = {
            "display_name": gettext_lazy("How it is written"),
            "usable": gettext_lazy("It may stand in new posts"),
            "listable": gettext_lazy("Search and directories name it"),
            "trendable": gettext_lazy("It may be shown as trending"),
        }
        widgets = {"display_name": forms.TextInput({"dir": "auto"})}

    def clean_display_name(self) -> str:
        """Return the spelling without `#`. Raises ValidationError for the spelling of another hashtag."""
        name: str = self.cleaned_data["display_name"].strip().removeprefix("#")
        if normalise_hashtag(name) != self.instance.name:
            raise forms.ValidationError(_("does not match the previous name"))
        return name


@admin.register(Tag)
class TagAdmin(EditedAdmin):
    """Hashtags: their spelling and where they may be shown."""

    permission = Permission.MANAGE_TAXONOMIES
    form = TagForm
    list_display = (
        shown("display_name", gettext_lazy("Hashtag"), lambda tag: shortened(str(tag), _WORDS)),
        STATE,
        shown("usable", gettext_lazy("In new posts"), minor=True),
        shown("listable", gettext_lazy("In search"), minor=True),
    )
    list_filter = (ReviewFilter,)
    # A search for a part of the name would scan every row.
    search_fields = ("name__startswith",)
    search_help_text = gettext_lazy("The beginning of a hashtag")
    ordering = ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Tag], search_term: str
    ) -> tuple[QuerySet[Tag], bool]:
        """Find hashtags by the beginning of their name, in any spelling."""
        return super().get_search_results(request, queryset, normalise_hashtag(search_term.strip().removeprefix("#")))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: a hashtag is created by its first use."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: posts refer to hashtags."""
        return False

    def save_model(self, request: HttpRequest, obj: Tag, form: Any, change: bool) -> None:
        """Store the decisions through the service."""
        review_tag(by=acting(request), tag=obj, change=TagChange(**form.cleaned_data))
