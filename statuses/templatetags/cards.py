"""Template tag for a reader's actions on a post. The tag is written in Python, because as a template it took most of a page's
rendering time.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from social.kernel.text.names import unambiguous_domain

register = template.Library()


@register.simple_tag(takes_context=True)
def acts(context: Context, post: Mapping[str, Any]) -> SafeString:
    """Return the form of a post: buttons, and a menu of more actions. Escapes everything but this program's texts and ids."""
    number, page_lang = post["number"], post["page_lang"]
    username, _at, domain = post["account"]["acct"].partition("@")
    who = {"who": escape(f"@{username}@{unambiguous_domain(domain)}" if domain else f"@{username}")}
    words, write, back = _words(get_language()), _path("write"), escape(context["back_here"])
    at = "" if post["id"] == str(number) else f'<input type="hidden" name="at" value="{post["id"]}">'
    count = post["reblogs_count"]
    if post["acts"]["boost"] or post["reblogged"]:
        boost = _button("boost", post["reblogged"], words["boost"] % who, count)
    else:
        boost = f'<span class="act boost none">{count or ""}</span>'
    reply = f'<span class="act reply none">{post["replies_count"] or ""}</span>'
    if post["acts"]["reply"]:
        reply = (
            f'<a class="act reply" href="{write}?reply_to={number}&amp;{back}" '
            f"{_counted_label(words['reply'] % who, post['replies_count'])}</a>"
        )
    favourite = f'<span class="act favourite none">{post["favourites_count"] or ""}</span>'
    if post["acts"]["favourite"] or post["favourited"]:
        favourite = _button("favourite", post["favourited"], words["favourite"] % who, post["favourites_count"])
    return SafeString(
        f'<form class="acts" method="post" action="{_path("act_on_post", number)}"{page_lang}>'
        f'<input type="hidden" name="csrfmiddlewaretoken" value="{context["csrf_token"]}">'
        f'<input type="hidden" name="next" value="{escape(context["here"])}">{at}'
        f"{reply}{boost}{favourite}{_button('bookmark', post['bookmarked'], words['bookmark'] % who)}"
        f'<details class="menu"><summary class="act dots" {_counted_label(words["more"] % who)}</summary>'
        f"<div>{''.join(_menu(post, who, back, words))}</div></details></form>"
    )


def _menu(post: Mapping[str, Any], who: Mapping[str, str], back: str, words: Mapping[str, str]) -> Iterator[str]:
    number, can = post["number"], post["acts"]
    if can["quote"]:
        yield _link(f"{_path('write')}?quote={number}", words["quote"])
    if can["translate"]:
        yield _link(_path("translate_post", number), words["translate"])
    yield _link(escape(post["url"]), words["open"])
    if post["page_url"]:
        yield _link(escape(post["page_url"]), words["elsewhere"], ' rel="noreferrer"')
    if post["muted"]:
        yield _entry("unmute", words["unmute"])
    else:
        yield _entry("mute", words["mute"])
    if post.get("pinned"):
        yield _entry("unpin", words["unpin"])
    elif "pinned" in post:
        yield _entry("pin", words["pin"])
    if can["mine"]:
        yield _link(_path("edit_post", number), words["edit"])
        yield _link(f"{_path('delete_post', number)}?{back}", words["delete"])
        return
    yield _link(f"{_path('filter_post', number)}?{back}", words["filter"])
    yield _entry("mute_author", words["mute_author"] % who)
    yield _entry("block_author", words["block_author"] % who)
    if can["report_url"]:
        yield _link(f"{can['report_url']}?post={number}&amp;{back}", words["report"] % who)


@cache
def _words(_language: str | None) -> dict[str, str]:
    # The sentences are cached, because a page uses them two hundred times.
    return {
        "reply": _("Reply to %(who)s"),
        "boost": _("Boost the post of %(who)s"),
        "favourite": _("Favourite the post of %(who)s"),
        "bookmark": _("Bookmark the post of %(who)s"),
        "more": _("More about the post of %(who)s"),
        "mute_author": _("Mute %(who)s"),
        "block_author": _("Block %(who)s"),
        "report": _("Report %(who)s"),
        "quote": _("Quote"),
        "translate": _("Translate"),
        "open": _("Open the post"),
        "elsewhere": _("Open it on its original server"),
        "unmute": _("Notify me of this conversation"),
        "mute": _("Mute this conversation"),
        "unpin": _("Unpin from my profile"),
        "pin": _("Pin to my profile"),
        "edit": _("Edit"),
        "delete": _("Delete"),
        "filter": _("Filter this post"),
    }


def _button(act: str, pressed: bool, name: str, count: int = 0) -> str:
    value, state = (f"un{act}", "true") if pressed else (act, "false")
    return f'<button class="act {act}" name="act" value="{value}" aria-pressed="{state}" {_counted_label(name, count)}</button>'


def _counted_label(name: str, count: int = 0) -> str:
    # The accessible name must contain the visible text (WCAG 2.5.3), so it ends with the count.
    return f'aria-label="{name}: {count}">{count}' if count else f'aria-label="{name}">'


def _entry(act: str, title: str) -> str:
    return f'<button name="act" value="{act}">{title}</button>'


def _link(url: str, title: str, more: str = "") -> str:
    return f'<a href="{url}"{more}>{title}</a>'


@cache
def _pattern(url_name: str) -> str:
    return reverse(url_name, kwargs={"id": 0}).replace("/0/", "/%d/")


@cache
def _fixed_path(url_name: str) -> str:
    return reverse(url_name)


def _path(url_name: str, number: int | None = None) -> str:
    # The paths come from a cache, because `reverse` searches all URLs each time.
    return _fixed_path(url_name) if number is None else _pattern(url_name) % number
