"""Tests of the admin for roles, invitations and emojis, and of reading the audit log, strikes and appeals."""

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver
from PIL import Image

from accounts.copies.models import CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.emojis.models import CustomEmoji
from accounts.models import Account, AuditEntry, Invite, Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.staff import staff_of
from accounts.services.sanctions import suspend_account
from moderation.models import Appeal, Report, Strike
from moderation.services.reports import resolve_report
from moderation.services.strikes import file_appeal, issue_strike
from social.api.routing import upload_limits
from social.kernel.media import storage
from tests.factories.accounts import make_remote, make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
ROLES, INVITES, EMOJIS = "/admin/accounts/role/", "/admin/accounts/invite/", "/admin/accounts/customemoji/"


def picture(color: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (32, 32), color).save(out, "PNG")
    return out.getvalue()


def shown(client: Client, path: str, **query: str) -> str:
    return client.get(path, query).content.decode()


def role_data(**values: Any) -> dict[str, Any]:
    return {"name": "Helper", "color": "", "position": "5", "bits": [str(int(Permission.MANAGE_REPORTS))]} | values


def test_managing_a_role_requires_outranking_it(boss: User) -> None:
    client = signed_in(boss)
    client.post(f"{ROLES}add/", role_data())
    role = Role.objects.get(name="Helper")
    assert (role.permissions, role.position) == (Permission.MANAGE_REPORTS, 5)
    User.objects.filter(id=make_user("ann").id).update(role=role)
    bits = [str(int(bit)) for bit in (Permission.MANAGE_REPORTS, Permission.MANAGE_USERS)]
    client.post(f"{ROLES}{role.pk}/change/", role_data(bits=bits, highlighted="on", color="#0b6e66"))
    role.refresh_from_db()
    assert role.can(Permission.MANAGE_USERS)
    assert role.highlighted
    client.post(f"{ROLES}{role.pk}/delete/", {"post": "yes"})
    assert User.objects.get(account__username="ann").role_id == EVERYONE_ROLE_ID
    actions = AuditEntry.objects.filter(target_type="Role").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create", "update", "destroy"]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"position": "20"}, "must be lower than your own rank"),
        ({"bits": [str(int(Permission.MANAGE_SETTINGS))]}, "include one that you do not have yourself"),
        ({"color": "red"}, "is invalid"),
        ({"name": "moderator"}, "has already been taken"),
        ({"name": ""}, "This field is required"),
        ({"bits": ["3"]}, "Select a valid choice"),
    ],
)
def test_nobody_can_create_a_role_above_their_own(sent: dict[str, Any], error: str) -> None:
    role = Role.objects.create(
        name="Lead", position=20, permissions=Permission.MANAGE_ROLES | Permission.MANAGE_REPORTS
    )
    user = make_user("lead", role="Lead")
    client = signed_in(user)
    answer = client.post(f"{ROLES}add/", role_data(**sent), follow=True)
    assert error in answer.content.decode()
    assert not Role.objects.filter(name__iexact="helper").exists()
    for above in (role, Role.objects.get(name="Owner")):
        assert client.post(f"{ROLES}{above.pk}/change/", role_data()).status_code == 403
        assert client.post(f"{ROLES}{above.pk}/delete/", {"post": "yes"}).status_code == 403


def test_the_role_of_everybody_cannot_get_permissions_of_staff(boss: User) -> None:
    client = signed_in(boss)
    client.post(f"{ROLES}{EVERYONE_ROLE_ID}/change/", {"bits": [str(int(Permission.INVITE_USERS))]})
    assert Role.objects.get(pk=EVERYONE_ROLE_ID).permissions == Permission.INVITE_USERS
    page = client.post(f"{ROLES}{EVERYONE_ROLE_ID}/change/", {"bits": [str(int(Permission.MANAGE_USERS))]})
    assert "Select a valid choice" in page.content.decode()


