"""Tests of passkeys, as a second factor or without a password (WebAuthn Level 2, section 7; security rows 20, 24-26)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from accounts.identity.policies.second_factors import is_newer
from accounts.models import RecoveryCode, User
from social.kernel import clock
from tests.accounts.identity.pages.test_second_factor import codes_on, show_again
from tests.factories.accounts import make_user
from tests.support.client import is_signed_in, signed_in
from tests.support.passkeys import SoftwareKey
from tests.support.work import work

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Any]
ADD, ALONE, SECOND = "/auth/passkeys/add", "/auth/passkeys/sign_in", "/auth/second_factor/sign_in"
REFUSED = "This passkey was not accepted."
AJAX = {"X-Requested-With": "XMLHttpRequest"}
NONSENSE = [
    "", "null", "[]", "7", '"x"', "{}", "{", "[" * 50_000, "1" * 5000, '{"a":NaN}', '{"id":"x","rawId":"x"}',
    '{"id":1,"rawId":2,"type":3,"response":4}', '{"id":"AA","rawId":"AA","type":"public-key","response":[]}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"AA","attestationObject":"AA"}}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"bnVsbA","attestationObject":"oA"}}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"'
    + "gYGB" * 2000 + '"}}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA",'
    '"signature":"AA","userHandle":"AA"}}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"' + "A" * 100_000 + '"}}',
    '{"id":"\\u0000","rawId":"\\ud800","type":"public-key","response":{"userHandle":{"a":1}}}',
]  # fmt: skip


def options_on(page: Any) -> dict[str, Any]:
    """Return the options that a page passes to the browser's WebAuthn API."""
    found: dict[str, Any] = json.loads(page.context_data["options"])
    return found


def challenge(client: Client) -> dict[str, Any]:
    """Return the options with which the sign-in page asks the browser for a signature."""
    found: dict[str, Any] = client.get(ALONE, headers=AJAX).json()["request_options"]
    return found


def add(client: Client, key: SoftwareKey, name: str = "Phone") -> Any:
    """Register a passkey and return the response."""
    return client.post(ADD, {"name": name, "credential": key.create(options_on(client.get(ADD)))})


def test_an_id_of_a_passkey_of_somebody_else_is_refused(browser: Client, person: User) -> None:
    key = SoftwareKey()
    show_again(browser)
    assert codes_on(add(browser, key))
    other = signed_in(make_user("bob"))
    show_again(other)
    copy = SoftwareKey(id=key.id)
    assert REFUSED in add(other, copy).content.decode()
    # A key cannot be added under a credential id other than the signed one.
    options = options_on(other.get(ADD))
    renamed = json.loads(copy.create(options)) | {"id": "AAAA", "rawId": "AAAA"}
    assert REFUSED in other.post(ADD, {"name": "x", "credential": json.dumps(renamed)}).content.decode()
    assert Authenticator.objects.count() == 1


@pytest.fixture
def key(browser: Client, person: User) -> SoftwareKey:
    """A passkey of the user `person`."""
    made = SoftwareKey()
    show_again(browser)
    assert add(browser, made).status_code == 200
    return made


def test_a_passkey_is_added_named_renamed_and_removed(browser: Client, person: User, mailoutbox: list[Any]) -> None:
    show_again(browser)
    first = add(browser, SoftwareKey(), "Ada's phone")
    assert len(codes_on(first)) == 10
    second = add(browser, SoftwareKey(), "")
    assert second["Location"] == "/auth/second_factor"
    text = browser.get("/auth/second_factor").content.decode()
    assert "Ada&#x27;s phone" in text
    assert "Passkey 2" in text
    assert text.count("works without your password") == 2
    (one, two) = Authenticator.objects.filter(user=person).order_by("pk")
    assert browser.post(f"/auth/passkeys/{one.pk}", {"name": "Tablet"})["Location"] == "/auth/second_factor"
    assert "Tablet" in browser.get("/auth/second_factor").content.decode()
    assert browser.post(f"/auth/passkeys/{one.pk}", {"name": "x" * 61}).status_code == 200
    assert browser.post(f"/auth/passkeys/{one.pk}/remove")["Location"] == "/auth/second_factor"
    assert RecoveryCode.objects.count() == 10
    assert browser.post(f"/auth/passkeys/{two.pk}/remove")["Location"] == "/auth/second_factor"
    assert not Authenticator.objects.exists()
    assert not RecoveryCode.objects.exists()
    work()
    said = [mail.body for mail in mailoutbox]
    assert sum("A passkey has been added." in body for body in said) == 2
    assert sum("A passkey has been removed." in body for body in said) == 2


