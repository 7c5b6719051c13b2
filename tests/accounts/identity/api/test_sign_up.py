"""Tests of signing up through a client program (contract, parameters section 2; SEED-055, SEED-098, SEED-148)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from accounts.models import Account, User
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
FORM = {
    "username": "alice",
    "email": "alice@example.com",
    "password": "correct horse",
    "agreement": True,
    "locale": "en",
}


@pytest.fixture
def app() -> Api:
    return Api(make_token(None, "read write follow push"))


def codes(answer: Any) -> dict[str, list[str]]:
    return {field: [item["error"] for item in items] for field, items in answer.json()["details"].items()}


def test_the_token_of_a_sign_up_can_be_used_immediately(app: Api) -> None:
    answer = app.post("/api/v1/accounts", FORM)
    assert answer.status_code == 200, answer.content
    token = answer.json()
    assert set(token) == {"access_token", "token_type", "scope", "created_at"}
    assert token["token_type"] == "Bearer"
    me = Api(token["access_token"]).get("/api/v1/accounts/verify_credentials")
    assert me.status_code == 200, me.content
    assert me.json()["acct"] == "alice"
    assert me.json()["source"]["privacy"] == "public"


def test_form_encoding_and_client_booleans_are_understood(app: Api) -> None:
    form = "username=bob&email=bob%40example.com&password=correct+horse&agreement=1&locale=en"
    assert app.post("/api/v1/accounts", form=form).status_code == 200


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"username": ""}, "username", "ERR_BLANK"),
        ({"username": "not a name"}, "username", "ERR_INVALID"),
        ({"username": "ärger"}, "username", "ERR_INVALID"),
        ({"username": "a" * 31}, "username", "ERR_TOO_LONG"),
        ({"username": "Admin"}, "username", "ERR_RESERVED"),
        ({"email": ""}, "email", "ERR_BLANK"),
        ({"email": "nonsense"}, "email", "ERR_INVALID"),
        ({"email": f"{'a' * 320}@example.com"}, "email", "ERR_TOO_LONG"),
        ({"password": ""}, "password", "ERR_BLANK"),
        ({"password": "short"}, "password", "ERR_TOO_SHORT"),
        ({"password": "x" * 73}, "password", "ERR_TOO_LONG"),
        ({"agreement": False}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": "false"}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": []}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": {}}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": "yes"}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": "t"}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": 2}, "agreement", "ERR_ACCEPTED"),
        ({"password": " " * 8}, "password", "ERR_BLANK"),
        ({"email": "x@example.com:25"}, "email", "ERR_INVALID"),
        ({"email": "x@"}, "email", "ERR_INVALID"),
        ({"email": "@example.com"}, "email", "ERR_INVALID"),
        ({"email": "x@[127.0.0.1]"}, "email", "ERR_INVALID"),
        ({"email": "x@[IPv6:::1]"}, "email", "ERR_INVALID"),
        ({"email": "x@ex\ufffdample.com"}, "email", "ERR_INVALID"),
        ({"email": "x@127.0.0.11"}, "email", "ERR_INVALID"),
    ],
)
def test_each_sign_up_error_has_its_code(app: Api, change: dict[str, Any], field: str, code: str) -> None:
    answer = app.post("/api/v1/accounts", FORM | change)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Validation failed: ")
    assert code in codes(answer)[field]
    assert not User.objects.exists()


@pytest.mark.parametrize("email", ["x@localhost", "x@intranet", "x@nowhere.invalid", "x+y@bücher.example"])
def test_valid_addresses_are_accepted_at_any_kind_of_domain(app: Api, email: str) -> None:
    assert app.post("/api/v1/accounts", FORM | {"email": email}).status_code == 200
    assert User.objects.get().email == email


@pytest.mark.parametrize("password", ["password", "12345678", "aaaaaaaa"])
def test_passwords_are_checked_by_their_length_alone(app: Api, password: str) -> None:
    assert app.post("/api/v1/accounts", FORM | {"password": password}).status_code == 200


@pytest.mark.parametrize("spelling", [True, 1, "true", "True", "1", "on"])
def test_sign_up_accepts_every_spelling_of_a_true_agreement(app: Api, spelling: Any) -> None:
    assert app.post("/api/v1/accounts", FORM | {"agreement": spelling}).status_code == 200


def test_an_empty_form_names_every_missing_field(app: Api) -> None:
    answer = app.post("/api/v1/accounts", {})
    assert answer.status_code == 422
    assert set(codes(answer)) == {"username", "email", "password", "agreement"}


def test_usernames_that_differ_only_in_case_are_the_same(app: Api) -> None:
    make_user("Alice")
    answer = app.post("/api/v1/accounts", FORM | {"email": "other@example.com"})
    assert codes(answer)["username"] == ["ERR_TAKEN"]


def test_addresses_that_differ_only_in_case_are_the_same(app: Api) -> None:
    make_user("alice2")
    answer = app.post("/api/v1/accounts", FORM | {"email": "Alice2@Example.com"})
    assert codes(answer)["email"] == ["ERR_TAKEN"]


def test_a_taken_name_is_reported_together_with_all_other_errors(app: Api) -> None:  # SEED-148
    make_user("alice")
    answer = app.post("/api/v1/accounts", {"username": "ALICE", "email": "alice@example.com", "password": "x"})
    assert set(codes(answer)) == {"username", "email", "password", "agreement"}
    assert (codes(answer)["username"], codes(answer)["email"]) == (["ERR_TAKEN"], ["ERR_TAKEN"])


def test_sign_ups_get_403_while_registrations_are_closed(app: Api, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    answer = app.post("/api/v1/accounts", FORM)
    assert answer.status_code == 403
    assert answer.json() == {"error": "This action is not allowed"}


def test_approval_requires_a_reason_and_nobody_can_sign_in_before(app: Api, settings: Any) -> None:
    settings.REGISTRATIONS = "approval"
    assert codes(app.post("/api/v1/accounts", FORM))["reason"] == ["ERR_BLANK"]
    answer = app.post("/api/v1/accounts", FORM | {"reason": "I like it here."})
    token = answer.json()["access_token"]
    me = Api(token).get("/api/v1/accounts/verify_credentials")
    assert me.status_code == 403
    assert me.json() == {"error": "Your login is currently pending approval"}
    assert Api().get("/api/v1/accounts/lookup", {"acct": "alice"}).status_code == 404


def test_a_user_with_an_unconfirmed_address_cannot_sign_in(app: Api, settings: Any) -> None:
    settings.CONFIRM_EMAIL = True
    token = app.post("/api/v1/accounts", FORM).json()["access_token"]
    me = Api(token).get("/api/v1/accounts/verify_credentials")
    assert me.status_code == 403
    assert me.json() == {"error": "Your login is missing a confirmed e-mail address"}
    assert Api().get("/api/v1/accounts/lookup", {"acct": "alice"}).status_code == 404


def test_signing_up_requires_an_applications_own_token() -> None:
    assert Api().post("/api/v1/accounts", FORM).status_code == 401
    assert Api(make_token(make_user())).post("/api/v1/accounts", FORM).status_code == 403
    assert Api(make_token(None, "read")).post("/api/v1/accounts", FORM).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_sign_ups_for_one_name_create_one_account() -> None:
    token = make_token(None, "read write")

    def one(number: int) -> int:
        try:
            return int(Api(token).post("/api/v1/accounts", FORM | {"email": f"a{number}@example.com"}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(one, range(4)))
    assert answers == [200, 422, 422, 422]
    assert Account.objects.filter(username="alice").count() == 1


def test_the_new_persons_token_has_the_scopes_of_the_application() -> None:
    application = make_application("read write:accounts")
    token = make_token(None, "read write:accounts", application)
    answer = Api(token).post("/api/v1/accounts", FORM)
    assert set(answer.json()["scope"].split()) == {"read", "write:accounts"}
