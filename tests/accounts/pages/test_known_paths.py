"""Tests that the paths of Mastodon's pages, from bookmarks, apps and links, lead to the pages of this server."""

import re

import pytest
from django.test import Client

from accounts.models import User
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_filter, make_remote_status, make_status
from timelines.models import List

pytestmark = pytest.mark.django_db

#: Paths of Mastodon's pages, with the path to which each redirects; an empty string if this server has a page at the same path.
MEMBERS = {
    "/home": "/",
    "/deck": "/",
    "/deck/home": "/home",
    "/deck/notifications": "/notifications",
    "/deck/@zoe@remote.example": "/@zoe@remote.example",
    "/web": "/",
    "/web/": "/",
    "/web/timelines/home": "/timelines/home",
    "/web/statuses/12": "/statuses/12",
    "/web/search?q=cats": "/search?q=cats",
    "/timelines/home": "/",
    "/timelines/public/local": "/public/local",
    "/timelines/tag/cats": "/tags/cats",
    "/timelines/direct": "/conversations",
    "/getting-started": "/",
    "/start": "/",
    "/public": "",
    "/public/local": "",
    "/public/remote": "",
    "/explore": "",
    "/explore/posts": "/explore",
    "/explore/tags": "",
    "/explore/links": "",
    "/explore/suggestions": "/explore/people",
    "/directory": "/explore/people",
    "/trends": "/explore",
    "/notifications": "",
    "/notifications_v2": "/notifications",
    "/notifications/requests": "",
    "/notifications/requests/5": "/notifications/requests",
    "/conversations": "",
    "/bookmarks": "",
    "/favourites": "",
    "/lists": "",
    "/followed_tags": "",
    "/follow_requests": "",
    "/blocks": "",
    "/mutes": "",
    "/domain_blocks": "",
    "/pinned": "/@ada",
    "/publish": "/write",
    "/statuses/new": "/write",
    "/search": "",
    "/about": "",
    "/about/more": "",
    "/privacy-policy": "",
    "/terms": "/privacy-policy",
    "/profile/edit": "/settings/profile",
    "/@ada/featured": "/@ada",
    "/@ada/with_replies": "",
    "/@ada/media": "",
    "/@ada/tagged/cats": "",
    "/@ada/followers": "",
    "/@ada/following": "",
    "/tags/cats": "",
    "/relationships": "/@ada/following",
    "/relationships?relationship=followed_by": "/@ada/followers",
    "/invites": "",
    "/statuses_cleanup": "/settings/old_posts",
    "/disputes": "/disputes/strikes",
    "/disputes/strikes": "",
    "/filters": "",
    "/filters/": "/filters",
    "/settings": "",
    "/settings/profile": "",
    "/settings/privacy": "/settings/profile",
    "/settings/verification": "/settings/profile",
    "/settings/featured_tags": "/settings/profile",
    "/settings/preferences": "",
    "/settings/preferences/appearance": "/settings/preferences",
    "/settings/preferences/other": "/settings/preferences",
    "/settings/preferences/posting_defaults": "/settings/preferences",
    "/settings/preferences/notifications": "",
    "/settings/export": "",
    "/settings/import": "/settings/imports",
    "/settings/imports": "",
    "/settings/migration": "",
    "/settings/migration/redirect/new": "/settings/migration",
    "/settings/aliases": "",
    "/settings/delete": "",
    "/settings/deletes": "/settings/delete",
    "/settings/applications": "/oauth/authorized_applications",
    "/oauth/authorized_applications": "",
    "/settings/sessions": "/auth/sessions",
    "/settings/login_activities": "/auth/sessions",
    "/settings/two_factor_authentication_methods": "/auth/second_factor",
    "/settings/otp_authentication": "/auth/second_factor",
    "/settings/security_keys/new": "/auth/second_factor",
    "/severed_relationships": "",
    "/share?text=hello": "",
    "/intent?uri=web%2Bmastodon%3A%2F%2Fshare%3Ftext%3Dhello": "/share?text=hello",
    "/intent?uri=web%2Bmastodon%3A%2F%2Ffollow%3Furi%3Dacct%3Abob": "/authorize_interaction?uri=acct:bob",
    "/authorize_interaction?uri=acct:bob": "",
    "/authorize_interaction?acct=bob": "",
    "/authorize_follow?acct=bob": "/authorize_interaction?acct=bob",
    "/auth/edit": "/auth/password",
}
VISITORS = {
    "/auth/password/new": "/auth/password/reset",
    "/auth/password/edit?reset_password_token=x": "/auth/password/reset",
    "/auth/confirmation/new": "/auth/confirm",
    "/auth/setup": "/auth/confirm",
    "/auth/sign_up": "",
    "/auth/sign_in": "",
    "/home": "/",
    "/explore": "",
    "/@ada": "",
    "/settings/privacy": "/settings/profile",
}
STAFF = {
    "/admin": "/admin/",
    "/admin/dashboard": "/admin/",
    "/admin/software_updates": "/admin/",
    "/admin/reports": "/admin/moderation/report/",
    "/admin/reports/12": "/admin/moderation/report/12/change/",
    "/admin/accounts": "/admin/accounts/account/",
    "/admin/accounts/12": "/admin/accounts/account/12/change/",
    "/admin/accounts/12/statuses/5": "/admin/accounts/account/12/change/",
    "/admin/action_logs": "/admin/accounts/auditentry/",
    "/admin/announcements": "/admin/moderation/announcement/",
    "/admin/custom_emojis": "/admin/accounts/customemoji/",
    "/admin/disputes/appeals": "/admin/moderation/appeal/",
    "/admin/disputes/strikes": "/admin/moderation/strike/",
    "/admin/domain_allows/new": "/admin/moderation/domainallow/",
    "/admin/domain_blocks/new": "/admin/moderation/domainrule/",
    "/admin/export_domain_blocks/new": "/admin/moderation/domainrule/",
    "/admin/email_domain_blocks": "/admin/accounts/emaildomainblock/",
    "/admin/instances": "/admin/accounts/domain/",
    "/admin/instances/remote.example": "/admin/accounts/domain/",
    "/admin/invites": "/admin/accounts/invite/",
    "/admin/ip_blocks": "/admin/accounts/ipblock/",
    "/admin/relays": "/admin/federation/relay/",
    "/admin/roles": "/admin/accounts/role/",
    "/admin/rules": "/admin/moderation/instancerule/",
    "/admin/settings/branding": "/admin/accounts/sitesetting/",
    "/admin/settings/edit": "/admin/accounts/sitesetting/",
    "/admin/tags": "/admin/accounts/tag/",
    "/admin/tags/12": "/admin/accounts/tag/12/change/",
    "/admin/terms_of_service": "/admin/moderation/termsofservice/",
    "/admin/trends/links": "/admin/timelines/trend/",
    "/admin/trends/links/publishers": "/admin/timelines/linkpublisher/",
    "/admin/username_blocks": "/admin/accounts/usernameblock/",
    "/admin/webhooks": "/admin/moderation/webhook/",
}


