"""Paths of Mastodon's own pages that people have bookmarked, that apps open and that other sites link to (clients.md), and the
pages of this server to which they lead. Source: Mastodon's config/routes.rb, with routes/admin, settings and web_app.
"""

from collections.abc import Mapping
from typing import Final

from django.urls import URLPattern, re_path
from django.views.generic import RedirectView

_NUMBER: Final = "[0-9]{1,19}"
_SUBPATH: Final = "(?:/.*)?"

#: Names of URLs, or paths, keyed by regular expressions of the paths that lead there; a slash at the end is accepted.
_PAGES: Final[Mapping[str, str]] = {
    "(?:home|getting-started|getting-started-misc|start(?:/.*)?|web|deck|timelines/home)": "home",
    "explore/posts|trends": "explore",
    "explore/suggestions|directory": "/explore/people",
    "publish|statuses/new": "write",
    "notifications_v2(?:/.*)?": "notifications",
    "notifications/requests/.+": "notification_requests",
    "timelines/direct": "conversations",
    "timelines/tag/(?P<name>[^/]+)": "tag",
    "timelines/list/(?P<id>[0-9]{1,18})": "list",
    "timelines/public(?:/(?P<origin>local|remote))?": "public_timeline",
    "@(?P<username>[A-Za-z0-9_.-]+)/(?:featured|collections)": "profile",
    "terms": "privacy_policy",
    "disputes": "strikes",
    "filters/(?P<id>[0-9]{1,18})/edit": "edit_filter",
    "filters": "filters",
    "auth/edit": "account_change_password",
    "auth/password/(?:new|edit)": "account_reset_password",
    "auth/(?:setup|confirmation(?:/new)?)": "account_email_verification_sent",
    "profile(?:/.*)?|settings/(?:privacy|verification|featured_tags)": "settings_profile",
    "settings/preferences/(?:appearance|other|posting_defaults)": "settings_preferences",
    "settings/import": "settings_imports",
    "settings/exports": "settings_export",
    "settings/migration/redirect(?:/new)?": "settings_migration",
    "settings/deletes": "settings_delete",
    "settings/applications(?:/.*)?": "oauth_authorized_applications",
    "settings/(?:sessions|login_activities)": "usersessions_list",
    "settings/(?:two_factor_authentication(?:_methods)?|otp_authentication|security_keys)(?:/.*)?": "mfa_index",
    "statuses_cleanup": "settings_old_posts",
}
_PAGES_OF_STAFF: Final[Mapping[str, str]] = {
    "dashboard|software_updates": "index",
    f"reports/(?P<object_id>{_NUMBER})": "moderation_report_change",
    "reports": "moderation_report_changelist",
    f"accounts/(?P<object_id>{_NUMBER}){_SUBPATH}": "accounts_account_change",
    "accounts|pending_accounts": "accounts_account_changelist",
    f"action_logs{_SUBPATH}": "accounts_auditentry_changelist",
    f"announcements{_SUBPATH}": "moderation_announcement_changelist",
    f"custom_emojis{_SUBPATH}": "accounts_customemoji_changelist",
    f"disputes/appeals{_SUBPATH}": "moderation_appeal_changelist",
    f"disputes/strikes{_SUBPATH}": "moderation_strike_changelist",
    f"(?:export_)?domain_allows{_SUBPATH}": "moderation_domainallow_changelist",
    f"(?:export_)?domain_blocks{_SUBPATH}": "moderation_domainrule_changelist",
    f"email_domain_blocks{_SUBPATH}": "accounts_emaildomainblock_changelist",
    f"instances{_SUBPATH}": "accounts_domain_changelist",
    f"invites{_SUBPATH}": "accounts_invite_changelist",
    f"ip_blocks{_SUBPATH}": "accounts_ipblock_changelist",
    f"relays{_SUBPATH}": "federation_relay_changelist",
    f"roles{_SUBPATH}": "accounts_role_changelist",
    f"rules{_SUBPATH}": "moderation_instancerule_changelist",
    f"settings{_SUBPATH}": "accounts_sitesetting_changelist",
    f"tags/(?P<object_id>{_NUMBER})": "accounts_tag_change",
    f"tags{_SUBPATH}": "accounts_tag_changelist",
    f"terms_of_service{_SUBPATH}": "moderation_termsofservice_changelist",
    f"trends/links/publishers{_SUBPATH}": "timelines_linkpublisher_changelist",
    f"(?:trends|follow_recommendations){_SUBPATH}": "timelines_trend_changelist",
    f"username_blocks{_SUBPATH}": "accounts_usernameblock_changelist",
    f"webhooks{_SUBPATH}": "moderation_webhook_changelist",
}


def _redirect(expression: str, page: str) -> URLPattern:
    view = RedirectView.as_view(url=page) if page.startswith("/") else RedirectView.as_view(pattern_name=page)
    return re_path(f"^(?:{expression})/?$", view)


#: Patterns that come before the admin, which handles every path below `admin/`.
staff_urlpatterns: Final = [
    _redirect(f"admin/(?:{expression})", f"admin:{name}") for expression, name in _PAGES_OF_STAFF.items()
]
urlpatterns: Final = [
    *(_redirect(expression, name) for expression, name in _PAGES.items()),
    # Mastodon's web app once had its paths below these prefixes. The rest of the path must not begin with a slash, or with a
    # backslash, which browsers read as a slash, because the redirect would then lead to another server.
    re_path(r"^(?:web|deck)/+(?P<rest>[^/\\].*)$", RedirectView.as_view(url="/%(rest)s", query_string=True)),
    re_path(r"^authorize_follow/?$", RedirectView.as_view(pattern_name="interact", query_string=True)),
]
