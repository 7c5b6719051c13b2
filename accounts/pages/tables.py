"""Answers with a table of any length, without holding it in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence

from django.http import FileResponse

from accounts.policies.transfers import write_line


def table(file_name: str, lines: Iterable[Sequence[str]]) -> FileResponse:
    """A file to be downloaded. It is closed with the response, which the event loop sends at the pace of its reader."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response that sends it closes it
    for cells in lines:
        file.write(write_line(cells).encode())
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=file_name, content_type="text/csv; charset=utf-8")
