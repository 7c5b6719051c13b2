"""Django app configurations for `social` (the kernel, the API layer and the runtime) and for the admin."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.core import checks
from django.utils.translation import gettext_lazy as _


def _wake_workers(queues: Sequence[str]) -> None:
    # Imported on first use, because importing Celery takes a third of a second, and commands that change nothing do not need
    # it.
    from social.broker import send_drain

    send_drain(queues)


def _check_settings(**kwargs: Any) -> list[checks.CheckMessage]:
    # Imported here so that only commands that run checks load it.
    from social.runtime.doctor import system_checks

    return system_checks()


class SocialConfig(AppConfig):
    name = "social"
    label = "social"
    verbose_name = _("System")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from social.kernel import adapters
        from social.kernel.wakes import waker

        adapters.adapt_quickly()
        waker.plug(_wake_workers)
        checks.register(_check_settings)


class StaffAdminConfig(admin_apps.AdminConfig):
    """Django's admin with `StaffSite`, which uses the site's own sign-in."""

    default = False
    default_site = "social.api.staff_site.StaffSite"
