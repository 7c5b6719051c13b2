"""Tests of the actions in admin lists: only actions that the role permits, with a reason for each refused row."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.copies.models import QuarantinedFile
from accounts.emojis.models import CustomEmoji
from accounts.models import Account, Invite, Role, Tag, User
from accounts.models.user import Permission
from accounts.spam.models import SpamRule
from moderation.models import Announcement, Appeal, Report, Webhook
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_remote, make_user
from tests.support.client import signed_in
from tests.support.staff_scene import MOMENT, made, scene

pytestmark = pytest.mark.django_db
LISTS = [(model, found) for model, found in admin.site._registry.items() if found.actions]


def with_role(permissions: int) -> User:
    """Create a user who outranks all others and has these permissions."""
    user = make_user(role="Owner")
    role = Role.objects.create(name=f"Role {permissions}", permissions=permissions, position=user.role.position + 1)
    User.objects.filter(pk=user.pk).update(role=role)
    user.role = role
    return user


def offered(user: User, model_admin: Any) -> list[str]:
    """Return the actions that a list offers; none if the user cannot see the list."""
    request = RequestFactory().get("/")
    request.user = user
    return list(model_admin.get_actions(request)) if model_admin.has_view_permission(request) else []


def done_to(client: Client, model: Any, action: str, row: Any) -> str:
    """Return the message that an action on a row produces, and roll back its changes."""
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    with transaction.atomic():
        chosen = {"action": action, "_selected_action": [row.pk], "confirmed": "yes"}
        answer = client.post(path, chosen)
        transaction.set_rollback(True)
    assert answer.status_code in (200, 302), (model, action)
    shown = answer.content.decode() if answer.status_code == 200 else ""
    return " ".join([shown, *(str(message) for message in get_messages(answer.wsgi_request))])


#: The permissions that allow most actions; testing every single permission would take seconds.
USUAL = (Permission.MANAGE_REPORTS, Permission.MANAGE_USERS, Permission.MANAGE_FEDERATION)


@pytest.mark.parametrize(
    "permission",
    [one if one in USUAL else pytest.param(one, marks=pytest.mark.verify) for one in Permission],
    ids=[one.name for one in Permission],
)
def test_no_list_offers_what_the_role_does_not_allow(permission: Permission) -> None:
    scene()
    rows = {model: made(model) for model, _found in LISTS}
    user = with_role(permission)
    client = signed_in(user)
    acts = [(model, action) for model, found in LISTS for action in offered(user, found)]
    refused = [act for act in acts if "Your role does not allow this." in done_to(client, *act, rows[act[0]])]
    assert refused == []


def test_every_list_offers_something_to_some_role() -> None:
    users = [with_role(permission) for permission in Permission]
    assert [model for model, found in LISTS if not any(offered(user, found) for user in users)] == []


def test_discarding_held_posts_of_a_rule_requires_the_permission_for_reports_too() -> None:
    (model_admin,) = (found for model, found in LISTS if model.__name__ == "SpamRule")
    writer, both = Permission.MANAGE_BLOCKS, Permission.MANAGE_BLOCKS | Permission.MANAGE_REPORTS
    assert offered(with_role(writer), model_admin) == ["enable", "disable"]
    assert offered(with_role(both), model_admin) == ["enable", "disable", "discard_all"]


def test_a_row_is_found_by_the_filter_for_the_state_in_its_label() -> None:
    scene()
    for values in ({}, {"scheduled_at": MOMENT}, {"published_at": MOMENT}):
        Announcement.objects.create(text="Hello", content="<p>Hello</p>", **values)
    labels: dict[Any, list[list[str]]] = {}
    request = RequestFactory().get("/")
    for model in (
        Announcement,
        Appeal,
        CustomEmoji,
        Invite,
        OutboxRow,
        QuarantinedFile,
        Report,
        SpamRule,
        Tag,
        Webhook,
    ):
        made(model)
        page: Any = admin.site.get_model_admin(model)
        (shown,) = (column for column in page.list_display if column.__name__ in ("state", "decision"))
        (states,) = (one for one in page.list_filter if getattr(one, "parameter_name", "") == "state")
        for words, condition in states.conditions.values():
            for row in page.get_queryset(request).filter(condition):
                labels.setdefault(model, []).append([str(words), re.sub("<[^>]*>", "", shown(row)).strip()])
    assert len(labels) == 10
    assert [one[0] for one in labels[Announcement]] == ["Published", "Scheduled", "Draft"]
    assert [pair for found in labels.values() for pair in found if pair[0] != pair[1]] == []


def test_disabling_a_sign_in_in_the_inbox_requires_managing_users() -> None:
    target = make_user("target").account
    kept = Report.objects.create(account=make_remote("zoe"), target_account=target, comment="Spam")
    inbox = reverse("admin:moderation_report_inbox")
    for permissions, may in (
        (Permission.MANAGE_REPORTS, False),
        (Permission.MANAGE_REPORTS | Permission.MANAGE_USERS, True),
    ):
        client = signed_in(with_role(permissions))
        for path in (inbox, f"{inbox}{target.pk}/"):
            page = client.get(path).content.decode()
            assert ('value="disable"' in page, 'value="suspend"' in page) == (may, True), path
        sent = {"report": [kept.pk], "acts": ["disable"], "text": "", "note": ""}
        assert client.post(f"{inbox}{target.pk}/", sent).status_code == (303 if may else 422)
        assert User.objects.filter(account=target, disabled_at=None).exists() != may


def test_a_row_that_cannot_be_acted_on_is_named_with_the_reason() -> None:
    client = signed_in(make_user("boss", role="Owner"))
    emoji = CustomEmoji.objects.create(
        shortcode="oak", domain="there.example", remote_url="https://there.example/o.png"
    )
    member = make_user("member")
    for model, action, row, words in (
        (CustomEmoji, "remove", emoji, ":oak: (there.example): This emoji belongs to another server"),
        (User, "reject", member, "@member (member@example.com): This user has been approved already."),
        (
            Account,
            "disable",
            make_remote("zoe"),
            "@zoe@remote.example: Only their own server can disable their sign-in.",
        ),
    ):
        assert words in done_to(client, model, action, row), action


@pytest.mark.verify
def test_every_link_within_the_admin_opens_for_the_role_that_sees_it() -> None:
    scene()
    for model in admin.site._registry:
        made(model)
    home, refused, opened = reverse("admin:index"), [], set()
    for permission in list(Permission)[1:]:
        client = signed_in(with_role(permission))
        waiting, known = [(home, home)], {home}
        while waiting:
            source, path = waiting.pop()
            answer = client.get(path)
            if answer.status_code >= 400:
                refused.append((permission.name, source, path, answer.status_code))
            elif answer.headers["Content-Type"].startswith("text/html"):
                opened.add(path)
                links = {url.partition("?")[0] for url in re.findall(r'href="([^"#]+)', answer.content.decode())}
                found = {link for link in links if link.startswith(home)} - known
                known |= found
                waiting += [(path, link) for link in found]
    assert refused == []
    assert len(opened) > 50
