"""Reads what somebody has said of how long their posts are kept."""

from __future__ import annotations

from typing import Any

from django.forms.models import model_to_dict

from statuses.models import RetentionPolicy


def find_retention(account_id: int) -> dict[str, Any]:
    """The values of the account's policy by name; those it begins with when there is none."""
    policy = RetentionPolicy.objects.filter(account_id=account_id).first()
    return model_to_dict(policy or RetentionPolicy(), exclude=["account", "due_at", "after_id"])
