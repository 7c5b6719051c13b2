"""Reads what is known of other servers, by the names that people's addresses have and those of their hosts."""

from __future__ import annotations

from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Domain, Follow
from social.kernel.runner import Host
from social.kernel.terms import TERMS

_SENDING: Final = [queue for queue, terms in TERMS.items() if terms.sends]


def list_troubled() -> QuerySet[Host]:
    """The hosts that do not answer as they should and that somebody here has to do with: what is sent to them fails, or
    people of theirs are followed from here. Any stranger can name other ones, which there may not be.
    """
    follows = Follow.objects.filter(account__domain=None, target__domain=OuterRef("name"))
    at_host = Q(name=OuterRef("name")) | Q(host=OuterRef("name"))
    followed = Exists(Domain.objects.filter(at_host, Exists(follows)))
    return Host.objects.filter(Q(queue__in=_SENDING) | followed, failures__gt=0)
