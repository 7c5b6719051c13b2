"""Tests of sign-up blocks: refusal, approval, invitation required (contract, parameters section 2, behaviours section 6)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.test import Client

from accounts.identity.services import sign_up_blocks as blocks
from accounts.identity.services.activation import create_invite
from accounts.identity.services.confirmations import confirmation_url
from accounts.identity.services.staff import approve
from accounts.models import Account, AuditEntry, EmailDomainBlock, Follow, Invite, IpBlock, Severity, User
from accounts.policies.staff import OPERATOR, staff_of
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
FORM = {"username": "alice", "email": "alice@mail.example.com", "password": "correct horse", "agreement": True}


@pytest.fixture
def app() -> Api:
    return Api(make_token(None, "read write"))


def post(app: Api, **change: Any) -> Any:
    return app.post("/api/v1/accounts", FORM | change)


def codes(answer: Any) -> dict[str, list[str]]:
    assert answer.status_code == 422, answer.content
    return {field: [item["error"] for item in items] for field, items in answer.json()["details"].items()}


def waits(answer: Any) -> bool:
    assert answer.status_code == 200, answer.content
    me = Api(answer.json()["access_token"]).get("/api/v1/accounts/verify_credentials")
    assert me.status_code in (200, 403)
    return bool(me.status_code == 403)


@pytest.mark.parametrize(
    "domain", ["mail.example.com", "Example.COM", "example.com.", "@example.com", " *.example.com"]
)
def test_a_blocked_mail_provider_is_refused_with_all_its_subdomains(app: Api, domain: str) -> None:
    blocks.block_email_domain(by=OPERATOR, domain=domain)
    assert codes(post(app)) == {"email": ["ERR_BLOCKED"]}
    assert codes(post(app, email="Alice@Mail.Example.Com")) == {"email": ["ERR_BLOCKED"]}
    assert not User.objects.exists()
    assert post(app, email="alice@notexample.com").status_code == 200


@pytest.mark.parametrize("domain", ["mail.example.com:25", "alice@example.com", "*.", "@", "127.0.0.1:25", "[::1]"])
def test_a_block_that_no_address_could_match_is_refused(domain: str) -> None:
    with pytest.raises(Invalid, match="Domain is invalid"):
        blocks.block_email_domain(by=OPERATOR, domain=domain)


def test_a_blocked_internationalised_domain_is_refused_in_both_spellings(app: Api) -> None:
    blocks.block_email_domain(by=OPERATOR, domain="bücher.example")
    assert codes(post(app, email="alice@bücher.example")) == {"email": ["ERR_BLOCKED"]}
    assert codes(post(app, email="alice@xn--bcher-kva.example")) == {"email": ["ERR_BLOCKED"]}


def test_a_blocked_address_is_refused_in_all_its_spellings(app: Api) -> None:
    blocks.block_canonical_email(by=OPERATOR, email="a.lice+x@mail.example.com")
    assert codes(post(app)) == {"email": ["ERR_TAKEN"]}
    assert post(app, email="alice@example.com").status_code == 200


@pytest.mark.parametrize(
    ("blocked", "exact", "refused", "free"),
    [
        ("spammer", True, ["spammer", "SPAMMER", "5p4mmer"], ["spammers"]),
        ("spam", False, ["spam", "best_Spam_ever", "5PAM"], ["spa"]),
        ("a_b", False, ["xa_bx"], ["axb"]),
    ],
)
def test_blocked_usernames_are_refused_in_every_spelling(
    app: Api, blocked: str, exact: bool, refused: list[str], free: list[str]
) -> None:
    blocks.block_username(by=OPERATOR, username=blocked, exact=exact)
    for name in refused:
        assert codes(post(app, username=name)) == {"username": ["ERR_RESERVED"]}, name
    for name in free:
        assert post(app, username=name).status_code == 200, name


def test_row_18_the_name_of_a_deleted_account_is_never_free_again(app: Api) -> None:
    Account.objects.filter(id=make_user("Alice").account_id).delete()
    assert codes(post(app)) == {"username": ["ERR_TAKEN"]}
    assert codes(post(app, username="ALICE")) == {"username": ["ERR_TAKEN"]}


def test_a_blocked_network_signs_nobody_up_until_the_block_ends(app: Api) -> None:
    block = blocks.block_network(by=OPERATOR, network="127.0.0.0/8", severity=Severity.SIGN_UP_BLOCK)
    answer = post(app)
    assert (answer.status_code, answer.json()) == (403, {"error": "Forbidden"})
    assert Api().get("/api/v1/instance").status_code == 200
    IpBlock.objects.filter(pk=block.pk).update(expires_at=clock.now())
    assert post(app).status_code == 200


def test_a_block_of_a_network_does_not_affect_other_networks(app: Api) -> None:
    for network in ("127.0.1.0/24", "::/0", "126.0.0.0/8"):
        blocks.block_network(by=OPERATOR, network=network, severity=Severity.SIGN_UP_BLOCK)
    assert post(app).status_code == 200


@pytest.mark.parametrize("kind", ["network", "email_domain", "username"])
def test_some_blocks_only_require_approval(app: Api, kind: str) -> None:
    if kind == "network":
        blocks.block_network(by=OPERATOR, network="127.0.0.1", severity=Severity.SIGN_UP_REQUIRES_APPROVAL)
    elif kind == "email_domain":
        blocks.block_email_domain(by=OPERATOR, domain="example.com", allow_with_approval=True)
    else:
        blocks.block_username(by=OPERATOR, username="lic", exact=False, allow_with_approval=True)
    assert waits(post(app))


def test_the_strictest_of_several_matching_blocks_applies(app: Api) -> None:
    blocks.block_email_domain(by=OPERATOR, domain="mail.example.com", allow_with_approval=True)
    blocks.block_email_domain(by=OPERATOR, domain="example.com")
    assert codes(post(app)) == {"email": ["ERR_BLOCKED"]}


@pytest.mark.parametrize("path", ["/api/v1/instance", "/", "/auth/sign_in", "/users/ada", "/api/v1/timelines/public"])
def test_all_requests_from_a_network_without_access_are_refused(
    path: str, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        block = blocks.block_network(by=OPERATOR, network="127.0.0.1", severity=Severity.NO_ACCESS)
    answer = Api().get(path)
    assert (answer.status_code, answer.json()) == (403, {"error": "Forbidden"})
    with django_capture_on_commit_callbacks(execute=True):
        blocks.remove_block(by=OPERATOR, block=block)
    assert Api().get(path).status_code != 403


def test_after_blocking_all_addresses_probes_and_loopback_still_work(
    django_capture_on_commit_callbacks: Any,
) -> None:
    """Security row 79: health probes are answered for every address; loopback is refused only if it is blocked explicitly."""
    with django_capture_on_commit_callbacks(execute=True):
        blocks.block_network(by=OPERATOR, network="0.0.0.0/0", severity=Severity.NO_ACCESS)
    stranger, here = Client(REMOTE_ADDR="192.0.2.9"), Client(REMOTE_ADDR="127.0.0.1")
    for path, status in (("/health", 200), ("/health/ready", 200), ("/api/v1/instance", 403), ("/healthy", 403)):
        assert stranger.get(path).status_code == status, path
    for path in ("/health", "/metrics", "/api/v1/instance"):
        assert here.get(path).status_code == 200, path


def test_creating_blocks_requires_the_permission_and_is_audited() -> None:
    moderator = staff_of(make_user(role="Moderator"))
    with pytest.raises(Forbidden):
        blocks.block_email_domain(by=moderator, domain="example.com")
    admin = staff_of(make_user(role="Admin"))
    block = blocks.block_email_domain(by=admin, domain="example.com")
    with pytest.raises(Invalid, match="has already been taken"):
        blocks.block_email_domain(by=admin, domain="EXAMPLE.com")
    with pytest.raises(Forbidden):
        blocks.remove_block(by=moderator, block=block)
    blocks.remove_block(by=admin, block=block)
    assert not EmailDomainBlock.objects.exists()
    assert list(AuditEntry.objects.order_by("id").values_list("action", "target_type", "target_name")) == [
        ("create", "EmailDomainBlock", "example.com"),
        ("destroy", "EmailDomainBlock", "example.com"),
    ]


@pytest.mark.parametrize("wrong", ["", "nonsense", "127.0.0.1/33", "999.0.0.1"])
def test_an_invalid_network_is_not_blocked(wrong: str) -> None:
    with pytest.raises(Invalid):
        blocks.block_network(by=OPERATOR, network=wrong, severity=Severity.NO_ACCESS)


def test_an_invitation_allows_its_number_of_sign_ups_while_registrations_are_closed(app: Api, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    invite = create_invite(by=OPERATOR, max_uses=1)
    assert post(app).status_code == 403
    assert post(app, invite_code="wrong").status_code == 403
    assert codes(post(app, invite_code=invite.code, password="x")) == {"password": ["ERR_TOO_SHORT"]}
    assert not waits(post(app, invite_code=invite.code))
    assert User.objects.get().invite == invite
    assert post(app, invite_code=invite.code, username="bob", email="bob@example.com").status_code == 403
    assert Invite.objects.get().uses == 1


@pytest.mark.parametrize("why", ["expired", "inviter disabled", "inviter suspended"])
def test_an_expired_invitation_or_one_of_a_disabled_inviter_is_refused(app: Api, settings: Any, why: str) -> None:
    settings.REGISTRATIONS = "closed"
    ada = make_user("ada")
    invite = create_invite(by=staff_of(ada), inviter=ada, expires_in=timedelta(days=1))
    if why == "expired":
        Invite.objects.update(expires_at=clock.now())
    elif why == "inviter disabled":
        User.objects.filter(pk=ada.pk).update(disabled_at=clock.now())
    else:
        Account.objects.filter(pk=ada.account_id).update(suspended_at=clock.now())
    assert post(app, invite_code=invite.code).status_code == 403


@pytest.mark.parametrize(("role", "mode", "pending"), [
    (None, "approval", True), (None, "closed", True), (None, "open", False), ("Admin", "approval", False),
    ("Admin", "closed", False),
])  # fmt: skip
def test_an_invited_user_gives_no_reason_and_needs_approval_only_if_the_inviters_role_requires_it(
    app: Api, settings: Any, role: str | None, mode: str, pending: bool
) -> None:
    settings.REGISTRATIONS = mode
    ada = make_user("ada", role=role)
    invite = create_invite(by=staff_of(ada), inviter=ada)
    assert waits(post(app, invite_code=invite.code)) is pending


def test_an_invited_user_follows_the_inviter_once_the_account_is_active(app: Api, settings: Any) -> None:
    settings.REGISTRATIONS = "approval"
    ada = make_user("ada")
    invite = create_invite(by=staff_of(ada), inviter=ada, autofollow=True)
    assert waits(post(app, invite_code=invite.code))
    work()
    assert not Follow.objects.exists()
    alice = User.objects.get(account__username="alice")
    for _time in range(2):
        approve(by=OPERATOR, user=alice)
    work()
    assert Follow.objects.filter(account=alice.account_id, target=ada.account_id).exists()


def test_an_invited_user_follows_the_inviter_after_confirming_the_address(app: Api, settings: Any) -> None:
    settings.CONFIRM_EMAIL = True
    ada = make_user("ada")
    post(app, invite_code=create_invite(by=staff_of(ada), inviter=ada, autofollow=True).code)
    work()
    assert not Follow.objects.exists()
    address = EmailAddress.objects.get(user__account__username="alice")
    Client().get(confirmation_url(address).removeprefix("http://social.localhost"))
    work()
    assert Follow.objects.get().target_id == ada.account_id


def test_without_autofollow_nobody_is_followed(app: Api) -> None:
    ada = make_user("ada")
    post(app, invite_code=create_invite(by=staff_of(ada), inviter=ada).code)
    work()
    assert not Follow.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"max_uses": 0}, {"expires_in": timedelta()}, {"autofollow": True}, {"comment": "x" * 421}]
)
def test_an_invitation_that_nobody_could_use_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        create_invite(by=OPERATOR, **wrong)


@pytest.mark.django_db(transaction=True)
def test_the_last_use_of_an_invitation_is_for_one_person(settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    code, token = create_invite(by=OPERATOR, max_uses=1).code, make_token(None, "read write")

    def one(number: int) -> int:
        try:
            change = {"username": f"a{number}", "email": f"a{number}@example.com", "invite_code": code}
            return int(Api(token).post("/api/v1/accounts", FORM | change).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(4))) == [200, 403, 403, 403]
    assert (Account.objects.filter(domain=None, user__isnull=False).count(), Invite.objects.get().uses) == (1, 1)


def test_with_a_minimum_age_the_date_of_birth_is_required_and_not_stored(app: Api, settings: Any) -> None:
    settings.MINIMUM_AGE = 16
    assert codes(post(app)) == {"date_of_birth": ["ERR_BLANK"]}
    young = f"{clock.now().year - 10}-01-01"
    assert codes(post(app, date_of_birth=young)) == {"date_of_birth": ["ERR_BELOW_LIMIT"]}
    assert post(app, date_of_birth="31.12.1990").status_code == 200
    assert User.objects.get().age_verified_at is not None
    assert Api().get("/api/v2/instance").json()["registrations"]["min_age"] == 16
