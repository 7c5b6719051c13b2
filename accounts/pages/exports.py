"""The pages on which people export what is theirs: lists as tables, and an archive of everything."""

from __future__ import annotations

from itertools import chain

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Archive, ArchiveState
from accounts.pages.settings import counted, signed_in
from accounts.pages.tables import table
from accounts.queries.transfers import find_latest_archive
from accounts.services.archives import find_archive_file, next_archive_at, request_archive
from accounts.services.portable_lists import all_lists, find_list
from social.api import limits
from social.kernel.errors import Conflict
from social.pages.frame import show


@require_safe
def exports(request: HttpRequest) -> HttpResponse:
    """`/settings/export`."""
    account = signed_in(request).account
    archive = find_latest_archive(account.id)
    context = {
        "lists": [
            {"title": portable.title, "name": portable.name, "count": portable.count(account.id)}
            for portable in all_lists()
        ],
        "archive": archive,
        "archive_items": sum(items for _size, items in archive.files.values()) if archive is not None else 0,
        "building": archive is not None and archive.state == ArchiveState.BUILDING,
        "next_archive_at": next_archive_at(account),
    }
    return show(request, "accounts/settings/export.html", context)


@require_safe
def export_list(request: HttpRequest, name: str) -> HttpResponseBase:
    """`/settings/exports/<name>.csv`. Raises NotFound for a list that there is not."""
    user, portable = signed_in(request), find_list(name)
    counted(limits.EXPORTS, user)
    head = [portable.columns] if portable.named else []
    return table(portable.file_name, chain(head, portable.rows(user.account_id)))


@require_POST
def ask_for_archive(request: HttpRequest) -> HttpResponse:
    """Have an archive built."""
    try:
        request_archive(account=signed_in(request).account)
    except Conflict as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Your archive is being built. You will get a mail when it is ready."))
    return redirect("settings_export")


@require_safe
def archive(request: HttpRequest, archive_id: int) -> HttpResponseBase:
    """The finished archive, for its owner alone. Raises NotFound."""
    account = signed_in(request).account
    path = find_archive_file(account=account, archive_id=archive_id)
    name = f"archive-{account.username}-{Archive.objects.get(id=archive_id).created_at:%Y%m%d}.tar.gz"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/gzip")