def test_invitations_are_created_found_and_ended(boss: User) -> None:
    client = signed_in(boss)
    made = client.post(
        f"{INVITES}add/", {"max_uses": "3", "days": "7", "comment": "Choir", "confirmed": "yes"}, follow=True
    )
    invite = Invite.objects.get()
    assert f"/invite/{invite.code}" in made.content.decode()
    assert (invite.inviter, invite.max_uses) == (boss, 3)
    assert invite.code in shown(client, INVITES, q="choir", state="usable")
    assert "or equal to 1" in client.post(f"{INVITES}add/", {"max_uses": "0", "confirmed": "yes"}).content.decode()
    chosen = {"action": "end", "_selected_action": [invite.pk], "confirmed": "yes"}
    assert "1 invitation was revoked." in client.post(INVITES, chosen, follow=True).content.decode()
    assert invite.code in shown(client, INVITES, state="ended")


def test_emojis_are_added_singly_or_as_a_pack_and_exported_as_a_pack(boss: User) -> None:
    client = signed_in(boss)
    one = {"shortcode": "rose", "category": "Plants", "confirmed": "yes"}
    for name, data, words in (
        ("lily", b"no picture", "It is not a PNG, GIF, WebP or JPEG picture"),
        ("lily", picture() + bytes(300_000), "It is larger than 256 kB"),
    ):
        wrong = client.post(f"{EMOJIS}add/", one | {"shortcode": name, "picture": SimpleUploadedFile("x.png", data)})
        assert (wrong.status_code, words in wrong.content.decode()) == (422, True), words
    client.post(f"{EMOJIS}add/", one | {"picture": SimpleUploadedFile("x.png", picture())})
    again = client.post(f"{EMOJIS}add/", one | {"picture": SimpleUploadedFile("x.png", picture())})
    assert "Has already been taken" in again.content.decode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as pack:
        pack.writestr("oak.png", picture("green"))
        pack.writestr("rose.png", picture("blue"))
        pack.writestr("broken.png", b"no picture")
    sent = {"name_prefix": "", "category": "Plants", "listed": "on", "confirmed": "yes"}
    page = client.post(
        f"{EMOJIS}import_pack/", sent | {"pack": SimpleUploadedFile("p.zip", archive.getvalue())}, follow=True
    ).content.decode()
    for words in ("1 emoji was imported.", "1 existed already.", "broken.png: it is not a PNG"):
        assert words in page, words
    assert set(CustomEmoji.objects.values_list("shortcode", "category")) == {("rose", "Plants"), ("oak", "Plants")}
    with zipfile.ZipFile(io.BytesIO(client.get(f"{EMOJIS}export_pack/").content)) as given:
        assert sorted(given.namelist()) == ["oak.png", "rose.png"]
    refused = client.post(f"{EMOJIS}import_pack/", sent | {"pack": SimpleUploadedFile("p.zip", b"x")}, follow=True)
    assert "neither a folder nor a zip or tar archive" in refused.content.decode()
    limit = upload_limits(get_resolver().url_patterns)
    assert limit("POST", f"{EMOJIS}import_pack/") == 32 * 1024 * 1024
    assert limit("POST", f"{EMOJIS}") is None
    assert limit("POST", "/admin/accounts/sitesetting/") == 25 * 1024 * 1024
    rose = CustomEmoji.objects.get(shortcode="rose")
    client.post(f"{EMOJIS}{rose.pk}/change/", {"category": "Flowers", "disabled": "on"})
    rose.refresh_from_db()
    assert (rose.category, rose.visible_in_picker, rose.disabled) == ("Flowers", False, True)
    foreign = CustomEmoji.objects.create(shortcode="elm", domain="there.example")
    client.post(f"{EMOJIS}{foreign.pk}/change/", {"category": "Trees", "disabled": "on"})
    foreign.refresh_from_db()
    assert (foreign.category, foreign.disabled) == ("", True)