@pytest.fixture
def ada(client: Client) -> User:
    """A user who is signed in, with an account to follow and a post with a hashtag."""
    user = make_user("ada")
    make_user("bob")
    make_status(user.account, "#cats")
    client.force_login(user)
    return user


def check(client: Client, path: str, page: str) -> None:
    """Fail unless the path redirects to `page`, or, if `page` is empty, shows a page without a redirect."""
    answer = client.get(path)
    assert (answer.status_code, answer.get("Location", "")) == ((302, page) if page else (200, "")), path


@pytest.mark.parametrize(("path", "page"), MEMBERS.items())
def test_members_find_a_page_at_each_path_of_mastodon(ada: User, client: Client, path: str, page: str) -> None:
    check(client, path, page)
    if page and "/12" not in page and "zoe" not in page:
        assert client.get(path, follow=True).status_code == 200


@pytest.mark.parametrize(("path", "page"), VISITORS.items())
def test_visitors_find_a_page_or_the_sign_in_at_each_path(client: Client, path: str, page: str) -> None:
    make_user("ada")
    check(client, path, page)


@pytest.mark.parametrize(("path", "page"), STAFF.items())
def test_staff_find_a_page_of_the_administration(client: Client, path: str, page: str) -> None:
    check(client, path, page)


def test_posts_accounts_lists_and_filters_are_found_by_their_ids(ada: User, client: Client) -> None:
    zoe = make_remote("zoe")
    mine, theirs = make_status(ada.account, "mine"), make_remote_status(zoe)
    friends = List.objects.create(account=ada.account, title="Friends")
    words = make_filter(ada.account, "casino")
    for path, page in {
        f"/statuses/{mine.id}": f"/@ada/{mine.id}",
        f"/statuses/{theirs.id}": f"/@zoe@remote.example/{theirs.id}",
        f"/accounts/{ada.account_id}": "/@ada",
        f"/accounts/{ada.account_id}/followers": "/@ada/followers",
        f"/accounts/{zoe.id}/statuses": "/@zoe@remote.example",
        f"/timelines/list/{friends.id}": f"/lists/{friends.id}",
        f"/filters/{words.id}/edit": f"/filters/{words.id}",
    }.items():
        check(client, path, page)
        check(client, page, "")


def test_the_id_of_an_unreadable_post_reveals_nothing(client: Client) -> None:
    post = make_status(make_user("ada").account, "secret", visibility="private")
    assert client.get(f"/statuses/{post.id}").status_code == 404
    assert client.get("/statuses/1").status_code == client.get("/accounts/1").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        *("/web//evil.example", "/web/%2Fevil.example", "/web/%5Cevil.example", "/deck///evil.example/x"),
        *("/web/%09/evil.example", "/web/https://evil.example", "/intent?uri=https://evil.example", "/intent?uri=//["),
    ],
)
def test_no_address_leads_to_another_server(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404 or re.match(r"/(?![/\\])", answer["Location"])
