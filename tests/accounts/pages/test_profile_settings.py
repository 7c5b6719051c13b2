"""Tests of the pages that change the profile and the preferences for reading and posting."""

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from accounts.identity.services.staff import disable
from accounts.models import Account, FeaturedTag, User
from accounts.policies.staff import OPERATOR
from social.api.routing import upload_limits
from social.kernel import clock
from social.urls import urlpatterns
from tests.factories.accounts import make_account, make_token, make_user
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
PROFILE, PREFERENCES = "/settings/profile", "/settings/preferences"


def form_of(browser: Client, path: str) -> dict[str, Any]:
    """Return the form data that a browser would send without a change."""
    form = browser.get(path).context["form"]
    values = {}
    for field in form:
        value = field.value()
        if field.widget_type == "file" or value in (None, False):
            continue
        values[field.html_name] = "on" if value is True else value
    return values


def picture(size: tuple[int, int] = (40, 40)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, "red").save(target, "PNG")
    return target.getvalue()


def upload(name: str, data: bytes, kind: str = "image/png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, kind)


def test_everything_an_account_shows_can_be_changed(browser: Client, person: User) -> None:
    sent = form_of(browser, PROFILE) | {
        "display_name": "  Ada L.  ",
        "note": "I count\r\n#numbers",
        "avatar": upload("a.png", picture()),
        "avatar_description": "a face",
        "header": upload("h.png", picture((300, 100))),
        "header_description": "a sea",
        "locked": "on",
        "discoverable": "on",
        "indexable": "on",
        "hide_collections": "on",
        "bot": "on",
        "attribution_domains": "news.example\r\n\r\nhttps://blog.example\r\n",
        "field_name_1": "Site",
        "field_value_1": "https://ada.example",
        "field_name_4": "Here since",
        "field_value_4": "1815",
    }
    for name in ("show_media", "show_media_replies", "show_featured"):
        del sent[name]
    assert browser.post(PROFILE, sent)["Location"] == PROFILE
    shown = Api(make_token(person)).get("/api/v1/accounts/verify_credentials").json()
    assert (shown["display_name"], shown["source"]["note"]) == ("Ada L.", "I count\n#numbers")
    assert shown["avatar"].endswith(".png")
    assert shown["header"].endswith(".png")
    assert (shown["avatar_description"], shown["header_description"]) == ("a face", "a sea")
    assert (shown["locked"], shown["bot"], shown["discoverable"], shown["indexable"]) == (True, True, True, True)
    assert (shown["hide_collections"], shown["show_media"], shown["show_featured"]) == (True, False, False)
    assert shown["source"]["attribution_domains"] == ["news.example", "blog.example"]
    assert [(item["name"], item["value"]) for item in shown["source"]["fields"]] == [
        ("Site", "https://ada.example"),
        ("Here since", "1815"),
    ]
    page = browser.get(PROFILE).content.decode()
    assert "Your profile has been saved." in page
    assert "https://ada.example" in page


def test_unchanged_profile_fields_are_kept(browser: Client, person: User) -> None:
    Account.objects.filter(id=person.account_id).update(discoverable=None, hide_collections=None, fields=[])
    version = Account.objects.get(id=person.account_id).version
    sent = form_of(browser, PROFILE)
    browser.post(PROFILE, sent)
    account = Account.objects.get(id=person.account_id)
    assert (account.discoverable, account.hide_collections, account.version) == (None, None, version)
    browser.post(PROFILE, sent | {"display_name": "Ada"})
    assert Account.objects.get(id=person.account_id).discoverable is None


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("display_name", {"display_name": "x" * 41}),
        ("note", {"note": "x" * 501}),
        ("avatar", {"avatar": b"no picture"}),
        ("avatar", {"avatar": b""}),
        ("avatar", {"avatar": b"\x89PNG\r\n\x1a\n" + bytes(8 * 1024 * 1024)}),
        ("header", {"header": b"<svg xmlns='http://www.w3.org/2000/svg'/>"}),
        ("avatar_description", {"avatar_description": "x" * 151}),
        ("attribution_domains", {"attribution_domains": "not a domain"}),
        ("field_name_1", {"field_name_1": "", "field_value_1": "without a label"}),
    ],
)
def test_an_invalid_profile_shows_errors_at_the_fields_and_changes_nothing(
    browser: Client, person: User, field: str, sent: dict[str, Any]
) -> None:
    sent = {name: upload("x.png", value) if isinstance(value, bytes) else value for name, value in sent.items()}
    page = browser.post(PROFILE, form_of(browser, PROFILE) | {"note": "changed"} | sent)
    assert page.status_code == 422
    text = page.content.decode()
    assert f'aria-describedby="id_{field}' in text
    assert f'<a href="#id_{field}">' in text
    assert text.count('aria-invalid="true"') == 1
    assert len(page.context["form"].errors[field]) == 1
    assert Account.objects.get(id=person.account_id).note == ""