def test_a_passkey_alone_signs_in_and_leads_to_the_requested_page(key: SoftwareKey) -> None:
    client = Client()
    signed = key.get(challenge(client))
    done = client.post(f"{ALONE}?next=/oauth/authorized_applications", {"credential": signed})
    assert done["Location"] == "/oauth/authorized_applications"
    assert is_signed_in(client)
    evil = Client()
    done = evil.post(f"{ALONE}?next=//evil.example", {"credential": key.get(challenge(evil))})
    assert done["Location"] == "/"


def test_a_passkey_is_a_second_factor(client: Client, sign_in: SignIn, key: SoftwareKey) -> None:
    asked = sign_in("ada", url="/auth/sign_in?next=/oauth/authorized_applications")
    assert asked["Location"] == SECOND
    page = client.get(SECOND)
    assert options_on(page)["publicKey"]["allowCredentials"] != []
    done = client.post(SECOND, {"credential": key.get(options_on(page))})
    assert done["Location"] == "/oauth/authorized_applications"
    assert is_signed_in(client)


def test_a_key_that_cannot_verify_its_owner_is_a_second_factor_only(
    browser: Client, client: Client, sign_in: SignIn, person: User
) -> None:
    key = SoftwareKey(verifies=False)
    show_again(browser)
    add(browser, key)
    assert "works without your password" not in browser.get("/auth/second_factor").content.decode()
    assert client.post(ALONE, {"credential": key.get(challenge(client))})["Location"] == "/auth/sign_in"
    assert REFUSED in client.get("/auth/sign_in").content.decode()
    assert not is_signed_in(client)
    sign_in("ada")
    page = client.get(SECOND)
    assert client.post(SECOND, {"credential": key.get(options_on(page))}).status_code == 303
    assert is_signed_in(client)


def test_row_26_a_stolen_key_cannot_sign_in_alone_with_a_challenge_for_a_second_factor(
    browser: Client, client: Client, sign_in: SignIn, person: User
) -> None:
    stolen = SoftwareKey(verifies=False)
    show_again(browser)
    add(browser, stolen)
    # The attacker has an account, and so gets a challenge that does not require user verification.
    thief = make_user("thief")
    own, visitor = Client(), Client()
    own.force_login(thief)
    show_again(own)
    add(own, SoftwareKey())
    visitor.post("/auth/sign_in", {"login": "thief", "password": "correct horse"})
    options = options_on(visitor.get(SECOND))
    assert options["publicKey"]["userVerification"] == "preferred"
    visitor.get("/auth/sign_up")  # visiting this page aborts the sign-in that had begun, but keeps the challenge
    visitor.post(ALONE, {"credential": stolen.get(options)})
    assert not is_signed_in(visitor)


def test_a_passkey_signature_works_once(key: SoftwareKey) -> None:
    client = Client()
    signed = key.get(challenge(client))
    assert client.post(ALONE, {"credential": signed})["Location"] == "/"
    client.post("/auth/sign_out")
    assert client.post(ALONE, {"credential": signed})["Location"] == "/auth/sign_in"
    assert not is_signed_in(client)


def test_a_challenge_works_only_in_the_browser_that_requested_it(key: SoftwareKey) -> None:
    client, other = Client(), Client()
    signed = key.get(challenge(client))
    challenge(other)
    assert other.post(ALONE, {"credential": signed})["Location"] == "/auth/sign_in"
    assert Client().post(ALONE, {"credential": signed})["Location"] == "/auth/sign_in"


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://evil.social.localhost"},
        {"origin": "http://social.localhost:8080"},
        {"origin": "https://social.localhost"},
        {"relying_party": "evil.example"},
        {"verifies": False},
        {"present": False},
        {"id": b"another key"},
    ],
)
def test_a_passkey_signature_of_another_site_or_challenge_is_refused(key: SoftwareKey, wrong: dict[str, Any]) -> None:
    client = Client()
    refused = client.post(ALONE, {"credential": replace(key, **wrong).get(challenge(client))})
    assert refused["Location"] == "/auth/sign_in"
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "wrong",
    [{"origin": "https://evil.example"}, {"origin": "http://evil.social.localhost"}, {"relying_party": "evil.example"}],
)
def test_a_passkey_that_was_made_elsewhere_is_not_added(browser: Client, person: User, wrong: dict[str, Any]) -> None:
    show_again(browser)
    assert REFUSED in add(browser, SoftwareKey(**wrong)).content.decode()
    assert not Authenticator.objects.exists()


