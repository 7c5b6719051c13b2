"""Quotas set by the role of an author: storage for files, and posts in a day."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import Sum
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Account, Role
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import first_at
from social.kernel.locks import lock
from statuses.models import MediaAttachment, Status

PERIOD: Final = timedelta(days=1)


class NoRoom(Invalid):
    """Error for a file that exceeds the storage quota of its author."""


@dataclass(frozen=True)
class Usage:
    """Use of the quotas of an author's role. A limit of 0 means that there is no limit; the use is not counted then."""

    bytes: int = 0
    bytes_limit: int = 0
    posts: int = 0
    posts_limit: int = 0


def load_usage(account_id: int, role: Role) -> Usage:
    """Return the use of the role's quotas: the bytes of all files of the account, and its posts of the last 24 hours."""
    return Usage(
        _bytes(account_id) if role.media_megabytes else 0,
        role.media_megabytes * 1_000_000,
        _posts(account_id) if role.posts_per_day else 0,
        role.posts_per_day,
    )


def check_room(account_id: int, size: int, *, locked: bool = False) -> None:
    """Raise NoRoom if the file would exceed the storage quota; `locked` also locks the account, against concurrent uploads."""
    megabytes = Role.objects.filter(users__account=account_id).values_list("media_megabytes", flat=True).first()
    if not megabytes:
        return
    if locked:
        lock(f"media:{account_id}")
    used, limit = _bytes(account_id), megabytes * 1_000_000
    if used + size > limit:
        sentence = _("There is no room for this file: your files take %(used)s of the %(limit)s that you may store")
        raise NoRoom.sentence(sentence % {"used": filesizeformat(used), "limit": filesizeformat(limit)})


def check_posts(author: Account) -> None:
    """Raise Invalid if the author has published as many posts in 24 hours as the role allows, including deleted posts."""
    limit = author.user.role.posts_per_day
    if not limit:
        return
    lock(f"posts:{author.id}")
    if _posts(author.id) >= limit:
        sentence = ngettext(
            "You may publish one post in 24 hours", "You may publish %(limit)d posts in 24 hours", limit
        )
        raise Invalid.sentence(sentence % {"limit": limit})


def _bytes(account_id: int) -> int:
    sizes = Sum("file_size", default=0) + Sum("preview_size", default=0)
    return int(MediaAttachment.objects.filter(account_id=account_id).aggregate(total=sizes)["total"])


def _posts(account_id: int) -> int:
    since = first_at(clock.now() - PERIOD)
    return Status.objects.filter(account_id=account_id, id__gt=since, reblog_of=None).count()
