"""Tests of the service that signs users up: the rows that it writes, and its number of queries."""

from typing import Any

import pytest
from django.contrib.auth.hashers import check_password, identify_hasher, make_password
from django.test import Client

from accounts.models import KeyPair, User
from accounts.services import key_pairs
from accounts.services.key_pairs import keys_of
from social.kernel import clock, crypto
from social.settings import base
from tests.factories.accounts import make_remote, make_user
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db


def test_passwords_are_hashed_with_argon2id_by_the_parameters_of_owasp(settings: Any) -> None:
    settings.PASSWORD_HASHERS = base.PASSWORD_HASHERS
    hashed = make_password("correct horse")
    assert hashed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password("correct horse", hashed)
    assert not check_password("correct horst", hashed)


def test_signing_in_replaces_a_hash_of_another_kind(settings: Any) -> None:
    settings.PASSWORD_HASHERS = base.PASSWORD_HASHERS
    user = make_user("ada")
    User.objects.filter(pk=user.pk).update(password=make_password("correct horse", hasher="pbkdf2_sha256"))
    assert Client().post("/auth/sign_in", {"login": "ada", "password": "correct horse"}).status_code == 303
    user.refresh_from_db()
    assert identify_hasher(user.password).algorithm == "argon2"


@needs_federation
def test_keys_are_created_once_together_with_the_account() -> None:
    """The keys are created together with the account, so a backup never contains an account without its keys."""
    user = make_user("ada")
    document = Client().get("/users/ada", headers={"Accept": "application/activity+json"}).json()
    pair = KeyPair.objects.get(account=user.account_id)
    assert document["publicKey"]["publicKeyPem"] == pair.public_key
    assert document["publicKey"]["id"] == pair.key_id
    assert crypto.decrypt(pair.private_key).startswith("-----BEGIN PRIVATE KEY-----")
    assert keys_of(account=user.account) == pair


def test_keys_of_an_account_of_an_older_release_are_created_when_needed() -> None:
    ada = make_user("ada").account
    KeyPair.objects.all().delete()
    assert keys_of(account=ada) == keys_of(account=ada) == KeyPair.objects.get()


def test_accounts_of_an_older_release_get_their_keys_in_the_background_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_pairs, "MISSING_KEYS_AT_ONCE", 1)
    people = [make_user() for _ in range(3)]
    kept = KeyPair.objects.get(account=people[0].account_id)
    make_user(deleted_at=clock.now())
    make_remote()
    KeyPair.objects.exclude(account=kept.account_id).delete()
    assert [key_pairs.make_missing_keys() for _ in range(3)] == [1, 1, 0]
    pairs = KeyPair.objects.filter(account__in=[person.account_id for person in people])
    assert {pair.key_id for pair in pairs} == {f"{person.account.uri}#main-key" for person in people}
    assert pairs.get(account=kept.account_id).public_key == kept.public_key
    assert pairs.count() == KeyPair.objects.count()


def test_signing_up_generates_one_key_pair_and_hashes_the_password_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr("accounts.services.key_pairs.new_rsa_pair", lambda: made.append("keys") or ("a", "b"))
    monkeypatch.setattr("accounts.identity.services.signing_up.make_password", lambda text: made.append("hash") or "x")
    make_user("ada")
    assert sorted(made) == ["hash", "keys"]
