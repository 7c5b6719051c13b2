"""Tests of importing old posts over the API."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Account, User
from accounts.transfers.services.past import folder_of
from federation.archives.working import process_import
from statuses.models import Status
from tests.factories.accounts import make_remote, make_token
from tests.federation.archives.conftest import read
from tests.support.client import Api
from tests.support.past import mastodon, note, zipped

pytestmark = pytest.mark.django_db
PAST = "/api/v1/past_imports"


def test_an_archive_is_uploaded_shown_started_and_undone(ada: User) -> None:
    api = Api(make_token(ada))
    data = zipped(mastodon(note(1), note(2, to=["https://else.example/x"], cc=[])))
    sent = api.client.post(
        PAST,
        {"file": SimpleUploadedFile("archive.zip", data)},
        headers={"authorization": f"Bearer {api.token}"},
    )
    assert sent.status_code == 200, sent.content
    made = sent.json()
    place = f"{PAST}/{made['id']}"
    assert (made["state"], made["file_name"], made["size"]) == ("reading", "archive.zip", len(data))
    process_import(int(made["id"]))
    shown = api.get(place).json()
    assert (shown["state"], shown["total"], shown["counts"]["public"]) == ("ready", 1, 1)
    assert [(each["reason"], each["count"]) for each in shown["reasons"]] == [("direct", 1)]
    (line,) = api.get(f"{place}/left_out").json()
    assert (line["line"], line["reason"]) == (2, "direct")
    assert not Status.objects.exists()
    assert api.post(f"{place}/start", {"visibility": "public"}).status_code == 422
    assert api.post(f"{place}/start", {"visibility": "private"}).json()["state"] == "running"
    assert api.post(PAST, {"file": "data:application/json;base64,W10="}).status_code == 409
    process_import(int(made["id"]))
    done = api.get(PAST).json()[0]
    assert (done["state"], done["imported"]) == ("finished", 1)
    assert done["undoable_until"] is not None
    assert Status.objects.get().visibility == "private"
    assert api.post(f"{place}/undo").json()["state"] == "undoing"
    process_import(int(made["id"]))
    assert not Status.objects.exists()
    assert api.post(PAST, {"file": "no file"}).status_code == 400


def test_an_account_that_others_moved_to_is_offered_an_import_of_posts(ada: User, client: Client) -> None:
    client.force_login(ada)
    old = make_remote("old", "old.example")
    Account.objects.filter(id=ada.account_id).update(also_known_as=[old.uri])
    assert "You have moved here" not in client.get("/settings/past").content.decode()
    # The other server is notified of a move only if one of its users follows the old account.
    assert "Import your old posts" in client.get("/settings/aliases").content.decode()
    Account.objects.filter(id=old.id).update(moved_to=ada.account)
    assert "You have moved here from" in client.get("/settings/past").content.decode()


def test_the_page_states_the_limits_of_an_import(ada: User, client: Client) -> None:
    client.force_login(ada)
    page = client.get("/settings/past").content.decode()
    assert "You can import 200,000 posts and 20.0\xa0GB of files in total" in page
    assert (
        "kept for 30 days" in client.get(f"/settings/past/{read(ada, zipped(mastodon(note(1)))).id}").content.decode()
    )


@pytest.mark.django_db(transaction=True)
def test_the_files_of_a_removed_or_replaced_archive_are_deleted(ada: User) -> None:
    first = read(ada, zipped(mastodon(note(1))))
    second = read(ada, zipped(mastodon(note(2))))
    assert [folder_of(made.id).exists() for made in (first, second)] == [False, True]
    assert Api(make_token(ada)).delete(f"{PAST}/{second.id}").status_code == 200
    assert not folder_of(second.id).exists()
