"""Knows how an action declares its limits.

    throttles = {"create": family("statuses"), "destroy": limited("deletions")}

Source: contract, behaviours section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.throttling import BaseThrottle

from social.api.gate import admission_of
from social.api.limits import Rule, family, limited, refuse_exceeded

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

__all__ = ["FamilyThrottle", "Rule", "family", "limited"]


class FamilyThrottle(BaseThrottle):
    """Refuses an action whose family is used up, once access is decided; everything else is refused at the gate."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """True, or RateLimited (429)."""
        admission = admission_of(request)
        if admission is not None and admission.families:
            refuse_exceeded(admission.families)
        return True
