"""Tests of accounts and the relations between them (contract, seed coverage; the numbers are in the names)."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, Block, Domain, Follow, FollowRequest, Mute
from social.kernel import clock
from tests.conformance.people import Person, here, links, walk
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import make_media
from tests.support.client import Api
from tests.support.entities import check
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db
UPDATE = "/api/v1/accounts/update_credentials"


def relation(viewer: Person, other: Person) -> dict[str, Any]:
    found: list[dict[str, Any]] = viewer.read("accounts/relationships", **{"id[]": other.id})
    return found[0]


def test_seed_008_and_099_an_account_is_looked_up_without_a_token(alice: Person) -> None:
    for acct in ("alice", "ALICE", "@alice", "alice@social.localhost", "Alice@Social.LOCALHOST"):
        answer = Api().get("/api/v1/accounts/lookup", {"acct": acct})
        assert (answer.status_code, answer.json()["id"]) == (200, alice.id), acct
    for acct in ("nobody", "alice@elsewhere.example", "", "@", "alice@social.localhost@x"):
        assert Api().get("/api/v1/accounts/lookup", {"acct": acct}).status_code == 404, acct
    assert Api().get("/api/v1/accounts/lookup").status_code == 404


def test_seed_009_and_056_a_relationship_is_flat(alice: Person, bob: Person) -> None:
    answer = alice.read("accounts/relationships", **{"id[]": bob.id})
    assert len(answer) == 1
    check("Relationship", answer[0])
    assert not [name for name, value in answer[0].items() if isinstance(value, dict)]
    assert [name for name, value in answer[0].items() if isinstance(value, list)] in ([], ["languages"])


def test_seed_032_and_093_custom_emojis_are_listed_for_everybody() -> None:
    CustomEmoji.objects.create(shortcode="blobcat", remote_url="https://cats.example/blob.png")
    CustomEmoji.objects.create(shortcode="elsewhere", domain="cats.example")
    CustomEmoji.objects.create(shortcode="off", disabled=True)
    answer = Api().get("/api/v1/custom_emojis")
    assert answer.status_code == 200
    assert [item["shortcode"] for item in answer.json()] == ["blobcat"]
    assert {"shortcode", "url", "static_url", "visible_in_picker"} <= set(answer.json()[0])


def test_seed_048_a_bio_is_text_for_its_owner_and_html_for_the_others(alice: Person) -> None:
    own = alice.api.patch(UPDATE, {"note": "hi"}).json()
    check("CredentialAccount", own)
    assert (own["note"], own["source"]["note"]) == ("<p>hi</p>", "hi")
    assert Api().get(f"/api/v1/accounts/{alice.id}").json()["note"] == "<p>hi</p>"


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("source[privacy]=private&source[sensitive]=true&source[language]=de", id="form"),
        pytest.param("source%5Bprivacy%5D=private&source%5Bsensitive%5D=1&source%5Blanguage%5D=de", id="escaped"),
        pytest.param({"source": {"privacy": "private", "sensitive": True, "language": "de"}}, id="json"),
    ],
)
def test_seed_049_source_sets_the_defaults_for_new_posts(alice: Person, form: Any) -> None:
    sent = {"form": form} if isinstance(form, str) else {"data": form}
    source = alice.api.patch(UPDATE, **sent).json()["source"]
    assert (source["privacy"], source["sensitive"], source["language"]) == ("private", True, "de")
    post = alice.post("hello")
    assert (post["visibility"], post["sensitive"], post["language"]) == ("private", True, "de")


def test_the_default_language_can_be_cleared_and_null_keeps_it(alice: Person) -> None:
    alice.api.patch(UPDATE, {"source": {"language": "de", "privacy": "private"}})
    assert alice.api.patch(UPDATE, {"source": {"language": None}}).json()["source"]["language"] == "de"
    source = alice.api.patch(UPDATE, form="source[language]=").json()["source"]
    assert (source["language"], source["privacy"]) == (None, "private")


def test_a_bio_has_no_space_around_it_and_a_name_is_one_line(alice: Person) -> None:
    sent = {"display_name": " Alice \r\n of\u2028 Wonderland\n", "note": "\n  I fell.\n\nFar down. \n"}
    shown = alice.api.patch(UPDATE, sent).json()
    assert (shown["display_name"], shown["source"]["note"]) == ("Alice of Wonderland", "I fell.\n\nFar down.")
    padded = {"display_name": "\n" * 50 + "A", "note": " " * 600 + "a"}
    assert alice.api.patch(UPDATE, padded).status_code == 200


def test_null_and_false_stay_distinct(alice: Person) -> None:
    names = ("discoverable", "hide_collections")
    for value in (True, False, None):
        shown = alice.api.patch(UPDATE, dict.fromkeys(names, value)).json()
        assert [shown[name] for name in names] == [shown["source"][name] for name in names] == [value, value]
        shown = alice.api.patch(UPDATE, {"locked": True}).json()
        assert [shown[name] for name in names] == [value, value], "options that were not sent stay unchanged"


def test_an_attribution_domain_may_be_sent_as_a_url_and_an_invalid_one_is_named(alice: Person) -> None:
    sent = {"attribution_domains": ["https://example.org", "example.com", "*.b.example", "https://*.c.example"]}
    kept = ["example.org", "example.com", "b.example", "c.example"]
    assert alice.api.patch(UPDATE, sent).json()["source"]["attribution_domains"] == kept
    answer = alice.api.patch(UPDATE, {"attribution_domains": ["http://example.net/path", "no domain"]})
    assert [error["error"] for error in answer.json()["details"]["attribution_domains"]] == [
        "ERR_INVALID_DOMAIN_ON_LINE",
        "ERR_INVALID_DOMAIN_ON_LINE",
    ]
    assert "Attribution domains example.net/path is not a valid domain name" in answer.json()["error"]


def test_an_invalid_language_is_refused(alice: Person) -> None:
    alice.api.patch(UPDATE, {"source": {"language": "de"}})
    answer = alice.api.patch(UPDATE, {"source": {"language": "bogus"}})
    assert (answer.status_code, answer.json()["details"]["language"][0]["error"]) == (422, "ERR_INCLUSION")
    assert alice.read("accounts/verify_credentials")["source"]["language"] == "de"


@pytest.mark.parametrize("name", ["fields_attributes", "attribution_domains"])
@pytest.mark.parametrize("value", ["x", 5, True, None, {"x": {"name": "c", "value": "d"}}, ""])
def test_a_value_that_is_no_list_does_not_clear_a_list_of_the_profile(alice: Person, name: str, value: Any) -> None:
    full = {"fields_attributes": [{"name": "a", "value": "b"}], "attribution_domains": ["a.example"]}
    before = alice.api.patch(UPDATE, full).json()["source"]
    assert len(before["fields"]) == len(before["attribution_domains"]) == 1
    answer = alice.api.patch(UPDATE, {name: value})
    assert (answer.status_code, answer.json()["source"]) == (200, before)
    assert alice.api.patch(UPDATE, {name: []}).json()["source"][name.removesuffix("_attributes")] == []


def test_profile_fields_of_other_json_types_become_texts(alice: Person) -> None:
    rows = [{"name": "a", "value": True}, {"name": "b", "value": ["x"]}, {"name": 1, "value": 2}]
    fields = alice.api.patch(UPDATE, {"fields_attributes": rows}).json()["source"]["fields"]
    assert [(row["name"], row["value"]) for row in fields] == [("a", "true"), ("b", ""), ("1", "2")]
    assert alice.api.patch(UPDATE, {"fields_attributes": [{"name": ["x"], "value": "y"}]}).status_code == 422


@pytest.mark.parametrize("value", [[], {}, ["true"]])
def test_an_object_in_place_of_a_boolean_is_ignored(alice: Person, value: Any) -> None:
    assert alice.api.patch(UPDATE, {"locked": value}).json()["locked"] is False


def test_seed_052_a_suspended_account_is_found_and_blank(alice: Person, bob: Person) -> None:
    alice.api.patch(
        UPDATE,
        {"display_name": "Alice", "note": "hi", "fields_attributes": [{"name": "a", "value": "b"}], "locked": True},
    )
    alice.post("hello #tag")
    assert alice.api.post("/api/v1/featured_tags", {"name": "tag"}).status_code == 200
    alice.do(f"accounts/{bob.id}/follow")
    Person("carol").do(f"accounts/{alice.id}/follow")
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    for api in (Api(), bob.api):
        answer = api.get(f"/api/v1/accounts/{alice.id}")
        assert answer.status_code == 200
        body = answer.json()
        check("Account", body)
        assert body["suspended"] is True
        assert (body["display_name"], body["note"], body["fields"], body["emojis"]) == ("", "", [], [])
        assert body["avatar"].endswith("/avatars/original/missing.png")
        for name in ("statuses", "followers", "following", "featured_tags"):
            answer = api.get(f"/api/v1/accounts/{alice.id}/{name}")
            assert (answer.status_code, answer.json()) == (200, []), name


def test_seed_050_and_051_a_suspension_can_be_taken_back_and_nothing_is_lost(alice: Person, bob: Person) -> None:
    alice.api.patch(UPDATE, {"note": "hi"})
    post = alice.post("hello")
    bob.do(f"accounts/{alice.id}/follow")
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert bob.api.get(f"/api/v1/statuses/{post['id']}").status_code == 404
    assert bob.read("accounts/relationships", **{"id[]": alice.id}) == []
    Account.objects.filter(id=alice.id).update(suspended_at=None)
    assert bob.read(f"accounts/{alice.id}")["note"] == "<p>hi</p>"
    assert bob.ids(f"accounts/{alice.id}/statuses") == [post["id"]]
    assert relation(bob, alice)["following"] is True


def test_seed_053_pictures_of_a_sensitized_account_are_sensitive_to_others(
    alice: Person, bob: Person, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    post = alice.post("", media_ids=[str(make_media(alice.account).id)])
    Account.objects.filter(id=alice.id).update(sensitized_at=clock.now())
    assert bob.read(f"statuses/{post['id']}")["sensitive"] is True
    assert bob.read("timelines/public")[0]["sensitive"] is True
    assert alice.read(f"statuses/{post['id']}")["sensitive"] is False
    Account.objects.filter(id=alice.id).update(sensitized_at=None)
    assert bob.read(f"statuses/{post['id']}")["sensitive"] is False


def test_seed_057_to_059_a_follow_says_whether_boosts_and_new_posts_are_wanted(alice: Person, bob: Person) -> None:
    plain = alice.do(f"accounts/{bob.id}/follow")
    assert (plain["showing_reblogs"], plain["notifying"]) == (True, False)
    asked = alice.do(f"accounts/{bob.id}/follow", {"reblogs": False, "notify": True})
    assert (asked["showing_reblogs"], asked["notifying"]) == (False, True)
    assert relation(alice, bob) == asked


def test_seed_061_062_106_and_156_a_mute_can_leave_notifications_on_and_can_end(alice: Person, bob: Person) -> None:
    for duration in ({}, {"duration": 0}, {"duration": "0"}):
        muted = alice.do(f"accounts/{bob.id}/mute", {"notifications": False, **duration})
        assert (muted["muting"], muted["muting_notifications"], muted["muting_expires_at"]) == (True, False, None)
    ending = alice.do(f"accounts/{bob.id}/mute", {"duration": 60})
    assert ending["muting_notifications"] is True
    assert ending["muting_expires_at"] is not None
    Mute.objects.update(expires_at=F("expires_at") - timedelta(seconds=60))
    assert relation(alice, bob)["muting"] is False


def test_seed_089_and_090_unlocking_accepts_waiting_requests(alice: Person, bob: Person) -> None:
    alice.api.patch(UPDATE, {"locked": True})
    asked = bob.do(f"accounts/{alice.id}/follow")
    assert (asked["following"], asked["requested"]) == (False, True)
    assert relation(alice, bob)["requested_by"] is True
    assert alice.read("accounts/verify_credentials")["source"]["follow_requests_count"] == 1
    private = alice.post("for followers", visibility="private")
    assert bob.api.get(f"/api/v1/statuses/{private['id']}").status_code == 404
    alice.api.patch(UPDATE, {"locked": False})
    work()
    accepted = relation(alice, bob)
    assert (accepted["followed_by"], accepted["requested_by"]) == (True, False)
    assert relation(bob, alice)["following"] is True
    assert bob.read(f"statuses/{private['id']}")["id"] == private["id"]


def test_seed_090_a_request_that_waits_can_be_authorized_after_unlocking(alice: Person, bob: Person) -> None:
    alice.api.patch(UPDATE, {"locked": True})
    bob.do(f"accounts/{alice.id}/follow")
    Account.objects.filter(id=bob.id).update(
        limited_at=clock.now()
    )  # follow requests to a limited account wait for approval
    alice.api.patch(UPDATE, {"locked": False})
    work()
    assert relation(bob, alice)["requested"] is True
    assert alice.api.post(f"/api/v1/follow_requests/{bob.id}/authorize").json()["followed_by"] is True
    assert (relation(bob, alice)["following"], relation(bob, alice)["requested"]) == (True, False)


@pytest.mark.parametrize(
    ("path", "model", "act"),
    [
        ("mutes", Mute, "mute"),
        ("blocks", Block, "block"),
        ("followers", Follow, "follow"),
        ("follow_requests", FollowRequest, "follow"),
    ],
)
def test_seed_111_and_112_lists_of_accounts_are_paged_by_the_ids_of_their_rows(
    alice: Person, path: str, model: Any, act: str
) -> None:
    """See also clients.md, trap 11: the newest row comes first, whatever the age of the account."""
    if path == "follow_requests":
        alice.api.patch(UPDATE, {"locked": True})
    people = [Person("first"), Person("second"), Person("third")]
    for person in people[::-1]:
        person.do(f"accounts/{alice.id}/follow") if act == "follow" else alice.do(f"accounts/{person.id}/{act}")
    address = f"/api/v1/accounts/{alice.id}/followers" if path == "followers" else f"/api/v1/{path}"
    page = alice.api.get(f"{address}?limit=1")
    newest = model.objects.order_by("-id").first().id
    assert [item["id"] for item in page.json()] == [people[0].id]
    assert {name: here(url) for name, url in links(page).items()} == {
        "next": f"{address}?limit=1&max_id={newest}",
        "prev": f"{address}?limit=1&since_id={newest}",
    }
    assert [item["id"] for item in walk(alice.api, f"{address}?limit=1")] == [person.id for person in people]


def test_seed_105_a_follow_of_an_account_known_as_unlocked_is_shown_immediately(alice: Person, bob: Person) -> None:
    remote = make_remote("zoe")
    for number in (bob.id, str(remote.id)):
        answer = alice.do(f"accounts/{number}/follow")
        assert (answer["following"], answer["requested"]) == (True, False)
    locked = make_remote("yan", locked=True)
    answer = alice.do(f"accounts/{locked.id}/follow")
    assert (answer["following"], answer["requested"]) == (False, True)


def test_seed_104_149_and_150_following_an_account_again_succeeds_even_if_locked(alice: Person, bob: Person) -> None:
    assert alice.do(f"accounts/{bob.id}/follow") == alice.do(f"accounts/{bob.id}/follow")
    bob.api.patch(UPDATE, {"locked": True})
    carol = Person("carol")
    for _time in range(2):
        answer = carol.do(f"accounts/{bob.id}/follow")
        assert (answer["requested"], answer["following"]) == (True, False)


def test_seed_103_and_105_a_follow_by_address_is_shown_immediately(alice: Person, bob: Person) -> None:
    zoe = make_remote("zoe")
    for address, number in (("bob", bob.id), ("@bob@social.localhost", bob.id), (f" {zoe.acct} ", str(zoe.id))):
        answer = alice.api.post("/api/v1/follows", {"uri": address})
        assert answer.status_code == 200, answer.content
        check("FollowedAccount", answer.json())
        shown = answer.json()
        assert (shown["id"], shown["following"], shown["requested"]) == (number, True, False)
        assert shown["followers_count"] == (0 if number == str(zoe.id) else 1)
    for address in ("", "nobody", "nobody@unknown.example", "@", "a@b@c"):
        assert alice.api.post("/api/v1/follows", {"uri": address}).status_code == 404
    assert alice.api.post("/api/v1/follows").status_code == 404
    assert alice.api.post("/api/v1/follows", {"uri": "alice"}).status_code == 403


def test_seed_110_both_endpoints_for_ones_own_account_need_a_token(alice: Person) -> None:
    for path in ("/api/v1/verify_credentials", "/api/v1/accounts/verify_credentials"):
        assert Api().get(path).status_code == 401
        body = alice.api.get(path).json()
        check("CredentialAccount", body)
        assert body["id"] == alice.id


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"data": {}}, id="nothing"),
        pytest.param({"data": {"source": {}}}, id="empty object"),
        pytest.param({"data": {"source": ""}}, id="empty text"),
        pytest.param({"data": {"source": None}}, id="null"),
        pytest.param({"data": {"source": []}}, id="empty list"),
        pytest.param({"form": "source="}, id="empty form field"),
        pytest.param({"form": "source[language]="}, id="empty member"),
        pytest.param(
            {"data": {"source": {"privacy": None, "sensitive": None, "language": ""}}}, id="members without values"
        ),
    ],
)
def test_seed_133_and_151_an_empty_source_changes_nothing_and_is_no_error(alice: Person, sent: dict[str, Any]) -> None:
    before = alice.read("accounts/verify_credentials")
    answer = alice.api.patch(UPDATE, **sent)
    assert (answer.status_code, answer.json()) == (200, before)


@pytest.mark.parametrize(("length", "status"), [(160, 200), (161, 200), (500, 200), (501, 422)])
def test_seed_154_a_bio_has_five_hundred_characters(alice: Person, length: int, status: int) -> None:
    answer = alice.api.patch(UPDATE, {"note": "ä" * length})
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["source"]["note"] == "ä" * length
    else:
        assert "error" in answer.json()


def test_seed_031_and_128_blocked_users_cannot_find_the_blocker(alice: Person, bob: Person) -> None:
    assert bob.ids("accounts/search", q="ali") == [alice.id]
    assert bob.ids("accounts/search", q="@") == bob.ids("accounts/search", q=" @ ") == []
    alice.do(f"accounts/{bob.id}/block")
    assert bob.ids("accounts/search", q="ali") == bob.ids("accounts/search", q="alice@social.localhost") == []
    assert alice.ids("accounts/search", q="bo") == []
    assert alice.ids("accounts/search", q="bob@social.localhost") == [bob.id]


def test_seed_055_a_refused_sign_up_says_what_is_wrong_with_each_field() -> None:
    answer = Api(make_token(None, "write:accounts")).post("/api/v1/accounts")
    assert answer.status_code == 422
    body = answer.json()
    assert body["error"].startswith("Validation failed: ")
    assert set(body["details"]) == {"username", "email", "password", "agreement"}
    assert all(set(item) == {"error", "description"} for found in body["details"].values() for item in found)


def test_seed_098_the_token_of_a_sign_up_is_the_new_persons(settings: Any) -> None:
    settings.CONFIRM_EMAIL = True
    form = {"username": "dora", "email": "dora@example.com", "password": "correct horse", "agreement": "true"}
    answer = Api(make_token(None)).post("/api/v1/accounts", form)
    assert answer.status_code == 200
    check("Token", answer.json())
    work()
    assert [message.to for message in mail.outbox] == [["dora@example.com"]]
    own = Api(answer.json()["access_token"])
    refused = own.get("/api/v1/accounts/verify_credentials")
    assert refused.status_code == 403
    assert refused.json()["error"] == "Your login is missing a confirmed e-mail address"


def test_seed_098_unconfirmed_users_are_invisible_to_others(settings: Any, bob: Person) -> None:
    settings.CONFIRM_EMAIL = True
    form = {"username": "dora", "email": "dora@example.com", "password": "correct horse", "agreement": "true"}
    assert Api(make_token(None)).post("/api/v1/accounts", form).status_code == 200
    number = Account.objects.get(username="dora").id
    assert bob.api.get("/api/v1/accounts/lookup", {"acct": "dora"}).status_code == 404
    assert bob.api.get(f"/api/v1/accounts/{number}").status_code == 404
    assert bob.api.post(f"/api/v1/accounts/{number}/follow").status_code == 404
    assert bob.ids("accounts/search", q="dora") == []


def test_seed_037_people_posts_and_servers_are_counted(alice: Person) -> None:
    alice.post()
    Domain.objects.create(name="one.example")
    stats = Api().get("/api/v1/instance").json()["stats"]
    assert stats == {"user_count": 1, "status_count": 1, "domain_count": 1}


@needs_federation
def test_people_and_posts_are_counted_in_the_node_information(alice: Person) -> None:
    alice.post()
    for version in ("2.0", "2.1"):
        usage = Api().get(f"/nodeinfo/{version}").json()["usage"]
        assert (usage["users"]["total"], usage["localPosts"]) == (1, 1)
