"""The last decisions of a staff member, stored in the session, so that every admin page can offer to undo them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponseRedirect

from social.kernel import clock

_KEY: Final = "staff_undo"


def see_other(url: str) -> HttpResponseRedirect:
    """Return a redirect with status 303, which the browser follows with GET."""
    answer = HttpResponseRedirect(url)
    answer.status_code = 303
    return answer


def remember(request: HttpRequest, decisions: Sequence[Any]) -> None:
    """Store the decisions of one staff action; they replace earlier decisions. Decisions that cannot be undone are left out."""
    found = [decision for decision in decisions if decision.can_be_undone]
    if found:
        request.session[_KEY] = {
            "ids": [decision.pk for decision in found],
            "name": found[0].target_account.acct,
            "ends_at": min(decision.ends_at for decision in found).isoformat(),
        }


def forget(request: HttpRequest) -> None:
    request.session.pop(_KEY, None)


def last_decisions(request: HttpRequest) -> list[int]:
    return list(request.session.get(_KEY, {}).get("ids", ()))


def undoable(request: HttpRequest) -> dict[str, Any] | None:
    """Return the remembered decisions for the template (`name` of the first account, number of `more` decisions,
    `ends_at`); None if they can no longer be undone.
    """
    found = request.session.get(_KEY)
    if not found:
        return None
    ends_at = datetime.fromisoformat(found["ends_at"])
    if ends_at <= clock.now():
        return None
    return {"name": found["name"], "more": len(found["ids"]) - 1, "ends_at": ends_at}