def test_row_31_the_form_shows_typed_html_escaped(browser: Client) -> None:
    hostile = '"><script>alert(1)</script>'
    page = browser.post(
        PROFILE, {"display_name": hostile * 3, "field_value_1": hostile, "attribution_domains": hostile}
    )
    assert page.status_code == 422
    assert "<script>" not in page.content.decode()


def test_pictures_can_be_removed(browser: Client, person: User) -> None:
    browser.post(PROFILE, form_of(browser, PROFILE) | {"avatar": upload("a.png", picture())})
    assert 'name="remove_avatar"' in browser.get(PROFILE).content.decode()
    assert 'name="remove_header"' not in browser.get(PROFILE).content.decode()
    browser.post(PROFILE, form_of(browser, PROFILE) | {"remove_avatar": "on"})
    assert Account.objects.get(id=person.account_id).avatar == ""
    browser.post(PROFILE, form_of(browser, PROFILE) | {"remove_avatar": "on"})


def test_a_new_picture_takes_precedence_over_removing_the_picture(browser: Client, person: User) -> None:
    browser.post(PROFILE, form_of(browser, PROFILE) | {"avatar": upload("a.png", picture())})
    first = Account.objects.get(id=person.account_id).avatar
    browser.post(PROFILE, form_of(browser, PROFILE) | {"remove_avatar": "on", "avatar": upload("b.png", picture())})
    assert Account.objects.get(id=person.account_id).avatar not in ("", first)


def test_pages_with_uploads_accept_larger_requests_than_others() -> None:
    limit = upload_limits(urlpatterns)
    assert limit("POST", PROFILE) or 0 > 16 * 1024 * 1024
    assert limit("POST", "/settings/imports") or 0 > 4 * 1024 * 1024
    assert limit("GET", PROFILE) is None
    for path in (PREFERENCES, "/settings/profile/tags", "/settings/imports/1/start", "/auth/sign_in"):
        assert limit("POST", path) is None, path


def test_featured_hashtags_can_be_added_and_removed(browser: Client, person: User) -> None:
    assert browser.post(f"{PROFILE}/tags", {"name": "#Cats"})["Location"] == PROFILE
    assert browser.post(f"{PROFILE}/tags", {"name": "cats"})["Location"] == PROFILE
    (tag,) = FeaturedTag.objects.filter(account=person.account)
    assert "#Cats" in browser.get(PROFILE).content.decode()
    for name in ("", "a b", "!", "#"):
        page = browser.post(f"{PROFILE}/tags", {"name": name})
        assert page.status_code == 422
        (problem,) = page.context["tag_form"].errors["name"]
        assert "Validation failed" not in problem
        # The error is shown at the top of the page, which is long, and beside the field.
        assert page.content.decode().count(problem) == 2
        assert "<title>Error: Profile" in page.content.decode()
    other = signed_in(make_user())
    assert other.post(f"{PROFILE}/tags/{tag.id}").status_code == 404
    assert browser.post(f"{PROFILE}/tags/{tag.id}").status_code == 303
    assert browser.post(f"{PROFILE}/tags/{tag.id}").status_code == 404
    assert not FeaturedTag.objects.exists()


def test_the_number_of_featured_hashtags_is_limited(browser: Client) -> None:
    for number in range(10):
        browser.post(f"{PROFILE}/tags", {"name": f"tag{number}"})
    assert f'action="{PROFILE}/tags"' not in browser.get(PROFILE).content.decode()
    assert browser.post(f"{PROFILE}/tags", {"name": "one_more"}).status_code == 422


def test_preferences_for_reading_and_posting_can_be_changed(browser: Client, person: User) -> None:
    sent = form_of(browser, PREFERENCES) | {
        "locale": "de",
        "time_zone": "Europe/Berlin",
        "privacy": "unlisted",
        "quote_policy": "followers",
        "language": "de",
        "sensitive": "on",
        "expand_media": "show_all",
        "expand_spoilers": "on",
        "autoplay_gifs": "on",
        "noindex": "on",
    }
    del sent["show_application"]
    assert browser.post(PREFERENCES, sent)["Location"] == PREFERENCES
    assert Api(make_token(person)).get("/api/v1/preferences").json() == {
        "posting:default:visibility": "unlisted",
        "posting:default:sensitive": True,
        "posting:default:language": "de",
        "posting:default:quote_policy": "followers",
        "reading:expand:media": "show_all",
        "reading:expand:spoilers": True,
        "reading:autoplay:gifs": True,
    }
    account = Api().get(f"/api/v1/accounts/{person.account_id}").json()
    assert account["noindex"] is True
    person.refresh_from_db()
    assert (person.locale, person.time_zone, person.preferences["show_application"]) == ("de", "Europe/Berlin", False)
    page = browser.get(PREFERENCES).content.decode()
    assert '<html lang="de"' in page
    assert "Deine Vorlieben sind gespeichert." in page


