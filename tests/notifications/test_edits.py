"""Tests of notifications about edits: for mentioned users, for boosters of the post, and for authors of quotes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.models import Notification
from notifications.services import edits
from statuses.events import StatusEdited
from statuses.models import Status
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import edit, make_reblog, make_status
from tests.notifications.people import Person
from tests.support.entities import check_all
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_an_edit_notifies_only_newly_mentioned_accounts(alice: Person, bob: Person, carol: Person) -> None:
    post = Status.objects.get(id=alice.post("@bob hello")["id"])
    assert bob.types() == ["mention"]
    assert bob.api.post("/api/v1/notifications/clear").status_code == 200
    edit(post, "@bob @carol hello")
    (found,) = carol.notifications()
    assert (found["type"], found["status"]["id"], found["status"]["edited_at"] is not None) == (
        "mention",
        str(post.id),
        True,
    )
    assert bob.types() == []
    edit(post, "@bob hello")
    edit(post, "@bob @carol once more")
    assert carol.types() == ["mention"]


def test_boosters_and_quoters_are_notified_of_the_latest_edit_only(alice: Person, bob: Person, carol: Person) -> None:
    dora = Person("dora")
    post = Status.objects.get(id=alice.post("one")["id"])
    for someone in (alice, bob, dora):
        someone.do(f"statuses/{post.id}/reblog")
    quoting = carol.post("look", quoted_status_id=str(post.id))
    dora.do(f"accounts/{alice.id}/block")
    for person in (alice, bob, carol):
        person.notifications()
        person.api.post("/api/v1/notifications/clear")
    edit(post, "two")
    (first,) = bob.notifications()
    assert (first["type"], first["account"]["id"], first["status"]["id"]) == ("update", str(alice.id), str(post.id))
    (of_quote,) = carol.notifications()
    assert (of_quote["type"], of_quote["account"]["id"]) == ("quoted_update", str(alice.id))
    assert of_quote["status"]["id"] == quoting["id"]
    check_all("Notification", [first, of_quote])
    assert (alice.types(), dora.types()) == ([], [])
    edit(post, "three")
    (second,) = bob.notifications()
    assert (second["type"], second["id"] != first["id"]) == ("update", True)
    assert carol.types() == ["quoted_update"]
    carol.api.delete(f"/api/v1/statuses/{quoting['id']}")
    assert carol.types() == []


def test_an_edit_in_a_muted_conversation_notifies_nobody(alice: Person, bob: Person) -> None:
    post = Status.objects.get(id=alice.post("one")["id"])
    bob.do(f"statuses/{post.id}/reblog")
    bob.do(f"statuses/{post.id}/mute")
    edit(post, "two")
    assert bob.types() == []


def test_many_boosters_and_quoters_are_notified_in_batches(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "BATCH_SIZE", 2)
    post = Status.objects.get(id=alice.post("one")["id"])
    for _number in range(5):
        someone = make_user().account
        make_reblog(someone, post)
        make_status(someone, "look", quoted_status_id=post.id)
    make_reblog(make_remote(), post)
    work()
    edit(post, "two")
    work()
    kinds = list(Notification.objects.values_list("type", flat=True))
    assert (kinds.count("update"), kinds.count("quoted_update")) == (5, 5)
    event = StatusEdited(status_id=post.id, account_id=alice.id, local=True)
    monkeypatch.setattr(edits, "BATCH_SIZE", 10)
    counted = []
    for boosters in (5, 2):
        Status.objects.filter(id__in=list(post.reblogs.values_list("id", flat=True)[boosters:])).delete()
        with CaptureQueriesContext(connection) as queries:
            edits.notify_boosters([event])
        counted.append(len(queries))
    assert len(set(counted)) == 1
