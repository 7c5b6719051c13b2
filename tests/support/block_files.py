"""Files of blocks as staff bring them to the admin and take them from there."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def chosen(client: Client, path: str, data: bytes, **sent: str) -> Any:
    """The answer to a chosen file: what it would do, or the form again."""
    file = SimpleUploadedFile("blocks.csv", data)
    return client.post(f"{path}import_file/", {"confirmed": "yes", "file": file, **sent})


def confirmed(client: Client, path: str, shown: Any) -> str:
    """Press the button of the page that says what a file would do."""
    hidden = dict(re.findall(r'type="hidden" name="(lines|replace)" value="([^"]*)"', shown.content.decode()))
    sent = {name: html.unescape(value) for name, value in hidden.items()}
    return str(client.post(f"{path}import_file/", sent, follow=True).content.decode())


def statements_of(call: Callable[[], object]) -> int:
    """The number of statements that a call takes."""
    with CaptureQueriesContext(connection) as queries:
        call()
    return len(queries)


def exported(client: Client, path: str) -> str:
    """The file that the admin gives out."""
    answer: Any = client.get(f"{path}export_file/")
    return b"".join(answer.streaming_content).decode()
