"""Wires the kernel and the reception into Django."""

from django.apps import AppConfig


class SocialConfig(AppConfig):
    """The ground floor: kernel, reception, runtime."""

    name = "social"
    label = "social"
    default_auto_field = "django.db.models.BigAutoField"
