"""Reads conversations."""

from __future__ import annotations

from django.db.models import QuerySet

from timelines.models import Conversation


def list_conversations(account_id: int) -> QuerySet[Conversation]:
    """Those of an account, unordered."""
    return Conversation.objects.filter(account_id=account_id)
