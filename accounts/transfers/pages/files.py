"""Pages that export lists and an archive, import lists, and show the follows that a block or a suspension ended."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models.relations import SeveranceType
from accounts.pages.settings import counted, signed_in
from accounts.queries.networks import find_severance, list_ended_followers, list_ended_follows, list_severances
from accounts.transfers.models import Archive, ArchiveState, Import, ImportState
from accounts.transfers.pages.forms import ImportForm
from accounts.transfers.policies import FILE_LIMIT, LINES_LIMIT, Problem, Unreadable, write_line
from accounts.transfers.queries import all_failures, find_import, find_latest_archive, list_failures, list_imports
from accounts.transfers.services import portable_lists
from accounts.transfers.services.archives import find_archive_file, next_archive_at, request_archive
from accounts.transfers.services.importing import drop_import, read_import, start_import
from social.api import limits
from social.kernel.errors import Conflict, NotFound, require_found
from social.pages.frame import show
from social.pages.once import once


def table(file_name: str, lines: Iterable[Sequence[str]]) -> FileResponse:
    """Return a CSV file to download. The file is closed with the response."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response that sends it closes it
    for cells in lines:
        file.write(write_line(cells).encode())
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=file_name, content_type="text/csv; charset=utf-8")


@require_safe
def exports(request: HttpRequest) -> HttpResponse:
    """`/settings/export`: shows the lists and archives that can be downloaded."""
    account = signed_in(request).account
    archive = find_latest_archive(account.id)
    context = {
        "lists": [
            {"title": portable.title, "name": portable.name, "count": portable.count(account.id)}
            for portable in portable_lists.all_lists()
        ],
        "archive": archive,
        "archive_items": sum(items for _size, items in archive.files.values()) if archive is not None else 0,
        "building": archive is not None and archive.state == ArchiveState.BUILDING,
        "next_archive_at": next_archive_at(account),
    }
    return show(request, "accounts/settings/export.html", context)


@require_safe
def export_list(request: HttpRequest, name: str) -> HttpResponseBase:
    """`/settings/exports/<name>.csv`: returns a list as a file. Raises NotFound for an unknown list."""
    user, portable = signed_in(request), portable_lists.find_list(name)
    counted(limits.EXPORTS, user)
    head = [portable.columns] if portable.named else []
    return table(portable.file_name, chain(head, portable.rows(user.account_id)))


@require_POST
def ask_for_archive(request: HttpRequest) -> HttpResponse:
    try:
        request_archive(account=signed_in(request).account)
    except Conflict as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, gettext("Your archive is being prepared. You will get an e-mail when it is ready."))
    return redirect("settings_export")


@require_safe
def archive(request: HttpRequest, archive_id: int) -> HttpResponseBase:
    """Return the finished archive, only to its owner. Raises NotFound for other archives."""
    account = signed_in(request).account
    stored = require_found(Archive.objects.filter(id=archive_id, account=account).first())
    path = find_archive_file(account=account, archive_id=archive_id)
    name = f"archive-{account.username}-{stored.created_at:%Y%m%d}.tar.gz"
    try:
        file = path.open("rb")
    except FileNotFoundError:
        # The archive has been removed meanwhile.
        raise NotFound from None
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/gzip")


_PROBLEMS: Final[dict[Problem, str | Promise]] = {
    Problem.NO_TEXT: _("This is not a text in UTF-8."),
    Problem.NO_TABLE: _("This is not a table of comma-separated values."),
    Problem.EMPTY: _("This file is empty."),
    Problem.TOO_LARGE: _("This file is too large."),
    Problem.TOO_MANY_LINES: _("There are too many lines in this file."),
    Problem.OTHER_LIST: _("This file is a different kind of list."),
    Problem.NO_USABLE_LINE: _("This file has no line that fits this kind of list."),
    Problem.NO_ADDRESS: _("This is not an account address such as name@server.example."),
    Problem.NO_DOMAIN: _("This is not the name of another server."),
    Problem.NO_BOOLEAN: _("A value is neither true nor false."),
    Problem.CELL_TOO_LONG: _("This is too long."),
    Problem.NO_POST_ADDRESS: _("This is not the address of a post."),
    Problem.UNKNOWN: _("This account or post could not be found."),
    Problem.ONESELF: _("This is your own account."),
    Problem.REFUSED: _("This is not possible: one of the two blocks the other, or the account has moved."),
    Problem.LIMIT: _("You have reached the maximum size of this list."),
}


@require_http_methods(["GET", "HEAD", "POST"])
@once
def imports(request: HttpRequest) -> HttpResponse:
    """`/settings/imports`: lists the imports, and takes a file for a new one."""
    user = signed_in(request)
    form = ImportForm()
    if request.method == "POST":
        counted(limits.IMPORTS, user)
        form = ImportForm(request.POST, request.FILES)
        if form.is_valid():
            sent = form.cleaned_data
            try:
                batch = read_import(
                    account=user.account,
                    portable=portable_lists.find_list(sent["kind"]),
                    # One byte beyond the limit is enough to refuse the file.
                    data=sent["file"].read(FILE_LIMIT + 1),
                    file_name=sent["file"].name,
                    overwrite=sent["mode"] == ImportForm.REPLACE,
                )
            except Unreadable as refusal:
                form.add_error("file", _sentence(refusal))
            else:
                return redirect("settings_import", batch.id)
    described = [_described(each) for each in list_imports(user.account_id)]
    context = {"form": form, "imports": described, "busy": any(each["running"] for each in described)}
    return show(request, "accounts/settings/imports.html", context, status=422 if form.errors else 200)


