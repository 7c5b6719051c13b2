"""The entities of figures: measures, dimensions and cohorts (contract, entities "Admin")."""

from __future__ import annotations

from datetime import date
from typing import Any

from moderation.queries.dimensions import Part, human_size
from moderation.queries.measures import Measured
from moderation.queries.retention import Cohort
from social.api.serializers import EntitySerializer


class MeasureSerializer(EntitySerializer):
    """Admin::Measure."""

    def to_representation(self, instance: Measured) -> dict[str, Any]:
        """The entity."""
        found: dict[str, Any] = {"key": instance.key, "unit": instance.unit, "total": str(instance.total)}
        if instance.unit == "bytes":
            found["human_value"] = human_size(instance.total)
        if instance.previous is not None:
            found["previous_total"] = str(instance.previous)
        ending = "T00:00:00Z" if instance.with_time else ""
        found["data"] = [{"date": f"{day}{ending}", "value": str(value)} for day, value in instance.days]
        return found


class DimensionSerializer(EntitySerializer):
    """Admin::Dimension, of its key and parts."""

    def to_representation(self, instance: tuple[str, list[Part]]) -> dict[str, Any]:
        """The entity."""
        key, parts = instance
        return {"key": key, "data": [self._part(part) for part in parts]}

    @staticmethod
    def _part(part: Part) -> dict[str, Any]:
        found: dict[str, Any] = {"key": part.key, "human_key": part.name, "value": part.value}
        if part.unit is not None:
            found["unit"] = part.unit
        if part.shown is not None:
            found["human_value"] = part.shown
        return found


class CohortSerializer(EntitySerializer):
    """Admin::Cohort. Context: `frequency`."""

    def to_representation(self, instance: Cohort) -> dict[str, Any]:
        """The entity."""
        return {
            "period": _iso(instance.period),
            "frequency": self.context["frequency"],
            "data": [
                {
                    "date": _iso(period),
                    "rate": count / instance.size if instance.size else 0.0,
                    "value": str(count),
                }
                for period, count in instance.seen
            ],
        }


def _iso(day: date) -> str:
    return f"{day}T00:00:00+00:00"
