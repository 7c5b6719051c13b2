"""Settings of django-unfold, the admin's theme, used only by `social/api/staff*.py`, so that it can be removed (`adr/0030`)."""

from typing import Any

from django.templatetags.static import static

# Shades of the colour of the site's pages.
_TEAL = {
    "50": "#eefaf7",
    "100": "#d3f1eb",
    "200": "#a9e3d9",
    "300": "#7fd3c6",
    "400": "#6ccdbf",
    "500": "#2fa294",
    "600": "#0b6e66",
    "700": "#095a54",
    "800": "#0b4f4a",
    "900": "#0d3f3b",
    "950": "#082725",
}
# The theme's neutral scale, with enough contrast for minor text (WCAG 2.2, 1.4.3).
_FONT = {
    "subtle-light": "var(--color-base-600)",
    "subtle-dark": "var(--color-base-300)",
    "default-light": "var(--color-base-700)",
    "default-dark": "var(--color-base-200)",
    "important-light": "var(--color-base-900)",
    "important-dark": "var(--color-base-100)",
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "accounts.admin.acting.site_title",
    "SITE_HEADER": "accounts.admin.acting.site_title",
    "SITE_SUBHEADER": "accounts.admin.acting.subtitle",
    "SITE_ICON": "social.api.staff_navigation.icon",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "social.api.staff_navigation.icon"}],
    "STYLES": [lambda request: static("staff.css")],
    # Makes the theme's pages usable with keyboards and screen readers.
    "SCRIPTS": [lambda request: static("staff.js")],
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "moderation.admin.home.dashboard",
    "COLORS": {"primary": _TEAL, "font": _FONT},
    "COMMAND": {"search_callback": "social.api.staff_navigation.search"},
    "ACCOUNT": {"navigation": "social.api.staff_navigation.account_links"},
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "social.api.staff_navigation.navigation",
    },
}