def test_the_signature_of_another_key_signs_nobody_in(key: SoftwareKey) -> None:
    client = Client()
    forged = replace(SoftwareKey(), id=key.id, handle=key.handle)
    assert client.post(ALONE, {"credential": forged.get(challenge(client))})["Location"] == "/auth/sign_in"


def test_a_passkey_signs_in_its_owner_whatever_username_is_sent(key: SoftwareKey) -> None:
    stranger, client = make_user("bob"), Client()
    own = signed_in(stranger)
    show_again(own)
    theirs = SoftwareKey()
    add(own, theirs)
    options = challenge(client)
    assert client.post(ALONE, {"credential": theirs.get(options, userHandle=key.handle)}).status_code == 303
    assert not is_signed_in(client)
    for handle in ("", "AA", "enp6enp6enp6enp6enp6enp6enp6", None, {}, "\u00e9"):
        refused = client.post(ALONE, {"credential": key.get(challenge(client), userHandle=handle)})
        assert refused["Location"] == "/auth/sign_in", handle


def test_a_copy_of_a_passkey_is_refused_and_its_owner_gets_a_mail(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    key = SoftwareKey(counts=True)
    show_again(browser)
    add(browser, key)
    copy = replace(key)
    clients = [Client() for _ in range(3)]
    assert clients[0].post(ALONE, {"credential": key.get(challenge(clients[0]))})["Location"] == "/"
    assert clients[1].post(ALONE, {"credential": copy.get(challenge(clients[1]))})["Location"] == "/auth/sign_in"
    assert clients[2].post(ALONE, {"credential": key.get(challenge(clients[2]))})["Location"] == "/"
    work()
    assert sum("may be a copy of one of your passkeys" in mail.body for mail in mailoutbox) == 1


@pytest.mark.parametrize(
    ("last", "count", "newer"), [(0, 0, True), (0, 1, True), (5, 6, True), (5, 5, False), (5, 4, False), (5, 0, False)]
)
def test_a_passkey_counter_that_does_not_grow_reveals_a_copy_unless_it_is_always_zero(
    last: int, count: int, newer: bool
) -> None:
    assert is_newer(count, last) is newer


def test_malformed_passkey_data_is_refused_everywhere(
    browser: Client, client: Client, sign_in: SignIn, key: SoftwareKey
) -> None:
    sign_in("ada")
    alone = Client()
    for credential in NONSENSE:
        browser.get(ADD)
        assert browser.post(ADD, {"name": "x", "credential": credential}).status_code == 200, credential
        assert Authenticator.objects.count() == 1, credential
        challenge(alone)
        assert alone.post(ALONE, {"credential": credential})["Location"] == "/auth/sign_in", credential
        client.get(SECOND)
        assert client.post(SECOND, {"credential": credential}).status_code == 200, credential
        assert browser.post("/auth/passkeys/reauthenticate", {"credential": credential}).status_code == 200, credential
        assert not is_signed_in(client), credential
        assert not is_signed_in(alone), credential


def test_row_20_nobody_renames_or_removes_the_passkeys_of_others(key: SoftwareKey) -> None:
    stranger = signed_in(make_user("bob"))
    show_again(stranger)
    found = Authenticator.objects.get()
    for path in (f"/auth/passkeys/{found.pk}", f"/auth/passkeys/{found.pk}/remove"):
        assert stranger.get(path).status_code == 404
        assert stranger.post(path, {"name": "x"}).status_code == 404
    assert Authenticator.objects.get().wrap().name == "Phone"


def test_row_24_a_new_passkey_signs_the_other_browsers_out(browser: Client, person: User) -> None:
    other = Client()
    other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    show_again(browser)
    add(browser, SoftwareKey())
    assert is_signed_in(browser)
    assert not is_signed_in(other)


def test_row_24_removing_a_passkey_signs_the_other_browsers_out(browser: Client, key: SoftwareKey) -> None:
    other = Client()
    other.post(ALONE, {"credential": key.get(challenge(other))})
    assert is_signed_in(other)
    browser.post(f"/auth/passkeys/{Authenticator.objects.get().pk}/remove")
    assert is_signed_in(browser)
    assert not is_signed_in(other)


def test_row_24_changing_passkeys_requires_recent_reauthentication(key: SoftwareKey, person: User) -> None:
    client = signed_in(person)
    found = Authenticator.objects.get().pk
    for path in (ADD, f"/auth/passkeys/{found}", f"/auth/passkeys/{found}/remove"):
        for asked in (client.get(path), client.post(path, {"name": "x"})):
            assert asked["Location"].startswith("/auth/reauthenticate?next="), path
    page = client.get("/auth/passkeys/reauthenticate?next=/auth/passkeys/add")
    done = client.post("/auth/passkeys/reauthenticate", {"next": ADD, "credential": key.get(options_on(page))})
    assert done["Location"] == ADD
    assert client.get(ADD).status_code == 200


def test_a_recovery_code_signs_in_without_the_passkey(client: Client, sign_in: SignIn, person: User) -> None:
    browser = signed_in(person)
    show_again(browser)
    codes = codes_on(add(browser, SoftwareKey()))
    sign_in("ada")
    assert "If you do not have your passkey, type one of your recovery codes." in client.get(SECOND).content.decode()
    assert client.post(SECOND, {"code": codes[3]}).status_code == 303
    assert is_signed_in(client)


def test_a_disabled_user_cannot_sign_in_with_a_passkey(key: SoftwareKey, person: User) -> None:
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    client = Client()
    assert client.post(ALONE, {"credential": key.get(challenge(client))})["Location"] == "/auth/disabled"
    assert not is_signed_in(client)


def test_row_25_attempts_with_passkeys_are_counted_with_those_of_passwords(
    client: Client, person: User, counted: None
) -> None:
    for number in range(25):
        if number % 2:
            client.post("/auth/sign_in", {"login": f"x{number}", "password": "wrong"})
        else:
            client.post(ALONE, {"credential": "{}"})
    assert client.post(ALONE, {"credential": "{}"}).status_code == 429


def test_row_26_wrong_passkeys_as_second_factor_are_counted_with_wrong_codes(
    client: Client, sign_in: SignIn, key: SoftwareKey, counted: None
) -> None:
    sign_in("ada")
    for _attempt in range(10):
        client.post(SECOND, {"credential": SoftwareKey().get(options_on(client.get(SECOND)))})
    page = client.post(SECOND, {"credential": key.get(options_on(client.get(SECOND)))})
    assert "too many times" in page.content.decode()
    assert not is_signed_in(client)


def test_an_account_has_a_bounded_number_of_passkeys(
    browser: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.identity.pages.factor_forms.PASSKEYS_LIMIT", 1)
    show_again(browser)
    add(browser, SoftwareKey())
    assert "maximum number of passkeys" in add(browser, SoftwareKey()).content.decode()
    assert Authenticator.objects.count() == 1


def test_an_authenticator_is_not_asked_to_create_a_second_passkey(browser: Client, key: SoftwareKey) -> None:
    assert len(options_on(browser.get(ADD))["publicKey"]["excludeCredentials"]) == 1


def test_a_passkey_belongs_to_this_server_whatever_the_host_header_says(browser: Client, person: User) -> None:
    show_again(browser)
    assert browser.get(ADD, headers={"Host": "evil.example"}).status_code == 400
    options = options_on(browser.get(ADD, headers={"Host": "other.localhost"}))
    assert options["publicKey"]["rp"] == {"id": "social.localhost", "name": "social.localhost"}
    assert options["publicKey"]["user"]["name"] == "ada@social.localhost"
    asked = challenge(Client(headers={"Host": "other.localhost"}))
    assert asked["publicKey"]["rpId"] == "social.localhost"
    assert asked["publicKey"]["userVerification"] == "required"


def test_the_page_of_factors_costs_the_same_for_any_number(
    browser: Client, key: SoftwareKey, django_assert_num_queries: Any
) -> None:
    for _time in range(5):
        add(browser, SoftwareKey())
    # Queries: session, user with account, role and unread counts, factors, recovery codes.
    with django_assert_num_queries(4):
        browser.get("/auth/second_factor")
