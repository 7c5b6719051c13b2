"""Titles of notifications, for pages, mails and pushes."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import get_language_bidi, gettext_lazy, ngettext_lazy
from django.utils.translation import gettext as _

_TITLES: Final[dict[str, str | Promise]] = {
    "mention": gettext_lazy("%(name)s mentioned you"),
    "status": gettext_lazy("%(name)s has posted"),
    "reblog": gettext_lazy("%(name)s boosted your post"),
    "favourite": gettext_lazy("%(name)s favourited your post"),
    "follow": gettext_lazy("%(name)s follows you"),
    "follow_request": gettext_lazy("%(name)s asks to follow you"),
    "poll": gettext_lazy("A poll in which you voted has ended"),
    "update": gettext_lazy("%(name)s edited a post that you boosted"),
    "quote": gettext_lazy("%(name)s quoted your post"),
    "quoted_update": gettext_lazy("%(name)s edited a post that you quoted"),
    "admin.sign_up": gettext_lazy("%(name)s has signed up"),
    "admin.report": gettext_lazy("%(name)s has sent a report"),
    "severed_relationships": gettext_lazy("You have lost followers, or people you followed"),
    "moderation_warning": gettext_lazy("You have received a warning from the staff of this server"),
    "annual_report": gettext_lazy("Your year in posts is ready"),
    "added_to_collection": gettext_lazy("%(name)s has added you to a collection"),
    "collection_update": gettext_lazy("%(name)s has edited a collection that you are in"),
}

_GROUP_TITLES: Final = {
    "reblog": ngettext_lazy(
        "%(name)s and %(count)d other boosted your post", "%(name)s and %(count)d others boosted your post", "count"
    ),
    "favourite": ngettext_lazy(
        "%(name)s and %(count)d other favourited your post",
        "%(name)s and %(count)d others favourited your post",
        "count",
    ),
    "follow": ngettext_lazy(
        "%(name)s and %(count)d other follow you", "%(name)s and %(count)d others follow you", "count"
    ),
    "admin.sign_up": ngettext_lazy(
        "%(name)s and %(count)d other have signed up", "%(name)s and %(count)d others have signed up", "count"
    ),
}


def title_of_group(kind: str, name: str, others: int, *, own: bool = False) -> str:
    """Return the title of a group of notifications about an account called `name` and `others` further accounts."""
    if not others or kind not in _GROUP_TITLES:
        return title_of(kind, name, own=own)
    shown = f"\u2068{name}\u2069" if get_language_bidi() else name
    return str(_GROUP_TITLES[kind] % {"name": shown, "count": others})


def title_of_report(name: str, target: str) -> str:
    """Return the title of a notification that the account called `name` has reported the account called `target`."""
    names = {"name": name, "target": target}
    if get_language_bidi():
        names = {key: f"\u2068{each}\u2069" for key, each in names.items()}
    return _("%(name)s has reported %(target)s") % names


def title_of(kind: str, name: str, *, own: bool = False) -> str:
    """Return the title of a notification about an account called `name`, in the active language. `own` means that this account
    is the recipient. For a type without a title, return `kind`.

    In right-to-left text the name is isolated (Unicode UAX 9), so that the `@` of an address does not appear at the wrong end.
    """
    if get_language_bidi():
        name = f"\u2068{name}\u2069"
    if own and kind == "poll":
        return _("Your poll has ended")
    title = _TITLES.get(kind)
    return kind if title is None else str(title) % {"name": name}
