"""Tests of the pages and the command that import old posts."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from accounts.transfers.models import PastImport
from federation.archives.working import process_import
from statuses.models import Status
from tests.factories.accounts import make_user
from tests.federation.archives.conftest import read
from tests.support.past import OLD, mastodon, note, zipped

pytestmark = pytest.mark.django_db


def test_old_posts_are_shown_imported_and_undone_on_pages(ada: User, client: Client) -> None:
    client.force_login(ada)
    page = client.get("/settings/past")
    assert (page.status_code, b"Import old posts" in page.content) == (200, True)
    assert client.post("/settings/past", {}).status_code == 422
    data = zipped(mastodon(note(1), note(2, to=["https://else.example/x"], cc=[])))
    answer = client.post("/settings/past", {"file": SimpleUploadedFile("a.zip", data)})
    made = PastImport.objects.get()
    assert answer.headers["location"] == f"/settings/past/{made.id}"
    assert "being read" in client.get(answer.headers["location"]).content.decode()
    process_import(made.id)
    shown = client.get(answer.headers["location"]).content.decode()
    assert "1 post of this archive can be imported." in shown
    assert OLD in shown
    assert "1 × A private mention" in shown
    assert not Status.objects.exists()

    assert client.post(f"/settings/past/{made.id}/start", {"visibility": "unlisted"}).status_code == 303
    # A second archive must wait until the first one is finished.
    assert client.post("/settings/past", {"file": SimpleUploadedFile("b.zip", data)}).status_code == 422
    process_import(made.id)
    assert Status.objects.get().visibility == "unlisted"
    assert "1 of 1 posts were imported" in client.get(answer.headers["location"]).content.decode()
    table = b"".join(client.get(f"/settings/past/{made.id}/left_out.csv").streaming_content).decode()
    assert f"2,{OLD}/statuses/2,A private mention" in table.replace('"', "")
    assert client.post(f"/settings/past/{made.id}/undo").status_code == 303
    process_import(made.id)
    assert not Status.objects.exists()
    assert "were removed" in client.get("/settings/past").content.decode()


def test_imports_of_other_accounts_are_404(ada: User, client: Client) -> None:
    made = read(ada, zipped(mastodon(note(1))))
    client.force_login(make_user("eve"))
    for path in ("", "/left_out.csv"):
        assert client.get(f"/settings/past/{made.id}{path}").status_code == 404
    for act in ("start", "undo", "drop"):
        assert client.post(f"/settings/past/{made.id}/{act}").status_code == 404
    made.refresh_from_db()
    assert made.state == "ready"


def test_the_command_shows_imports_and_undoes(ada: User, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "archive.zip"
    file.write_bytes(zipped(mastodon(note(1), note(2))))
    call_command("import_archive", "add", "ada", str(file), "--dry-run")
    assert f"ready, 2 posts of {OLD}, 0 imported" in capsys.readouterr().out
    assert not Status.objects.exists()
    call_command("import_archive", "add", "ada", str(file), "--visibility", "private")
    assert "finished, 2 posts" in capsys.readouterr().out
    assert set(Status.objects.values_list("visibility", flat=True)) == {"private"}
    call_command("import_archive", "show", "ada")
    assert "2 imported" in capsys.readouterr().out
    call_command("import_archive", "undo", "ada")
    assert not Status.objects.exists()
    with pytest.raises(CommandError):
        call_command("import_archive", "undo", "ada")
