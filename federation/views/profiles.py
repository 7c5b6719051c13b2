"""Web pages of a local account: posts, replies, media, followers and followed accounts; and the RSS feed of its posts."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.emojis.pages import with_emojis
from accounts.models import Account
from accounts.pages import member, relations
from accounts.pages.person import load_entities, shown_author, shown_person
from accounts.queries import accounts, networks
from accounts.serializers.account import picture_urls
from federation.views.negotiation import Representation, not_acceptable, preferred_representation
from federation.views.reading import find_local_account
from social.kernel import ids, links
from social.kernel.errors import Forbidden, NotFound, require_found
from social.kernel.text import markup, names
from social.pages import text, views
from social.pages.frame import Sharing, absolute, allow_caching, path_of, sharing_of_site, show, shown_picture
from statuses.pages.feed import show_feed
from statuses.pages.posts import Reader, load_account_page, newest_shown, reader_of
from statuses.queries.listings import AccountStatusesFilter
from timelines.pages.lists import lists_with

POSTS_PER_PAGE: Final = 20
PEOPLE_PER_PAGE: Final = 40
FILES_PER_PAGE: Final = 40

#: A feed contains no boosts, and no replies to other accounts.
_FEED: Final = AccountStatusesFilter(exclude_replies=True, exclude_reblogs=True)
_PINNED: Final = AccountStatusesFilter(pinned=True)
#: Filters of posts, keyed by the last part of a page's path.
_TABS: Final = {
    "": AccountStatusesFilter(exclude_replies=True),
    "with_replies": AccountStatusesFilter(exclude_reblogs=True),
}
_NETWORKS: Final = {
    "followers": (networks.list_followers, "account_id", gettext_lazy("Followers")),
    "following": (networks.list_following, "target_id", gettext_lazy("Following")),
}


def tab(request: HttpRequest, username: str, name: str) -> HttpResponseBase:
    """`/@:username/with_replies`, `/media`, `/followers` and `/following`, which have no documents."""
    if preferred_representation(request) is not Representation.PAGE:
        return not_acceptable()
    view = _network if name in _NETWORKS else _files if name == "media" else _posts
    return view(request, username, name)


def _find_shown(username: str) -> Account:
    """Return the account with this username. Raises the errors of `find_local_account`; for a suspended account, Forbidden with
    a text for visitors.
    """
    account = find_local_account(username, served_while_suspended=True)
    if account.suspended:
        raise Forbidden(_("This account is suspended"))
    return account


@views.page
def profile_page(request: HttpRequest, username: str) -> HttpResponseBase:
    """Return the page of `/@:username`, with the pinned posts first."""
    return _profile_page(request, _find_shown(username))


def remote_profile(request: HttpRequest, acct: str) -> HttpResponseBase:
    """`/@:username@:domain` for signed-in people: the page of a known account on another server. Raises NotFound."""
    account = accounts.find_by_address(acct)
    if account.local:
        return redirect("profile", username=account.username)
    if account.suspended:
        raise NotFound
    return _profile_page(request, account)


def _profile_page(request: HttpRequest, account: Account) -> HttpResponseBase:
    context = _posts_of(request, account, "")
    if not context["newest"]:
        pinned = newest_shown(account.id, _PINNED, limit=POSTS_PER_PAGE, reader=_reader(request))
        above = {post["id"] for post in pinned}
        others = [post for post in context["posts"] if post["id"] not in above]
        context["posts"] = [*(post | {"pinned_here": True} for post in pinned), *others]
    return _show(request, account, "federation/profile.html", context)


@views.page
def _posts(request: HttpRequest, username: str, name: str) -> HttpResponseBase:
    account = _find_shown(username)
    return _show(request, account, "federation/profile.html", _posts_of(request, account, name))


def _reader(request: HttpRequest) -> Reader | None:
    viewer = member.viewer_of(request)
    return reader_of(viewer, "account") if viewer is not None else None


def _posts_of(request: HttpRequest, account: Account, name: str) -> dict[str, Any]:
    before = ids.parse_id(request.GET.get("max_id", ""))
    posts, older = load_account_page(account.id, _TABS[name], POSTS_PER_PAGE, max_id=before, reader=_reader(request))
    return {
        "posts": posts,
        "older": f"?max_id={older}" if older is not None else "",
        "newest": request.path if before is not None else "",
    }


@views.page
def _files(request: HttpRequest, username: str, name: str) -> HttpResponseBase:
    account = _find_shown(username)
    if not account.show_media:
        raise NotFound
    before = ids.parse_id(request.GET.get("max_id", ""))
    post_filter = AccountStatusesFilter(
        only_media=True, exclude_reblogs=True, exclude_replies=not account.show_media_replies
    )
    posts = newest_shown(account.id, post_filter, max_id=before, limit=FILES_PER_PAGE + 1)
    context = {
        "with_pictures": [post for post in posts[:FILES_PER_PAGE] if post["pictures"]],
        "posts": [post for post in posts[:FILES_PER_PAGE] if not post["pictures"]],
        "older": f"?max_id={posts[FILES_PER_PAGE - 1]['id']}" if len(posts) > FILES_PER_PAGE else "",
        "newest": request.path if before is not None else "",
    }
    return _show(request, account, "federation/profile.html", context)


@views.page
def _network(request: HttpRequest, username: str, name: str) -> HttpResponseBase:
    """Return the page of followers or followed accounts. Raises NotFound if the account hides these lists."""
    account = _find_shown(username)
    if account.hide_collections:
        raise NotFound
    list_rows, person, title = _NETWORKS[name]
    before = ids.parse_id(request.GET.get("max_id", ""))
    rows = list_rows(account, None).order_by("-id")
    rows = rows if before is None else rows.filter(id__lt=before)
    id_pairs = list(rows.values_list("id", person)[: PEOPLE_PER_PAGE + 1])
    people = load_entities(person_id for _row, person_id in id_pairs[:PEOPLE_PER_PAGE])
    context = {
        "title": title,
        "people": [shown_author(entity) for entity in people],
        "older": f"?max_id={id_pairs[PEOPLE_PER_PAGE - 1][0]}" if len(id_pairs) > PEOPLE_PER_PAGE else "",
        "newest": request.path if before is not None else "",
    }
    return _show(request, account, "federation/people.html", context)


def _show(request: HttpRequest, account: Account, template: str, context: dict[str, Any]) -> HttpResponse:
    entity = require_found(next(iter(load_entities([account.id])), None))
    viewer = member.viewer_of(request)
    relation = relations.relation_of(viewer, account) if viewer is not None else None
    lists = lists_with(viewer, account, relation) if viewer is not None else None
    around = {
        "relation": relation,
        "lists": lists,
        "in_lists": any(each["inside"] for each in lists or ()),
        "account": entity,
        "indexed": may_be_indexed(entity),
        "person": shown_author(entity, member=not account.local),
        "sharing": sharing_of_person(account) if account.local else sharing_of_site(request.path),
        "header": path_of(entity["header_static"]) if account.header else "",
        "kind": _("Group") if entity["group"] else _("Bot") if entity["bot"] else "",
        "moved_to": shown_author(entity["moved"]) if entity.get("moved") else None,
        # Fields and biography are safe HTML, which this server's formatter generated when they were saved.
        "note": with_emojis(text.shown_html(entity["note"]), entity["emojis"]),
        "fields": [
            {
                "name": with_emojis(escape(names.visible_text(item["name"])), entity["emojis"]),
                "html": with_emojis(text.shown_html(item["value"]), entity["emojis"]),
                "verified": item["verified_at"] is not None,
            }
            for item in entity["fields"]
        ],
        "joined_at": account.created_at,
        **(_local_links(request, account) if account.local else {}),
    }
    return allow_caching(show(request, template, around | context))


def _local_links(request: HttpRequest, account: Account) -> dict[str, Any]:
    return {
        "networks": not account.hide_collections,
        "tabs": _tabs(request, account),
        "feed": reverse("profile_feed", kwargs={"username": account.username}),
        "follow_url": reverse("follow_from_anywhere", kwargs={"username": account.username}),
        "paths": {name: _path(account, name) for name in _NETWORKS},
        "app": open_in_app(f"/@{account.username}"),
    }


def _path(account: Account, name: str) -> str:
    return reverse("profile_tab", kwargs={"username": account.username, "name": name})


def _tabs(request: HttpRequest, account: Account) -> list[dict[str, Any]]:
    profile = reverse("profile", kwargs={"username": account.username})
    tabs = [(_("Posts"), profile), (_("Replies"), _path(account, "with_replies"))]
    if account.show_media:
        tabs.append((_("Media"), _path(account, "media")))
    current_path = request.path.rstrip("/").lower()
    return [{"title": title, "url": url, "current": current_path == url.lower()} for title, url in tabs]


def open_in_app(path: str) -> dict[str, str]:
    """Return the addresses that open the same page in an app (FEP-07d7)."""
    address = links.web_url(path)
    return {"url": address, "scheme_url": f"web+ap://{address.partition('://')[2]}"}


def may_be_indexed(entity: Mapping[str, Any]) -> bool:
    """Tell whether search engines may index the pages of a local account, both its profile and its posts."""
    allows_indexing = entity["indexable"] and entity["discoverable"] is not False
    return bool(allows_indexing and not entity.get("noindex") and not entity.get("limited"))


def sharing_of_person(account: Account) -> Sharing:
    """Return the preview metadata of a profile, with its header as the image, or else its avatar."""
    person = shown_person(account)
    biography = " ".join(names.visible_text(markup.plain(account.note_html)).split())
    return Sharing(
        kind="profile",
        url=links.profile_url(account.username),
        title=f"{person.name} ({person.address})",
        description=biography or _("Posts by %(address)s") % {"address": person.address},
        image=absolute(picture_urls(account, "header")[1]) if account.header else shown_picture(person.avatar),
        image_description=account.header_description if account.header else account.avatar_description,
        large_image=bool(account.header),
        username=f"{account.username}@{settings.LOCAL_DOMAIN}",
    )


@views.page
def feed(request: HttpRequest, username: str) -> HttpResponseBase:
    """`/@:username.rss`: the newest posts of an account as a feed (contract, federation section 1)."""
    account = _find_shown(username)
    sharing = sharing_of_person(account)
    return show_feed(
        title=sharing.title,
        url=sharing.url,
        description=sharing.description,
        posts=newest_shown(account.id, _FEED, limit=POSTS_PER_PAGE),
        image=absolute(shown_person(account).avatar),
    )