def test_a_preference_makes_pages_count_new_posts_instead_of_inserting_them(browser: Client) -> None:
    assert "data-live" in browser.get("/").content.decode()
    sent = form_of(browser, PREFERENCES)
    del sent["live_posts"]
    browser.post(PREFERENCES, sent)
    page = browser.get("/").content.decode()
    assert "data-stream" in page
    assert "data-live" not in page
    assert "live_posts" not in form_of(browser, PREFERENCES)


def test_the_language_in_the_settings_replaces_one_chosen_before(browser: Client) -> None:
    browser.get("/?lang=ar")
    browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {"locale": "de"})
    assert '<html lang="de"' in browser.get("/").content.decode()


def test_a_preference_that_the_user_did_not_change_is_not_stored(browser: Client, person: User) -> None:
    browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {"sensitive": "on"})
    person.refresh_from_db()
    assert (person.default_privacy, person.default_sensitive) == (None, True)
    assert person.preferences == {}


def test_cached_bodies_follow_the_preference_for_search_engines(browser: Client, person: User) -> None:
    path = f"/api/v1/accounts/{person.account_id}"
    assert Api().get(path).json()["noindex"] is False
    browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {"noindex": "on"})
    work()
    assert Api().get(path).json()["noindex"] is True


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("locale", "xx"),
        ("time_zone", "Mars/Olympus"),
        ("privacy", "direct"),
        ("privacy", ""),
        ("language", "tlh-x"),
        ("expand_media", "x"),
    ],
)
def test_an_invalid_preference_is_refused_at_its_field(browser: Client, field: str, value: str) -> None:
    page = browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {field: value})
    assert page.status_code == 422
    assert page.context["form"].errors[field]


PAGES = [PROFILE, PREFERENCES, "/settings/imports", "/settings/export", "/settings/aliases", "/settings/migration",
         "/settings/delete", "/invites"]  # fmt: skip
ACTIONS = [f"{PROFILE}/tags", f"{PROFILE}/tags/1", "/settings/export/archives", "/settings/imports/1/start",
           "/settings/imports/1/drop", "/settings/migration/cancel", "/settings/aliases/remove",
           "/invites/1/expire"]  # fmt: skip
FILES = ["/settings/exports/follows.csv", "/settings/export/archives/1", "/settings/imports/1",
         "/settings/imports/1/failures.csv"]  # fmt: skip


@pytest.mark.parametrize("path", [*PAGES, *FILES])
def test_the_settings_require_signing_in(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/auth/sign_in?next=%2F")


@pytest.mark.parametrize("path", [*PAGES, *ACTIONS])
def test_other_sites_cannot_send_the_forms_of_the_settings(person: User, path: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person)
    answer = strict.post(path, {"password": "correct horse"})
    assert answer.status_code in (403, 405)
    if answer.status_code == 405:
        assert path == "/settings/export", "the page has no form of its own"


@pytest.mark.parametrize("path", ACTIONS)
def test_actions_that_change_something_are_never_links(browser: Client, path: str) -> None:
    assert browser.get(path).status_code == 405


@pytest.mark.parametrize("path", [*PAGES, *ACTIONS, *FILES])
def test_pages_cannot_be_opened_with_an_access_token(person: User, path: str) -> None:
    headers = {"Authorization": f"Bearer {make_token(person)}"}
    assert Client().get(path, headers=headers).status_code in (302, 405)


STATES = {
    "suspended": {"/settings/export"},
    "unconfirmed": {"/settings/export", "/settings/delete"},
    "unapproved": {"/settings/delete"},
    "moved": {"/settings/export", "/settings/delete", "/settings/migration", "/settings/aliases"},
}


@pytest.mark.parametrize("state", STATES)
def test_users_who_may_not_use_their_account_can_still_export_their_data(state: str) -> None:
    user = make_user("ada", confirmed=state != "unconfirmed")
    values: dict[str, Any] = {}
    if state == "suspended":
        values = {"suspended_at": clock.now()}
    if state == "moved":
        values = {"moved_to": make_account("new")}
    Account.objects.filter(id=user.account_id).update(**values or {"note": "x"})
    User.objects.filter(id=user.id).update(approved=state != "unapproved")
    browser = signed_in(user)
    opened = {path for path in PAGES if browser.get(path).status_code == 200}
    assert opened == STATES[state]
    for path in set(PAGES) - opened:
        assert browser.get(path).status_code == 403
        assert browser.post(path, {}).status_code == 403


def test_a_disabled_user_is_signed_out(browser: Client, person: User) -> None:
    disable(by=OPERATOR, user=person)
    assert browser.get(PROFILE).status_code == 302


def test_settings_pages_take_the_same_queries_however_much_data_there_is(
    browser: Client, person: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(10):
        browser.post(f"{PROFILE}/tags", {"name": f"tag{number}"})
    with django_assert_max_num_queries(8):
        browser.get(PROFILE)
    with django_assert_max_num_queries(6):
        browser.get(PREFERENCES)
