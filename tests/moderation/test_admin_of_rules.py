"""Tests of the admin for spam rules, held posts, quarantined files, and the export of evidence."""

import hashlib
import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from accounts.copies.models import QuarantinedFile
from accounts.models import AuditEntry, User
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import hold_account
from accounts.spam.models import SpamRule
from moderation.admin.audit_sentences import sentence
from moderation.models import EvidenceFile
from moderation.services.evidence_files import forget_evidence, request_evidence
from social.kernel import clock
from social.kernel.errors import Conflict
from statuses.models import HeldPost, Status
from statuses.services.moderating import approve_held
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
RULES, HELD, FILES = "/admin/accounts/spamrule/", "/admin/statuses/heldpost/", "/admin/accounts/quarantinedfile/"


@pytest.fixture
def boss(settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    return signed_in(make_user("boss", role="Owner"))


def values(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Casino",
        "subject": "posts",
        "outcome": "hold",
        "origin": "any",
        "words": "casino\n\nfree money",
    } | changes


def test_a_rule_is_created_tried_and_enabled_and_held_posts_are_decided(boss: Client) -> None:
    ann = make_user("ann")
    make_status(ann.account, "casino <script>")
    wrong = boss.post(f"{RULES}add/", values(words="", networks="1.2.3"))
    assert (wrong.status_code, SpamRule.objects.count()) == (200, 0)
    User.objects.filter(account__username="boss").update(locale="de")
    wrong = boss.post(f"{RULES}add/", values(subject="sign_ups", networks="1.2.3"), headers={"Accept-Language": "de"})
    assert "Enthält Unbrauchbares: 1.2.3" in wrong.content.decode()
    wrong = boss.post(f"{RULES}add/", values(words=""), headers={"Accept-Language": "de"})
    assert "Bedingungen fehlen: diese Regel würde alles treffen" in wrong.content.decode()
    User.objects.filter(account__username="boss").update(locale="en")
    made = boss.post(f"{RULES}add/", values())
    assert made.status_code == 302, made.context and made.context["errors"]
    assert "Casino</a>” was added" in boss.get(RULES).content.decode()
    rule = SpamRule.objects.get()
    assert (rule.words, rule.enabled) == (["casino", "free money"], False)
    page = f"{RULES}{rule.pk}/change/"
    assert "free money" in boss.get(page).content.decode()
    tried = boss.get(reverse("admin:accounts_spamrule_try_it", args=[rule.pk])).content.decode()
    assert "the rule matches 1 of them" in tried
    assert "casino &lt;script&gt;" in tried
    assert boss.post(page, values(name="Roulette", outcome="report")).status_code == 302
    assert "Roulette</a>” was changed" in boss.get(RULES).content.decode()
    assert boss.post(page, values()).status_code == 302
    question = boss.get(reverse("admin:accounts_spamrule_enable", args=[rule.pk])).content.decode()
    assert "Switch this rule on?" in question
    assert boss.post(RULES, {"action": "enable", "_selected_action": [rule.pk]}).status_code == 302
    for number, visibility in enumerate(("public", "direct")):
        sent = {"status": f"casino {number}", "visibility": visibility}
        assert Api(make_token(ann)).post("/api/v1/statuses", sent).status_code == 422
    first, second = HeldPost.objects.order_by("id")
    with CaptureQueriesContext(connection) as queries:
        listed = boss.get(HELD).content.decode()
    assert len(queries) <= 20
    assert ("casino 0" in listed, "casino 1" in listed) == (True, False), "direct posts are not shown in the list"
    assert "casino 1" in boss.get(f"{HELD}{second.pk}/change/").content.decode()
    assert AuditEntry.objects.filter(action="view", target_type="HeldPost").count() == 1
    assert (
        "Publish these posts?"
        in boss.post(HELD, {"action": "approve", "_selected_action": [first.pk]}).content.decode()
    )
    answer(boss, HELD, "approve", first)
    answer(boss, HELD, "discard", second)
    assert not HeldPost.objects.exists()
    assert Status.objects.count() == 2
    entry = AuditEntry.objects.get(action="discard", target_type="HeldPost")
    assert sentence(entry) == "@boss discarded a held post of @ann"
    with translation.override("ar"):
        assert ("\u2066@boss\u2069" in sentence(entry), "\u2066@ann\u2069" in sentence(entry)) == (True, True)


def answer(client: Client, page: str, action: str, row: Any) -> None:
    """Choose an action and confirm it."""
    sent: dict[str, Any] = {"action": action, "_selected_action": [row.pk]}
    asked = client.post(page, sent)
    assert asked.status_code == 200
    assert client.post(page, sent | confirmed(asked)).status_code == 302


def confirmed(asked: Any) -> dict[str, str]:
    """Return the form values that confirm an action on its page."""
    versions = {f"version-{key}": version for key, version in asked.context["versions"]}
    return {asked.context["confirmed"]: "yes"} | versions


def test_row_73_a_held_post_that_changed_after_staff_viewed_it_is_not_published(boss: Client) -> None:
    zoe = make_remote("zoe", "b.example")
    note = {"id": f"{zoe.uri}/1", "type": "Note", "attributedTo": zoe.uri, "content": "fine"}
    held = HeldPost.objects.create(
        account=zoe,
        rule_name="x",
        visibility="public",
        excerpt="fine",
        document=json.dumps(note),
        uri=note["id"],
        written_at=clock.now(),
    )
    page, act = f"{HELD}{held.pk}/change/", f"{HELD}{held.pk}/approve/"
    assert "fine" in boss.get(page).content.decode()
    changes = (
        lambda: HeldPost.objects.update(excerpt="spam"),
        lambda: HeldPost.objects.update(document=json.dumps(note | {"attachment": []})),
    )
    for change in changes:
        change()
        answer = boss.post(act, confirmed(boss.get(act)), follow=True).content.decode()
        assert "has been changed in the meantime" in answer
        assert HeldPost.objects.get().approved_at is None
        boss.get(page)
    HeldPost.objects.update(mentions_count=7)
    with pytest.raises(Conflict):
        approve_held(by=OPERATOR, held=held)
    boss.get(page)
    boss.post(act, confirmed(boss.get(act)))
    assert HeldPost.objects.get().approved_at is not None


def test_a_session_stores_which_held_posts_were_viewed_last(boss: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moderation.admin.spam_rules._SEEN_LIMIT", 2)
    zoe = make_remote("zoe", "b.example")
    held = [
        HeldPost.objects.create(
            account=zoe,
            rule_name="x",
            visibility="public",
            excerpt="",
            document=json.dumps({"id": f"{zoe.uri}/{number}", "type": "Note", "attributedTo": zoe.uri}),
            uri=f"{zoe.uri}/{number}",
            written_at=clock.now(),
        )
        for number in range(3)
    ]
    for row in (held[0], held[1], held[0], held[2]):
        boss.get(f"{HELD}{row.pk}/change/")
    assert list(boss.session["held_versions"]) == [str(held[0].pk), str(held[2].pk)]


def test_files_in_quarantine_are_released_or_destroyed(boss: Client) -> None:
    ann = make_user("ann")
    rows = [
        QuarantinedFile.objects.create(sha256=digit * 64, source="upload", account=ann.account, reason="Bad.1")
        for digit in "ab"
    ]
    listed = boss.get(FILES).content.decode()
    assert ("a" * 16 in listed, "Bad.1" in listed, "@ann" in listed) == (True, True, True)
    answer(boss, FILES, "release", rows[0])
    answer(boss, FILES, "destroy", rows[1])
    assert set(QuarantinedFile.objects.values_list("sha256", "decision")) == {
        ("a" * 64, "released"),
        ("b" * 64, "destroyed"),
    }
    assert boss.get(f"{FILES}{rows[0].pk}/change/").status_code == 200


def test_evidence_is_written_in_the_background_and_fetched_by_staff(
    boss: Client, settings: Any, tmp_path: Path
) -> None:
    settings.PRIVATE_ROOT = tmp_path
    ann = make_user("ann")
    page = f"/admin/accounts/account/{ann.account_id}/evidence/"
    asked = boss.get(page)
    yes = {asked.context["confirmed"]: "yes"}
    assert boss.post(page, yes).status_code == 422, "a reason is required"
    refused = boss.post(page, yes | {"reason": "court"}, follow=True)
    assert "on hold or reported" in refused.content.decode()
    hold_account(by=OPERATOR, account=ann.account, reason="court")
    boss.post(page, yes | {"reason": "court"})
    again = boss.post(page, yes | {"reason": "court"}, follow=True)
    assert "being written already" in again.content.decode()
    row = EvidenceFile.objects.get()
    fetch = reverse("admin:moderation_evidencefile_fetch", args=[row.pk])
    assert boss.get(fetch).status_code == 404, "the file does not exist yet"
    work()
    sent = boss.get(fetch)
    with zipfile.ZipFile(io.BytesIO(data := b"".join(sent.streaming_content))) as archive:  # type: ignore[arg-type]  # not asynchronous
        assert "manifest.json" in archive.namelist()
    row.refresh_from_db()
    assert (row.sha256, row.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert fetch in boss.get(reverse("admin:moderation_evidencefile_changelist")).content.decode()
    assert AuditEntry.objects.get(action="export").details["reason"] == "court"
    assert sentence(AuditEntry.objects.get(action="fetch")) == "@boss downloaded the evidence about @ann"
    mod = signed_in(make_user("judge", role="Moderator"))
    assert mod.get(fetch).status_code == 403
    EvidenceFile.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert forget_evidence() == 1
    assert list((tmp_path / "evidence").iterdir()) == []


@pytest.mark.parametrize(
    ("about", "handed_over"), [("Owner", False), ("Admin", False), ("Moderator", True), ("", True), ("elsewhere", True)]
)
def test_only_staff_who_outrank_the_user_can_download_evidence(
    settings: Any, tmp_path: Path, about: str, handed_over: bool
) -> None:
    settings.PRIVATE_ROOT, settings.STAFF_SECOND_FACTOR = tmp_path, False
    account = make_remote("ann") if about == "elsewhere" else make_user("ann", role=about or None).account
    row = EvidenceFile.objects.create(account=account, author_name="operator", reason="court", state="ready")
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / f"{row.id}.zip").write_bytes(b"what is known")
    answer = signed_in(make_user("aide", role="Admin")).get(
        reverse("admin:moderation_evidencefile_fetch", args=[row.pk])
    )
    assert answer.status_code == (200 if handed_over else 403)
    assert AuditEntry.objects.filter(action="fetch").exists() is handed_over


def test_evidence_is_deleted_with_its_account_or_if_never_finished(settings: Any, tmp_path: Path) -> None:
    settings.PRIVATE_ROOT = tmp_path
    zoe, ann = make_remote("zoe"), make_user("ann").account
    for account in (zoe, ann):
        hold_account(by=OPERATOR, account=account, reason="court")
        request_evidence(by=OPERATOR, account=account, reason="court")
    work()
    row = EvidenceFile.objects.get(account=ann)
    kept, begun = tmp_path / "evidence" / f"{row.id}.zip", tmp_path / "evidence" / "1.left"
    begun.write_bytes(b"a process has ended while it wrote")
    assert forget_evidence() == 0
    assert (kept.exists(), begun.exists(), EvidenceFile.objects.count()) == (True, False, 2)
    EvidenceFile.objects.filter(account=zoe).delete()
    assert forget_evidence() == 0
    assert list((tmp_path / "evidence").iterdir()) == [kept]


def test_the_visibility_of_a_held_post_is_shown_in_the_readers_language(boss: Client) -> None:
    User.objects.filter(account__username="boss").update(locale="de")
    for visibility, words in (
        ("public", "Öffentlich"),
        ("unlisted", "Nicht gelistet"),
        ("private", "Nur Folgende"),
        ("direct", "Nur wer darin erwähnt wird"),
        ("limited", "Nur wer darin erwähnt wird"),
    ):
        held = HeldPost.objects.create(account=make_user().account, visibility=visibility, written_at=clock.now())
        page = boss.get(f"{HELD}{held.pk}/change/", headers={"Accept-Language": "de"}).content.decode()
        (shown,) = re.findall(r'Sichtbarkeit</label>.*?class="readonly[^>]*>([^<]*)<', page, re.DOTALL)
        assert shown == words


def test_pages_of_spam_rules_require_the_permission(boss: Client) -> None:
    rule = SpamRule.objects.create(name="x", subject="posts", outcome="hold", words=["x"])
    other = signed_in(make_user("mod", role="Moderator"))
    everybody = signed_in(make_user("ann"))
    for page in (RULES, reverse("admin:accounts_spamrule_try_it", args=[rule.pk]), HELD, FILES):
        assert everybody.get(page).status_code in (302, 403), page
    assert other.get(HELD).status_code == 200
