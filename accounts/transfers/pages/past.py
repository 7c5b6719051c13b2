"""Pages that import a person's old posts from an archive."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.pages.person import shown_person
from accounts.pages.settings import counted, signed_in
from accounts.transfers import queries
from accounts.transfers.models import PastImport, PastState
from accounts.transfers.pages.files import change, table
from accounts.transfers.pages.forms import PastForm, PastStartForm
from accounts.transfers.past import sentence_of, undo_end
from accounts.transfers.services.past import drop_past, start_past, take_archive, undo_past
from social.api import limits
from social.kernel.errors import Conflict, Invalid
from social.pages.frame import show
from social.pages.once import once


@require_http_methods(["GET", "HEAD", "POST"])
@once
def past_imports(request: HttpRequest) -> HttpResponse:
    """`/settings/past`: lists the imports of old posts, and takes an archive for a new one."""
    user = signed_in(request)
    form = PastForm()
    if request.method == "POST":
        counted(limits.IMPORTS, user)
        form = PastForm(request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                new_import = take_archive(account=user.account, file=file, file_name=file.name)
            except (Conflict, Invalid) as refusal:
                form.add_error("file", refusal.message)
            else:
                return redirect("settings_past_import", new_import.id)
    described = [
        _described(each) for each in queries.list_past_imports(user.account_id).order_by("-id")[: queries.LIST_SIZE]
    ]
    context = {
        "form": form,
        "imports": described,
        "busy": any(each["busy"] for each in described),
        "allowance": queries.load_allowance(user.account_id),
        "moved_here": [shown_person(each) for each in queries.list_moved_here(user.account)],
    }
    return show(request, "accounts/settings/past_imports.html", context, status=422 if form.errors else 200)


@require_safe
def one_past_import(request: HttpRequest, import_id: int) -> HttpResponse:
    """Show an import of old posts: its planned changes, its progress, and the entries that were left out. Raises NotFound."""
    past = queries.find_past_import(signed_in(request).account_id, import_id)
    lines = [
        {"line": row.line, "uri": row.uri, "reason": sentence_of(row.reason)}
        for row in queries.list_left_out(past)[: queries.LIST_SIZE]
    ]
    reasons = [{"number": number, "reason": sentence_of(reason)} for reason, number in sorted(past.reasons.items())]
    context = {**_described(past), "lines": lines, "reasons": reasons, "form": PastStartForm()}
    return show(request, "accounts/settings/past_import.html", context)


@require_POST
def start(request: HttpRequest, import_id: int) -> HttpResponse:
    form = PastStartForm(request.POST)
    visibility = form.cleaned_data["visibility"] if form.is_valid() else ""
    return change(request, start_past, "settings_past_import", import_id, visibility=visibility)


@require_POST
def undo(request: HttpRequest, import_id: int) -> HttpResponse:
    return change(request, undo_past, "settings_past_import", import_id)


@require_POST
def drop(request: HttpRequest, import_id: int) -> HttpResponse:
    """Stop an import, or remove an archive that was not imported. Raises NotFound."""
    drop_past(account=signed_in(request).account, import_id=import_id)
    messages.success(request, gettext("The archive has been removed. What was imported from it stays."))
    return redirect("settings_past_imports")


@require_safe
def left_out(request: HttpRequest, import_id: int) -> HttpResponseBase:
    """Return a CSV file that lists the entries that were left out. Raises NotFound."""
    user = signed_in(request)
    counted(limits.EXPORTS, user)
    past = queries.find_past_import(user.account_id, import_id)
    lines = ((str(row.line), row.uri, sentence_of(row.reason)) for row in queries.list_left_out(past).iterator())
    return table("left_out.csv", [("Entry", "Address", "Reason"), *lines])


def _described(found: PastImport) -> dict[str, Any]:
    return {
        "found": found,
        "name": found.file_name,
        "url": reverse("settings_past_import", args=[found.id]),
        "busy": found.state in (PastState.READING, PastState.RUNNING, PastState.UNDOING),
        "ready": found.state == PastState.READY,
        "can_undo": undo_end(found) is not None,
        "can_drop": found.state in (PastState.READING, PastState.READY, PastState.RUNNING, PastState.UNREADABLE),
        "problem": sentence_of(found.problem) if found.problem else "",
        "bytes": found.numbers.get("bytes", 0),
        "files": found.numbers.get("files", 0),
        "polls": found.numbers.get("polls", 0),
    }
