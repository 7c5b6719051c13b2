"""Tests of bugs that users of apps reported about servers other than Mastodon (docs/field.md lists the reports)."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.staticfiles import finders

from moderation.models import Announcement
from social.kernel import clock
from statuses.models import PreviewCard, StatusCard
from tests.conformance.people import Person
from tests.factories.accounts import make_application, make_remote
from tests.factories.statuses import follow, make_media, make_remote_media, make_remote_status
from tests.support.client import Api, signed_in
from tests.support.push import Device

pytestmark = pytest.mark.django_db


def test_addresses_that_other_servers_write_with_any_characters_are_shown_as_uris(alice: Person) -> None:
    """Swift refuses an entity with a URL that is no URI, and with it the whole page."""
    stranger = make_remote("zoe", url="https://remote.example/@zoé")
    status = make_remote_status(stranger, url="https://remote.example/@zoé/a b|c")
    make_remote_media(status, "https://files.example/файл ü.png", copied=False)
    reply = alice.do("statuses", {"status": f"@{stranger.acct} look", "in_reply_to_id": str(status.id)})
    shown = alice.read(f"statuses/{status.id}")
    assert shown["url"] == "https://remote.example/@zo%C3%A9/a%20b%7Cc"
    assert shown["account"]["url"] == reply["mentions"][0]["url"] == "https://remote.example/@zo%C3%A9"
    assert shown["media_attachments"][0]["remote_url"] == "https://files.example/%D1%84%D0%B0%D0%B9%D0%BB%20%C3%BC.png"


def test_an_application_registers_with_a_list_of_addresses_and_scopes_of_staff() -> None:
    form = "client_name=Tokodon&redirect_uris[]=tokodon%3A%2F%2Foauth&redirect_uris[]=urn:ietf:wg:oauth:2.0:oob"
    form += "&scopes=read+write+follow+push+admin%3Aread+admin%3Awrite&website=https%3A%2F%2Fapps.kde.org"
    made = Api().request("POST", "/api/v1/apps", form=form).json()
    assert made["redirect_uris"] == ["tokodon://oauth", "urn:ietf:wg:oauth:2.0:oob"]
    assert made["scopes"] == ["read", "write", "follow", "push", "admin:read", "admin:write"]


@pytest.mark.parametrize("keys", [("[]", "[]"), ("[0]", "[1]"), ("[7]", "[9]")])
def test_keywords_of_a_filter_may_be_sent_as_a_list_or_numbered(alice: Person, keys: tuple[str, str]) -> None:
    words = "".join(
        f"&keywords_attributes{key}[keyword]={word}&keywords_attributes{key}[whole_word]={whole}"
        for key, word, whole in zip(keys, ("cat", "dog"), ("true", "False"), strict=True)
    )
    made = alice.api.request("POST", "/api/v2/filters", form=f"title=Pets&context[]=home{words}").json()
    assert [(word["keyword"], word["whole_word"]) for word in made["keywords"]] == [("cat", True), ("dog", False)]


def test_settings_that_only_other_servers_know_change_nothing(alice: Person) -> None:
    before = alice.read("accounts/verify_credentials")
    bodies: list[dict[str, Any]] = [{"pleroma_settings_store": {"soapbox_fe": {"home": {}}}}, {}]
    for body in bodies:
        answer = alice.api.request("PATCH", "/api/v1/accounts/update_credentials", body)
        assert (answer.status_code, answer.json()) == (200, before)


def test_empty_texts_clear_a_profile_and_its_source_stays_as_written(alice: Person) -> None:
    path = "/api/v1/accounts/update_credentials"
    written = alice.api.request("PATCH", path, {"display_name": "Al", "note": "I <3 #cats"}).json()
    assert (written["display_name"], written["source"]["note"]) == ("Al", "I <3 #cats")
    cleared = alice.api.request("PATCH", path, form="display_name=&note=").json()
    assert (cleared["display_name"], cleared["note"], cleared["source"]["note"]) == ("", "", "")


def test_a_vote_is_shown_wherever_its_poll_is_shown(alice: Person, bob: Person) -> None:
    follow(alice.account, bob.account)
    poll = {"options": ["tea", "milk"], "expires_in": 3600, "multiple": True, "hide_totals": True}
    post = bob.post(poll=poll)
    alice.do(f"polls/{post['poll']['id']}/votes", {"choices": ["1", 0]})
    boost = bob.do(f"statuses/{post['id']}/reblog")
    quote = bob.post("look", quoted_status_id=post["id"])
    reply = bob.post("well", in_reply_to_id=post["id"])
    polls = [
        alice.read(f"statuses/{boost['id']}")["reblog"]["poll"],
        alice.read(f"statuses/{quote['id']}")["quote"]["quoted_status"]["poll"],
        alice.read(f"statuses/{reply['id']}/context")["ancestors"][0]["poll"],
        *(each["poll"] for each in alice.read("timelines/home") if each["id"] == post["id"]),
    ]
    assert len(polls) == 4
    assert all(each["voted"] and sorted(each["own_votes"]) == [0, 1] for each in polls)
    assert polls[0]["options"] == [{"title": "tea", "votes_count": None}, {"title": "milk", "votes_count": None}]


def test_actions_on_a_post_do_not_hide_earlier_actions(alice: Person, bob: Person) -> None:
    number = bob.post()["id"]
    expected: dict[str, bool] = {}
    for action, member, value in (
        ("favourite", "favourited", True),
        ("reblog", "reblogged", True),
        ("bookmark", "bookmarked", True),
        ("mute", "muted", True),
        ("unreblog", "reblogged", False),
        ("unfavourite", "favourited", False),
    ):
        answer = alice.do(f"statuses/{number}/{action}")
        shown: dict[str, Any] = answer["reblog"] or answer
        expected[member] = value
        assert {name: shown[name] for name in expected} == expected, action


@pytest.mark.parametrize("text", ["#", "# ", "@", "😀", "https://", "a" * 600])
def test_searches_of_people_who_are_still_typing_find_nothing(alice: Person, text: str) -> None:
    answer = alice.api.get("/api/v2/search", {"q": text, "resolve": "true"})
    assert (answer.status_code, answer.json()) == (
        200,
        {"accounts": [], "statuses": [], "hashtags": [], "collections": []},
    )


def test_an_announcement_can_be_dismissed_twice(alice: Person) -> None:
    Announcement.objects.create(text="Maintenance", content="<p>Maintenance</p>", published_at=clock.now())
    number = alice.read("announcements")[0]["id"]
    for _ in range(2):
        assert alice.do(f"announcements/{number}/dismiss") == {}
    assert alice.read("announcements", with_dismissed="true")[0]["read"] is True


@pytest.mark.parametrize("body", [None, {}, {"reblogs": None, "notify": None, "languages": None}])
def test_an_account_is_followed_without_parameters(alice: Person, bob: Person, body: dict[str, None] | None) -> None:
    for _ in range(2):
        shown = alice.do(f"accounts/{bob.id}/follow", body)
        assert (shown["following"], shown["showing_reblogs"], shown["notifying"]) == (True, True, False)
        assert shown["languages"] is None


def test_a_quote_of_a_blocked_account_is_marked(alice: Person, bob: Person) -> None:
    quote = Person("carol").post("look", quoted_status_id=bob.post()["id"])["id"]
    for action, state in (("block", "blocked_account"), ("unblock", "accepted"), ("mute", "muted_account")):
        alice.do(f"accounts/{bob.id}/{action}")
        assert alice.read(f"statuses/{quote}")["quote"]["state"] == state


def test_the_default_pictures_have_the_names_that_apps_know(alice: Person) -> None:
    """Apps draw no picture for `missing.png`; any other name is taken for a picture that the user chose."""
    shown = alice.read("accounts/verify_credentials")
    for name in ("avatar", "header"):
        assert shown[name] == shown[f"{name}_static"]
        assert shown[name].endswith(f"/{name}s/original/missing.png")
        path = finders.find(shown[name].partition("/static/")[2])
        assert path is not None
        assert Path(path).read_bytes().startswith(b"\x89PNG")


def test_the_address_of_a_preview_is_a_uri() -> None:
    link = "https://news.example/größe?q=a|b"
    status = make_remote_status(make_remote("zoe"), f'<p><a href="{link}">x</a></p>')
    card = PreviewCard.objects.create(url="https://news.example/gr%C3%B6%C3%9Fe?q=a%7Cb", title="Size")
    StatusCard.objects.create(status=status, card=card, url=link)
    assert Api().get(f"/api/v1/statuses/{status.id}").json()["card"]["url"] == card.url


def test_the_rate_of_a_video_is_an_integer(alice: Person) -> None:
    """Swift and Rust refuse 29.97, and even 10.0, where an integer is declared."""
    media = make_media(alice.account)
    media.meta = {"fps": 29.97, "original": {"frame_rate": "30000/1001"}}
    media.save()
    [shown] = alice.post(media_ids=[str(media.id)])["media_attachments"]
    assert (shown["meta"]["fps"], type(shown["meta"]["fps"])) == (30, int)
    assert shown["meta"]["original"] == {"frame_rate": "30000/1001"}


@pytest.mark.parametrize(("sent", "shown"), [({"spoiler_text": ""}, ""), ({}, None), ({"spoiler_text": None}, None)])
def test_texts_of_a_scheduled_post_are_shown_as_sent(
    alice: Person, sent: dict[str, str | None], shown: str | None
) -> None:
    """Tusky and Pachli send an empty content warning, and cannot read null in its place."""
    later = clock.iso(clock.now() + timedelta(hours=1))
    body = {"status": "later", "sensitive": False, "visibility": "public", "scheduled_at": later, **sent}
    made = alice.do("statuses", body)
    assert made["params"]["spoiler_text"] == shown
    assert alice.read("scheduled_statuses") == [made]


@pytest.mark.parametrize("language", ["de", "ar"])
def test_the_text_of_a_404_is_the_same_in_every_language(alice: Person, language: str) -> None:
    """Apps recognise it: Phanpy looks for "not found" to learn that nothing is pushed yet, Mammoth for the whole text."""
    alice.user.locale = language
    alice.user.save(update_fields=["locale"])
    for path, text in {
        "push/subscription": "Not Found",
        "no_such_method": "Not Found",
        "tags/%20": "Not Found",
        "statuses/1": "Record not found",
        "accounts/lookup?acct=nobody": "Record not found",
    }.items():
        answer = alice.api.get(f"/api/v1/{path}", headers={"Accept-Language": language})
        assert (answer.status_code, answer.json()) == (404, {"error": text}), path
    answer = alice.api.request("PUT", "/api/v1/push/subscription", {"data": {}})
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


@pytest.mark.parametrize("website", ["", " ", None])
def test_an_application_registers_without_a_website(website: str | None) -> None:
    form = {"client_name": "app", "redirect_uris": "app://", "scopes": "read", "website": website}
    made = Api().request("POST", "/api/v1/apps", form).json()
    assert (made["name"], made["website"], made["redirect_uris"]) == ("app", None, ["app://"])


def test_an_application_registers_with_every_scope_one_per_line() -> None:
    scopes = ["profile", *(f"{kind}:{name}" for kind in ("read", "write") for name in ("accounts", "lists")), "push"]
    form = "client_name=bridge&redirect_uris=https://bridge.example/done&scopes=" + "%0A".join(scopes)
    assert Api().request("POST", "/api/v1/apps", form=form).json()["scopes"] == scopes


def test_a_wrong_scope_is_shown_to_people_whose_application_has_no_address(alice: Person) -> None:
    application = make_application("read write")
    oob = "urn:ietf:wg:oauth:2.0:oob"
    query = {"client_id": application.client_id, "response_type": "code", "redirect_uri": oob}
    page = signed_in(alice.user).get("/oauth/authorize", query | {"scope": "read writeEnter"})
    assert (page.status_code, page.get("Location")) == (400, None)
    assert "invalid_scope" in page.content.decode()


_KEYS = Device(7).keys
_PADDED = {name: key.replace("-", "+").replace("_", "/") + "=" * (-len(key) % 4) for name, key in _KEYS.items()}
_FIELDS = {f"subscription[keys][{name}]": key for name, key in _KEYS.items()}
_ENDPOINT = "https://ntfy.example/upAbc?up=1"
_TARGET = {"endpoint": _ENDPOINT, "expirationTime": None, "keys": _KEYS}


def test_push_subscriptions_are_understood_as_apps_send_them(alice: Person) -> None:
    """In turn: tooot, Fedilab, Tusky, TootSDK, Phanpy, Firefly, whose alerts stand outside `data`."""
    path, api = "/api/v1/push/subscription", alice.api
    padded = {f"subscription[keys][{name}]": key for name, key in _PADDED.items()}
    fields = {"subscription[endpoint]": _ENDPOINT, **_FIELDS}
    alerts = {"mention": True, "favourite": False, "admin": {"report": True, "sign_up": True}}

    def form(**more: str) -> Any:
        return api.request("POST", path, form=urlencode(fields | more))

    answers = [
        api.upload("POST", path, **fields | padded | {"data[alerts][mention]": "true", "data[alerts][poll]": "false"}),
        form(**{"data[alerts][admin.sign_up]": "true", "data[alerts][admin.report]": "false", "data[policy]": "all"}),
        form(**{"data[alerts][severed_relationships]": "true", "data[alerts][unknown]": "true"}),
        api.request("POST", f"{path}?{urlencode(fields | {'data[alerts][mention]': 'true'})}"),
        api.post(path, {"subscription": _TARGET, "data": {"alerts": alerts}, "policy": "all"}),
        form(**{"[alerts][mention]": "true"}),
    ]
    assert [(answer.status_code, answer.json().get("alerts")) for answer in answers] == [
        (200, {"mention": True, "poll": False}),
        (200, {"admin.sign_up": True, "admin.report": False}),
        (200, {"severed_relationships": True}),
        (200, {"mention": True}),
        (200, {"mention": True, "favourite": False}),
        (200, {}),
    ]
    assert {answer.json()["endpoint"] for answer in answers} == {_ENDPOINT}
