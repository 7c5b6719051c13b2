"""Changes and reads the settings an operator changes while the server runs."""

from __future__ import annotations

from typing import Any

from accounts.models import SiteSetting
from social.kernel import clock


def write_setting(key: str, value: Any) -> None:
    """Store a setting; the environment still wins over it."""
    SiteSetting.objects.update_or_create(key=key, defaults={"value": value, "updated_at": clock.now()})
