"""Tests that submitting an unchanged form changes nothing, whatever values applications have set."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from lxml.html import fromstring

from accounts.collections.models import Collection
from accounts.models import Account, User
from notifications.models import NotificationPolicy
from social.kernel import clock
from statuses.models import Filter, FilterKeyword, Interaction
from statuses.policies.interactions import PREFERENCE, Group, encode_rule
from statuses.policies.posts import SHOWN_COLUMNS
from tests.factories.accounts import make_user
from tests.factories.statuses import make_media
from tests.statuses.conftest import api_of, post_as
from tests.support.client import signed_in
from tests.support.emptying import filled_tables
from timelines.models import List

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]

#: Policies that the pages do not offer as a choice.
RULES = {
    "can_reply": {"automatic_approval": ["followers", "following"], "manual_approval": ["public"]},
    "can_reblog": {"automatic_approval": ["followers"], "manual_approval": ["following"]},
    "can_favourite": {"automatic_approval": [], "manual_approval": ["followers"]},
}
_CHANGING = frozenset(
    {"updated_at", "version", "last_active_at", "last_seen_at", "current_sign_in_at", "created_at", "due_at"}
)
_LOGS = frozenset({"social", "sessions", "oauth2_provider"})
# The rows that connect a draft with its files are replaced.
_AGAIN = frozenset({"statuses.ScheduledMedia"})
_NEW = frozenset((label, "id") for label in _AGAIN)


def everything() -> dict[str, dict[Any, dict[str, Any]]]:
    """Return the rows of all tables with user data, except the columns that record times of actions."""
    found, filled = {}, frozenset(filled_tables())
    for model in apps.get_models():
        if model._meta.db_table in filled and model._meta.app_label not in _LOGS:
            label, names = model._meta.label, [field.attname for field in model._meta.concrete_fields]
            rows = model._default_manager.order_by("pk").values(*(name for name in names if name not in _CHANGING))
            primary = model._meta.pk.attname
            found[label] = {
                place if label in _AGAIN else row[primary]: {k: it for k, it in row.items() if (label, k) not in _NEW}
                for place, row in enumerate(rows)
            }
    return found


def changed(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield the places where two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            yield from changed(before.get(name), after.get(name), f"{place}/{name}")
    elif before != after:
        yield f"{place}: {before!r} -> {after!r}"


def send_unchanged(browser: Client, path: str, action: str) -> None:
    """Open a page and send, without changes, its longest form with this action; the form of a post saves a draft or an edit."""
    page = fromstring(browser.get(path, headers={"Accept": "text/html"}).content)
    form = max((each for each in page.forms if (each.action or path) == action), key=lambda each: len(each.fields))
    texts = {each.name for each in form.iter("textarea")}
    sent: dict[str, list[Any]] = {}
    for name, value in form.form_values():
        # HTML parsers drop the first line break of a text area.
        sent.setdefault(name, []).append(value.removeprefix("\n") if name in texts else value)
    answer = browser.post(action, {**sent, "act": "draft" if action == "/write" else "publish"})
    assert answer.status_code in (302, 303), fromstring(answer.content).text_content()


def post_values(author: Account, **more: Any) -> dict[str, Any]:
    """Return every parameter of a post, with values that applications use and pages do not offer."""
    return dict.fromkeys(SHOWN_COLUMNS, "one") | {
        "status": "*before*",
        "visibility": "unlisted",
        "language": "jbo",
        "content_type": "text/markdown",
        "sensitive": True,
        "quote_approval_policy": "nobody",
        "interaction_policy": RULES,
        **more,
    }


def _written(alice: Account) -> dict[str, Any]:
    media = make_media(alice, "a cat")
    media.meta["focus"] = {"x": 0.31, "y": -0.72}
    media.save()
    return {"media_ids": [str(media.id)]}


POLL = {"poll": {"options": ["red", "green"], "multiple": True, "hide_totals": True, "expires_in": 7200}}


def _edit(alice: Account, more: Mapping[str, Any]) -> tuple[str, str]:
    path = f"/statuses/{post_as(alice, **post_values(alice, **more))['id']}/edit"
    return path, path


def _draft(alice: Account, more: Mapping[str, Any]) -> tuple[str, str]:
    bob, parent = make_user("bob").account, post_as(alice, status="first")["id"]
    values = post_values(alice, allowed_mentions=[str(bob.id)], in_reply_to_id=parent, quoted_status_id=parent, **more)
    answer = api_of(alice).post("/api/v1/drafts", values)
    assert answer.status_code == 200, answer.content
    return f"/write?draft={answer.json()['id']}", "/write"


def _filter(alice: Account) -> tuple[str, str]:
    found = Filter.objects.create(
        account=alice, title="Spoilers", action="blur", context=["thread", "account"],
        expires_at=clock.now() + timedelta(days=17),
    )  # fmt: skip
    for keyword, whole in ((" two words ", False), ("#tag", True), ("*", False)):
        FilterKeyword.objects.create(filter=found, keyword=keyword, whole_word=whole)
    return f"/filters/{found.id}", f"/filters/{found.id}"


def _list(alice: Account) -> tuple[str, str]:
    path = f"/lists/{List.objects.create(account=alice, title='L', replies_policy='none', exclusive=True).id}/edit"
    return path, path


def _collection(alice: Account) -> tuple[str, str]:
    made = Collection.objects.create(
        account=alice, name="C", description="two\nlines", language="jbo", sensitive=True, discoverable=False
    )
    path = f"/collections/{made.id}/edit"
    return path, path


def _scheduled(alice: Account) -> tuple[str, str]:
    moment = clock.now() + timedelta(days=3)
    made = api_of(alice).post("/api/v1/statuses", post_values(alice, scheduled_at=moment.isoformat())).json()
    return "/scheduled", f"/scheduled/{made['id']}"


def _profile(alice: Account) -> tuple[str, str]:
    sent = {"display_name": "A :x:", "note": "one\n\ntwo", "bot": True, "locked": True, "discoverable": False,
            "indexable": True, "hide_collections": True, "attribution_domains": ["a.example", "b.example"],
            "fields_attributes": [{"name": f"n{each}", "value": f"https://v{each}.example"} for each in range(4)]}  # fmt: skip
    assert api_of(alice).patch("/api/v1/accounts/update_credentials", sent).status_code == 200
    return "/settings/profile", "/settings/profile"


def _preferences(alice: Account) -> tuple[str, str]:
    sent = {"source": {"privacy": "private", "sensitive": True, "language": "jbo", "quote_policy": "nobody"}}
    assert api_of(alice).patch("/api/v1/accounts/update_credentials", sent).status_code == 200
    return "/settings/preferences", "/settings/preferences"


def _replies(alice: Account) -> tuple[str, str]:
    rule = encode_rule(Interaction.REPLY, Group.FOLLOWERS | Group.FOLLOWING, Group.PUBLIC)
    chosen = {PREFERENCE: dict.fromkeys(("public", "unlisted", "private", "direct"), rule)}
    User.objects.filter(account=alice).update(preferences=chosen)
    return "/settings/replies", "/settings/replies"


def _notifications(alice: Account) -> tuple[str, str]:
    sent = {"for_not_following": "drop", "for_bots": "filter", "for_private_mentions": "accept"}
    assert api_of(alice).patch("/api/v2/notifications/policy", sent).status_code == 200
    assert NotificationPolicy.objects.filter(account=alice).exists()
    return "/notifications/policy", "/notifications/policy"


def _page(path: str) -> Any:
    def saved_once(alice: Account) -> tuple[str, str]:
        browser = signed_in(alice.user)
        send_unchanged(browser, path, path)
        return path, path

    return saved_once


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda alice: _edit(alice, _written(alice)), id="edit"),
        pytest.param(lambda alice: _edit(alice, POLL), id="edit of a poll"),
        pytest.param(lambda alice: _draft(alice, _written(alice)), id="draft"),
        pytest.param(lambda alice: _draft(alice, POLL), id="draft of a poll"),
        pytest.param(_filter, id="filter"),
        pytest.param(_list, id="list"),
        pytest.param(_collection, id="collection"),
        pytest.param(_scheduled, id="scheduled post"),
        pytest.param(_profile, id="profile"),
        pytest.param(_preferences, id="preferences"),
        pytest.param(_replies, id="who may reply"),
        pytest.param(_notifications, id="policy of notifications"),
        pytest.param(_page("/settings/old_posts"), id="old posts"),
        pytest.param(_page("/settings/preferences/notifications"), id="mails"),
    ],
)
def test_a_form_that_is_sent_unchanged_changes_nothing(alice: Account, form: Any) -> None:
    browser = signed_in(alice.user)
    path, action = form(alice)
    browser.get(path)
    before = everything()
    for _time in range(2):
        send_unchanged(browser, path, action)
        assert list(changed(before, everything())) == []
