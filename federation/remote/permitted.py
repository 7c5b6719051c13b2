"""Checks received replies against the policies of the local posts that they answer (docs/adr/0044)."""

from __future__ import annotations

from django.db import transaction

from federation.documents.reading import Rejected
from federation.events import InteractionRefused
from federation.reasons import Reason
from social.kernel.errors import Invalid
from social.kernel.events import publish
from social.kernel.reasons import leave_out
from statuses.models import Interaction, Status
from statuses.services.asking import NotPermitted, gated
from statuses.services.storing import Composed


def permitted(new: Composed, request_uri: str | None) -> Composed | None:
    """Return a received post as it is stored: a reply to which the parent's author has to agree as it waits (`gated`);
    `request_uri` is the id of the activity that asks for it. None for a reply that the policy does not allow, whose author then
    gets a Reject (InteractionRefused). Raises Rejected if too many requests of the reply's author wait,
    and if the parent is a remote reply that still waits for approval.
    """
    parent = new.parent
    try:
        return gated(new, request_uri=request_uri)
    except NotPermitted:
        if parent is None or Status.objects.filter(uri=new.uri).exists():
            return new  # A post that is stored already stays.
        if not parent.local:
            raise Rejected(Reason.PARENT_WAITS) from None
        leave_out(Reason.NOT_TO_BE_ANSWERED)
        with transaction.atomic():
            publish(
                InteractionRefused(
                    account_id=parent.account_id,
                    actor_id=new.author.id,
                    kind=Interaction.REPLY.value,
                    status_id=parent.id,
                    uri=str(new.uri),
                    request_uri=request_uri,
                )
            )
        return None
    except Invalid:
        raise Rejected(Reason.TOO_MANY_REQUESTS_WAIT) from None
