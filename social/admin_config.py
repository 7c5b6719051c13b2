"""Puts Django's admin behind the site's own sign-in."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """Django's admin with `StaffSite`."""

    default = False
    default_site = "social.api.staff.StaffSite"
