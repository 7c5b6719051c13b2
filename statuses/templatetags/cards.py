"""Template tag for what a signed-in reader can do with a post.

It is written in Python because a page has twenty cards with a dozen buttons each: a template took most of the page's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from social.kernel.text.names import unambiguous_domain

register = template.Library()


@register.simple_tag(takes_context=True)
def acts(context: Context, post: Mapping[str, Any]) -> SafeString:
    """Return the form of a post: its buttons, which say what they do, and a menu with more of them and with links.

    Ids, names of acts, counts, our own sentences and paths made of these stand as they are; everything else is escaped.
    """
    number, page_lang = post["number"], post["page_lang"]
    username, _at, domain = post["account"]["acct"].partition("@")
    who = {"who": escape(f"@{username}@{unambiguous_domain(domain)}" if domain else f"@{username}")}
    write, back = _path("write"), escape(context["back_here"])
    at = "" if post["id"] == str(number) else f'<input type="hidden" name="at" value="{post["id"]}">'
    count = post["reblogs_count"]
    if post["acts"]["boost"]:
        boost = _button("boost", post["reblogged"], _("Boost the post of %(who)s") % who, count)
    else:
        boost = f'<span class="act boost none">{count or ""}</span>'
    return SafeString(
        f'<form class="acts" method="post" action="{_path("act_on_post", number)}"{page_lang}>'
        f'<input type="hidden" name="csrfmiddlewaretoken" value="{context["csrf_token"]}">'
        f'<input type="hidden" name="next" value="{escape(context["here"])}">{at}'
        f'<a class="act reply" href="{write}?reply_to={number}&amp;{back}" '
        f"{_shown(_('Reply to %(who)s') % who, post['replies_count'])}</a>{boost}"
        f"{_button('favourite', post['favourited'], _('Favourite the post of %(who)s') % who, post['favourites_count'])}"
        f"{_button('bookmark', post['bookmarked'], _('Bookmark the post of %(who)s') % who)}"
        f'<details class="menu"><summary class="act dots" {_shown(_("More about the post of %(who)s") % who)}</summary>'
        f"<div>{''.join(_menu(post, who, back))}</div></details></form>"
    )


def _menu(post: Mapping[str, Any], who: Mapping[str, str], back: str) -> Iterator[str]:
    number, can = post["number"], post["acts"]
    if can["quote"]:
        yield _link(f"{_path('write')}?quote={number}", _("Quote"))
    yield _link(escape(post["url"]), _("Open the post"))
    if post["page_url"]:
        yield _link(escape(post["page_url"]), _("Open it on its own server"), ' rel="noreferrer"')
    if post["muted"]:
        yield _entry("unmute", _("Notify me of this conversation"))
    else:
        yield _entry("mute", _("Mute this conversation"))
    if post.get("pinned"):
        yield _entry("unpin", _("Unpin from my profile"))
    elif "pinned" in post:
        yield _entry("pin", _("Pin to my profile"))
    if can["mine"]:
        yield _link(_path("edit_post", number), _("Edit"))
        yield _link(f"{_path('delete_post', number)}?{back}", _("Delete"))
        return
    yield _link(f"{_path('filter_post', number)}?{back}", _("Filter this post"))
    yield _entry("mute_author", _("Mute %(who)s") % who)
    yield _entry("block_author", _("Block %(who)s") % who)
    if can["report_url"]:
        yield _link(f"{can['report_url']}?post={number}&amp;{back}", _("Report %(who)s") % who)


def _button(act: str, pressed: bool, name: str, count: int = 0) -> str:
    value, state = (f"un{act}", "true") if pressed else (act, "false")
    return f'<button class="act {act}" name="act" value="{value}" aria-pressed="{state}" {_shown(name, count)}</button>'


def _shown(name: str, count: int = 0) -> str:
    # The name replaces what the element shows, so that it ends with it.
    return f'aria-label="{name}: {count}">{count}' if count else f'aria-label="{name}">'


def _entry(act: str, title: str) -> str:
    return f'<button name="act" value="{act}">{title}</button>'


def _link(url: str, title: str, more: str = "") -> str:
    return f'<a href="{url}"{more}>{title}</a>'


@cache
def _pattern(url_name: str) -> str:
    return reverse(url_name, kwargs={"id": 0}).replace("/0/", "/%d/")


@cache
def _fixed(url_name: str) -> str:
    return reverse(url_name)


def _path(url_name: str, number: int | None = None) -> str:
    """The path of a page, or of a post's page; `reverse` searches all URLs each time."""
    return _fixed(url_name) if number is None else _pattern(url_name) % number
