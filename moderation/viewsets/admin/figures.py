"""Figures of this server, over HTTP: measures, dimensions and retention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language
from rest_framework.request import Request

from accounts.models.user import Permission
from moderation.queries import dimensions, measures
from moderation.queries.figures import fragment_keys
from moderation.queries.measures import load_cohorts
from moderation.serializers.admin import CohortSerializer, DimensionSerializer, MeasureSerializer
from moderation.serializers.inputs.admin_figures import (
    DimensionsInput,
    MeasuresInput,
    RetentionInput,
    day_of,
    given_with,
)
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import Endpoint
from social.api.responses import reply
from social.kernel import fragments

_READ = access.staff("admin:read", Permission.VIEW_DASHBOARD)


class AdminFiguresViewSet(AdminViewSet):
    """`/api/v1/admin/measures`, `/dimensions` and `/retention`."""

    endpoints = {
        "measure": Endpoint(_READ, "AdminMeasure", many=True, input=MeasuresInput, also=measures.PARAMETRIC),
        "break_down": Endpoint(_READ, "AdminDimension", many=True, input=DimensionsInput, also=dimensions.PARAMETRIC),
        "retain": Endpoint(_READ, "AdminCohort", many=True, input=RetentionInput),
    }

    def measure(self, request: Request) -> HttpResponse:
        """Counts by day; unknown measures are left out. Figures of a server are at most FIGURES_AGE seconds old."""
        form = MeasuresInput.read(request)
        start, end = form.days
        known = [key for key in dict.fromkeys(form.keys) if measures.is_measure(key)]
        given = {key: given_with(request, key, measures.parameter_of(key)) for key in known}

        def count(key: str) -> Any:
            return MeasureSerializer(measures.measure(key, start, end, given[key])).data

        return self._answer(known, count, fragment_keys("measure", start, end, given))

    def break_down(self, request: Request) -> HttpResponse:
        """Counts by part of a dimension; unknown dimensions are left out. Figures of a server, and the ranking of
        servers, are cached as well.
        """
        form = DimensionsInput.read(request)
        start, end = form.days
        known = [key for key in dict.fromkeys(form.keys) if dimensions.is_dimension(key)]
        given = {key: given_with(request, key, dimensions.parameter_of(key)) for key in known}

        def count(key: str) -> Any:
            return DimensionSerializer((key, dimensions.load_parts(key, start, end, given[key], form.parts))).data

        kept = fragment_keys("dimension", start, end, given, str(form.parts), str(get_language()))
        return self._answer(known, count, kept)

    @staticmethod
    def _answer(known: Sequence[str], count: Callable[[str], Any], kept: Mapping[str, str]) -> HttpResponse:
        """Return the figures of these keys, in their order; figures that are in the cache are not counted again."""
        found = fragments.load(kept.values())
        cached = {key: found[name] for key, name in kept.items() if name in found}
        fresh = {key: count(key) for key in known if key not in cached}
        fragments.save({kept[key]: figure for key, figure in fresh.items() if key in kept})
        return reply([(cached | fresh)[key] for key in known])

    def retain(self, request: Request) -> HttpResponse:
        """Retention: how many of the users who signed up in each period were still seen in the following periods."""
        form = RetentionInput.read(request)
        found = load_cohorts(day_of(form.start_at), day_of(form.end_at), form.step)
        return reply(CohortSerializer(found, many=True, context={"frequency": form.step}).data)
