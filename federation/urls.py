"""The URLs of the app `federation`."""

from __future__ import annotations

from django.apps import apps
from django.urls import URLPattern, re_path

urlpatterns: list[URLPattern] = []

# This module is included also where the app is not installed; then it has no tables and no URLs.
if apps.is_installed("federation"):
    from federation.views import (
        actors,
        devices,
        discovery,
        emojis,
        featured_collections,
        from_anywhere,
        inbox,
        pages,
        posts,
        profiles,
    )

    _USER = r"^users/(?P<username>[A-Za-z0-9_.-]+)"
    _POST = _USER + r"/statuses/(?P<id>[0-9]{1,19})"
    urlpatterns = [
        # What is asked for most comes first.
        re_path(r"^inbox/?$", inbox.shared_inbox),
        re_path(_USER + r"/inbox/?$", inbox.inbox),
        re_path(r"^\.well-known/webfinger/?$", discovery.webfinger),
        re_path(r"^\.well-known/host-meta(?:\.json)?/?$", discovery.host_meta),
        re_path(r"^\.well-known/nodeinfo/?$", discovery.nodeinfo_links),
        re_path(r"^nodeinfo/(?P<version>2\.[01])(?:\.json)?/?$", discovery.nodeinfo),
        re_path(r"^actor/?$", actors.instance_actor),
        re_path(r"^actor/inbox/?$", inbox.instance_inbox),
        re_path(r"^actor/outbox/?$", actors.instance_outbox),
        re_path(r"^emojis/(?P<id>[0-9]{1,19})/?$", emojis.emoji),
        re_path(_USER + r"/?$", actors.actor),
        re_path(_USER + r"/outbox/?$", actors.outbox),
        re_path(_USER + r"/followers/?$", actors.followers),
        re_path(_USER + r"/followers_synchronization/?$", actors.followers_synchronization),
        re_path(_USER + r"/following/?$", actors.following),
        re_path(_USER + r"/collections/featured/?$", actors.featured),
        re_path(_USER + r"/collections/tags/?$", actors.featured_tags),
        re_path(_USER + r"/collections/devices/?$", devices.devices),
        re_path(_USER + r"/claim/?$", devices.claim),
        re_path(_USER + r"/featured_collections/?$", featured_collections.featured_collections),
        re_path(_USER + r"/collections/(?P<id>[0-9]{1,19})/?$", featured_collections.collection),
        re_path(_USER + r"/collection_items/(?P<id>[0-9]{1,19})/?$", featured_collections.collection_item),
        re_path(_USER + r"/feature_authorizations/(?P<id>[0-9]{1,19})/?$", featured_collections.authorization),
        re_path(_USER + r"/quote_authorizations/(?P<id>[0-9]{1,19})/?$", posts.quote_authorization),
        re_path(r"^contexts/(?P<account_id>[0-9]{1,19})-(?P<status_id>[0-9]{1,19})/?$", posts.context),
        re_path(_POST + r"/?$", posts.post),
        re_path(_POST + r"/activity/?$", posts.activity),
        re_path(_POST + r"/replies/?$", posts.replies),
        re_path(_POST + r"/likes/?$", posts.likes),
        re_path(_POST + r"/shares/?$", posts.shares),
        re_path(r"^tags/(?P<name>[^/]+)(?<!\.rss)/?$", pages.tag),
        re_path(r"^collections/(?P<id>[0-9]{1,19})/?$", pages.collection),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)\.rss$", profiles.feed, name="profile_feed"),
        re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/?$", pages.profile, name="profile"),
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