def test_emojis_are_disabled_hidden_sorted_removed_and_copied(boss: User) -> None:
    client = signed_in(boss)
    path = storage.store(picture(), folder="cache", extension="png")
    ours = CustomEmoji.objects.create(shortcode="rose", image=path)
    url = "https://there.example/oak.png"
    theirs = CustomEmoji.objects.create(shortcode="oak", domain="there.example", remote_url=url)

    def act(action: str, emoji: CustomEmoji, **sent: str) -> str:
        chosen = {"action": action, "_selected_action": [emoji.pk], "confirmed": "yes"} | sent
        return str(client.post(EMOJIS, chosen, follow=True).content.decode())

    act("disable", ours)
    act("hide", ours)
    act("set_category", ours, category="Plants")
    ours.refresh_from_db()
    assert (ours.disabled, ours.visible_in_picker, ours.category) == (True, False, "Plants")
    assert "1 emoji was changed." in act("disable", theirs)
    assert "copy it first" in act("hide", theirs)
    assert "is being fetched" in act("copy", theirs)
    RemoteCopy.objects.filter(digest=digest_of(CopyPurpose.EMOJI, url)).update(state=CopyState.READY, file=path)
    assert "1 emoji was copied." in act("copy", theirs)
    copied = CustomEmoji.objects.get(domain=None, shortcode="oak")
    assert "already has an emoji" in act("copy", theirs)
    act("remove", copied)
    assert not CustomEmoji.objects.filter(pk=copied.pk).exists()
    assert CustomEmoji.objects.filter(pk=theirs.pk).exists()
    assert "there.example" in shown(client, EMOJIS, q="oak", home="elsewhere")


def test_the_audit_log_reads_as_sentences_and_is_searched_and_filtered(boss: User) -> None:
    client, by = signed_in(boss), staff_of(boss)
    suspend_account(by=by, account=make_remote("spam", "x.example"), reason="A wave of links")
    AuditEntry.objects.create(
        account_name="operator", action="frobnicate", target_type="Thing", target_id=1, target_name="x"
    )
    resolve_report(by=by, report=Report.objects.create(account=boss.account, target_account=make_user("ann").account))
    path, words = "/admin/accounts/auditentry/", "@boss suspended @spam@x.example: A wave of links"
    page = shown(client, path)
    assert words in page
    assert "The operator: frobnicate Thing x" in page
    assert "@boss resolved a report about @ann" in page
    for query in ({"q": "spam@x.example"}, {"q": "boss"}, {"action": "suspend"}, {"kind": "people"}):
        found = shown(client, path, **query)
        assert words in found, query
        assert "frobnicate Thing" not in found, query
    Report.objects.all().delete()
    Account.objects.exclude(id=boss.account_id).delete()
    assert words in shown(client, path), "the log still names what was deleted"


def test_strikes_and_appeals_are_found_by_person_and_words(boss: User) -> None:
    client, by = signed_in(boss), staff_of(boss)
    ann, bob = make_user("ann"), make_user("bob")
    for user, text in ((ann, "Too loud"), (bob, "Too many links")):
        strike = issue_strike(by=by, target=user.account, action="silence", text=text)
        file_appeal(strike=strike, text=f"{text}? Never")

    def found(path: str, **query: str) -> set[str]:
        rows = client.get(f"/admin/moderation/{path}/", query).context["cl"].result_list
        return {row.strike.text if isinstance(row, Appeal) else row.text for row in rows}

    assert found("strike", q="@ann") == found("strike", q="loud") == found("appeal", q="@ann") == {"Too loud"}
    assert found("strike", action="silence", state="appealed") == {"Too loud", "Too many links"}
    assert found("strike", action="suspend") == set()
    appeal = Appeal.objects.get(account=ann.account)
    chosen = {"action": "accept", "_selected_action": [appeal.pk], "confirmed": "yes"}
    assert "1 appeal was approved." in client.post("/admin/moderation/appeal/", chosen, follow=True).content.decode()
    assert found("strike", state="overruled") == {"Too loud"}
    assert Strike.objects.get(text="Too loud").overruled_at is not None
