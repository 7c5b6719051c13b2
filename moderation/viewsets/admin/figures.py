"""Figures of this server, over HTTP: measures, dimensions and retention."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language
from rest_framework.request import Request

from accounts.models.user import Permission
from moderation.queries import dimensions, measures
from moderation.queries.figures import fragment_keys
from moderation.queries.measures import load_cohorts
from moderation.serializers.admin import CohortSerializer, DimensionSerializer, MeasureSerializer
from moderation.serializers.inputs import admin_figures as inputs
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import Endpoint
from social.api.inputs import Reading
from social.api.responses import reply
from social.kernel import fragments

_READ = access.staff("admin:read", Permission.VIEW_DASHBOARD)


def _figures(entity: str, form: type[Reading], declared: Mapping[str, str | None]) -> Endpoint:
    """Return an endpoint for figures. Clients send the parameter of a figure under the name of the figure."""
    parametric = tuple(key for key, parameter in declared.items() if parameter is not None)
    return Endpoint(_READ, entity, many=True, input=form, also=parametric)


class AdminFiguresViewSet(AdminViewSet):
    """`/api/v1/admin/measures`, `/dimensions` and `/retention`."""

    endpoints = {
        "measure": _figures("AdminMeasure", inputs.MeasuresInput, measures.PARAMETERS),
        "break_down": _figures("AdminDimension", inputs.DimensionsInput, dimensions.PARAMETERS),
        "retain": Endpoint(_READ, "AdminCohort", many=True, input=inputs.RetentionInput),
    }

    def measure(self, request: Request) -> HttpResponse:
        """Counts by day; unknown measures are left out. Figures of a server are at most FIGURES_AGE seconds old."""
        form = inputs.MeasuresInput.read(request)
        start, end = form.days
        given = inputs.given_with(request, form.keys, measures.PARAMETERS)

        def count(key: str) -> Any:
            return MeasureSerializer(measures.measure(key, start, end, given[key])).data

        return self._answer(given, count, fragment_keys("measure", start, end, given))

    def break_down(self, request: Request) -> HttpResponse:
        """Counts by part of a dimension; unknown dimensions are left out. Figures about servers are cached."""
        form = inputs.DimensionsInput.read(request)
        start, end = form.days
        given = inputs.given_with(request, form.keys, dimensions.PARAMETERS)

        def count(key: str) -> Any:
            return DimensionSerializer((key, dimensions.load_parts(key, start, end, given[key], form.parts))).data

        cache_keys = fragment_keys("dimension", start, end, given, str(form.parts), str(get_language()))
        return self._answer(given, count, cache_keys)

    @staticmethod
    def _answer(keys: Iterable[str], count: Callable[[str], Any], cache_keys: Mapping[str, str]) -> HttpResponse:
        """Return the figures of these keys, in the given order; figures that are in the cache are not counted again."""
        loaded = fragments.load(cache_keys.values())
        cached = {key: loaded[name] for key, name in cache_keys.items() if name in loaded}
        fresh = {key: count(key) for key in keys if key not in cached}
        fragments.save({cache_keys[key]: figure for key, figure in fresh.items() if key in cache_keys})
        return reply([(cached | fresh)[key] for key in keys])

    def retain(self, request: Request) -> HttpResponse:
        """Retention: how many of the users who signed up in each period were still seen in the following periods."""
        form = inputs.RetentionInput.read(request)
        cohorts = load_cohorts(inputs.day_of(form.start_at), inputs.day_of(form.end_at), form.step)
        return reply(CohortSerializer(cohorts, many=True, context={"frequency": form.step}).data)
