"""Helpers that import and export files of blocks in the admin."""

import html
import re
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def chosen(client: Client, path: str, data: bytes, **sent: str) -> Any:
    """Upload a file, and return the preview of its effects, or the form with errors."""
    file = SimpleUploadedFile("blocks.csv", data)
    return client.post(f"{path}import_file/", {"confirmed": "yes", "file": file, **sent})


def confirmed(client: Client, path: str, shown: Any) -> str:
    """Confirm the preview of a file, and return the page that follows."""
    hidden = dict(re.findall(r'type="hidden" name="(lines|replace)" value="([^"]*)"', shown.content.decode()))
    sent = {name: html.unescape(value) for name, value in hidden.items()}
    return str(client.post(f"{path}import_file/", sent, follow=True).content.decode())


def statements_of(call: Callable[[], object]) -> int:
    """Return the number of queries that a call takes."""
    with CaptureQueriesContext(connection) as queries:
        call()
    return len(queries)


def exported(client: Client, path: str) -> str:
    """Return the file that the admin exports."""
    answer: Any = client.get(f"{path}export_file/")
    return b"".join(answer.streaming_content).decode()