@require_safe
def one_import(request: HttpRequest, import_id: int) -> HttpResponse:
    """Show an import, with the changes that it will make and its progress. Raises NotFound."""
    batch = find_import(signed_in(request).account_id, import_id)
    failures = [
        {"line": row.line, "text": row.cells[0], "problem": _PROBLEMS[Problem(row.error)]}
        for row in list_failures(batch)
    ]
    return show(request, "accounts/settings/import.html", {**_described(batch), "failures": failures})


def change(request: HttpRequest, act: Callable[..., object], page: str, import_id: int, **values: Any) -> HttpResponse:
    """Call `act` for an import of the signed-in person, and show the import's page, with the error if `act` fails."""
    try:
        act(account=signed_in(request).account, import_id=import_id, **values)
    except Conflict as refusal:
        messages.error(request, refusal.message)
    return redirect(page, import_id)


@require_POST
def start(request: HttpRequest, import_id: int) -> HttpResponse:
    return change(request, start_import, "settings_import", import_id)


@require_POST
def drop(request: HttpRequest, import_id: int) -> HttpResponse:
    """Remove an import; lines that were already imported are kept. Raises NotFound."""
    drop_import(account=signed_in(request).account, import_id=import_id)
    messages.success(request, gettext("The file has been removed. What was imported from it stays."))
    return redirect("settings_imports")


@require_safe
def failures(request: HttpRequest, import_id: int) -> HttpResponseBase:
    """Return the failed lines as a file that can be imported again. Raises NotFound."""
    user = signed_in(request)
    counted(limits.EXPORTS, user)
    batch = find_import(user.account_id, import_id)
    portable = portable_lists.find_list(batch.kind)
    # The first line names the columns, so that the import ignores the additional column.
    lines = ((*row.cells, str(_PROBLEMS[Problem(row.error)])) for row in all_failures(batch))
    return table(portable.file_name, chain([(*portable.columns, "Error")], lines))


def _described(batch: Import) -> dict[str, Any]:
    portable = portable_lists.find_list(batch.kind)
    settled = batch.done + batch.failed
    return {
        "batch": batch,
        "title": portable.title,
        "name": portable.title,
        "url": reverse("settings_import", args=[batch.id]),
        "waiting": batch.state == ImportState.WAITING,
        "running": batch.state == ImportState.RUNNING,
        "settled": settled,
        "usable": batch.total - batch.failed,
        "existing": portable.count(batch.account_id) if batch.state == ImportState.WAITING and batch.overwrite else 0,
    }


def _sentence(refusal: Unreadable) -> str:
    text = str(_PROBLEMS[refusal.problem])
    if refusal.problem is Problem.TOO_LARGE:
        return f"{text} " + gettext("At most %(size)d MB are allowed.") % {"size": FILE_LIMIT // (1024 * 1024)}
    if refusal.problem is Problem.TOO_MANY_LINES:
        return f"{text} " + gettext("At most %(lines)s lines are allowed.") % {"lines": f"{LINES_LIMIT:,}"}
    if refusal.line:
        return gettext("Line %(line)d:") % {"line": refusal.line} + f" {text}"
    return text


PAGE_SIZE = 20


@require_safe
def severances(request: HttpRequest) -> HttpResponse:
    """`/severed_relationships`: lists the ended follows. Clients link here from the notification of a severance."""
    page = Paginator(list_severances(signed_in(request).account_id), PAGE_SIZE).get_page(request.GET.get("page"))
    return show(request, "accounts/settings/severances.html", {"page": page, "own": SeveranceType.USER_DOMAIN_BLOCK})


@require_safe
def ended_follows(request: HttpRequest, severed_id: int) -> HttpResponseBase:
    """Return the ended follows as a file in the format of exported follows, which can be imported. Raises NotFound."""
    user = signed_in(request)
    rows = portable_lists.in_order(list_ended_follows(find_severance(user.account_id, severed_id)))
    counted(limits.EXPORTS, user)
    head = [portable_lists.FOLLOWS.columns]
    return table(portable_lists.FOLLOWS.file_name, chain(head, map(portable_lists.follow_cells, rows)))


@require_safe
def ended_followers(request: HttpRequest, severed_id: int) -> HttpResponseBase:
    user = signed_in(request)
    rows = portable_lists.in_order(list_ended_followers(find_severance(user.account_id, severed_id)))
    counted(limits.EXPORTS, user)
    addresses = (portable_lists.full_address(row.account) for row in rows)
    return table("followers.csv", zip(chain([portable_lists.ADDRESS], addresses)))
