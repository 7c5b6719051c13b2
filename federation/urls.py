"""URLs of the app `federation`."""

from django.apps import apps
from django.urls import URLPattern, re_path

urlpatterns: list[URLPattern] = []

# This module is included even if the app is not installed; its views cannot be imported then.
if apps.is_installed("federation"):
    from accounts.pages.member import member_page
    from federation.views import (
        actors,
        devices,
        discovery,
        featured_collections,
        from_anywhere,
        inbox,
        pages,
        posts,
        profiles,
    )
    from federation.views.negotiation import numbered

    _ACCT = r"(?P<acct>[A-Za-z0-9_.-]+@[^/@]+)"
    _POST = r"/statuses/(?P<id>[0-9]{1,19})"
    # Views of an account's documents, keyed by the end of their path. The ids of documents use the paths with the username
    # (docs/adr/0003).
    _OF_PEOPLE = (
        (r"/inbox/?$", inbox.inbox),
        (r"/?$", actors.actor),
        (r"/outbox/?$", actors.outbox),
        (r"/followers/?$", actors.followers),
        (r"/followers_synchronization/?$", actors.followers_synchronization),
        (r"/following/?$", actors.following),
        (r"/collections/featured/?$", actors.featured),
        (r"/collections/tags/?$", actors.featured_tags),
        (r"/collections/devices/?$", devices.devices),
        (r"/claim/?$", devices.claim),
        (r"/featured_collections/?$", featured_collections.featured_collections),
        (r"/collections/(?P<id>[0-9]{1,19})/?$", featured_collections.collection),
        (r"/collection_items/(?P<id>[0-9]{1,19})/?$", featured_collections.collection_item),
        (r"/feature_authorizations/(?P<id>[0-9]{1,19})/?$", featured_collections.authorization),
        (r"/(?P<kind>like|reply|announce)_authorizations/(?P<id>[0-9]{1,19})/?$", posts.authorization),
        (r"/quote_authorizations/(?P<id>[0-9]{1,19})/?$", posts.quote_authorization),
        (_POST + r"/?$", posts.post),
        (_POST + r"/activity/?$", posts.activity),
        (_POST + r"/replies/?$", posts.replies),
        (_POST + r"/likes/?$", posts.likes),
        (_POST + r"/shares/?$", posts.shares),
    )
    urlpatterns = [
        # Patterns are tried in order; therefore the most requested paths come first.
        re_path(r"^inbox/?$", inbox.shared_inbox),
        *(re_path(rf"^users/(?P<username>[A-Za-z0-9_.-]+){end}", view) for end, view in _OF_PEOPLE),
        re_path(r"^\.well-known/webfinger/?$", discovery.webfinger),
        re_path(r"^\.well-known/host-meta(?:\.json)?/?$", discovery.host_meta),
        re_path(r"^\.well-known/nodeinfo/?$", discovery.nodeinfo_links),
        re_path(r"^nodeinfo/(?P<version>2\.[01])(?:\.json)?/?$", discovery.nodeinfo),
        re_path(r"^actor/?$", actors.instance_actor),
        re_path(r"^actor/inbox/?$", inbox.instance_inbox),
        re_path(r"^actor/outbox/?$", actors.instance_outbox),
        re_path(r"^emojis/(?P<id>[0-9]{1,19})/?$", actors.emoji),
        *(re_path(rf"^ap/users/(?P<number>[0-9]{{1,19}}){end}", numbered(view)) for end, view in _OF_PEOPLE),
        re_path(r"^contexts/(?P<account_id>[0-9]{1,19})-(?P<status_id>[0-9]{1,19})/?$", posts.context),
        re_path(r"^tags/(?P<name>[^/]+)(?<!\.rss)/?$", pages.tag, name="tag"),
        re_path(r"^collections/(?P<id>[0-9]{1,19})/?$", pages.collection, name="collection"),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)\.rss$", profiles.feed, name="profile_feed"),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/?$", pages.profile, name="profile"),
        re_path(rf"^@{_ACCT}/?$", member_page(profiles.remote_profile), name="remote_profile"),
        re_path(rf"^@{_ACCT}/(?P<id>[0-9]{{1,19}})/?$", member_page(pages.remote_post), name="remote_post"),
        re_path(
            r"^@(?P<username>[A-Za-z0-9_.-]+)/(?P<name>with_replies|media|followers|following)/?$",
            profiles.tab,
            name="profile_tab",
        ),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/follow/?$", from_anywhere.follow, name="follow_from_anywhere"),
        re_path(
            r"^@(?P<username>[A-Za-z0-9_.-]+)/(?P<id>[0-9]{1,19})/interact/?$",
            from_anywhere.interact,
            name="interact_from_anywhere",
        ),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/[0-9]{1,19}\.rss$", pages.no_feed),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/(?P<id>[0-9]{1,19})/?$", pages.post, name="post"),
    ]
