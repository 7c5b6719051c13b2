"""Tests of the permission that each endpoint for staff requires, with each role."""

import re
from typing import Any, Final

import pytest
from allauth.mfa.models import Authenticator

from accounts.models import Role, User
from accounts.models.user import Permission
from social.api.declarations import Endpoint
from social.api.routing import endpoints
from social.urls import urlpatterns
from tests.factories.accounts import make_token, make_user
from tests.support.access_checks import find_endpoint
from tests.support.client import Api

P = Permission
# From the contract (behaviours section 18, endpoints.tsv); the first match counts.
NEEDED: Final = (
    ("delete", r"api/v1/admin/accounts/<id>", P.DELETE_USER_DATA),
    ("post", r"api/v1/admin/accounts/<id>/action", P.MANAGE_USERS | P.MANAGE_REPORTS),
    ("", r"api/v[12]/admin/accounts.*", P.MANAGE_USERS),
    ("", r"api/v1/admin/reports.*", P.MANAGE_REPORTS),
    ("", r"api/v1/admin/domain_(blocks|allows|permission_(subscriptions|drafts|excludes)).*", P.MANAGE_FEDERATION),
    ("", r"api/v1/admin/(email_domain|canonical_email|ip)_blocks.*", P.MANAGE_BLOCKS),
    ("", r"api/v1/admin/(measures|dimensions|retention)", P.VIEW_DASHBOARD),
    ("", r"api/v1/admin/tags.*", P.MANAGE_TAXONOMIES),
    ("post", r"api/v1/admin/trends/.*", P.MANAGE_TAXONOMIES),
    ("get", r"api/v1/admin/trends/links/publishers", P.MANAGE_TAXONOMIES),
)
# Without the permission these endpoints return the public lists.
PUBLIC: Final = re.compile(r"get api/v1/admin/trends/(tags|statuses|links)")


def needed(method: str, path: str) -> Permission | None:
    if PUBLIC.fullmatch(f"{method} {path}"):
        return None
    for wanted, pattern, permission in NEEDED:
        if wanted in ("", method) and re.fullmatch(pattern, path):
            return permission
    raise AssertionError(f"NEEDED has no permission for {method.upper()} {path}")


ROUTES: Final = [
    (method, pattern.path, permission)
    for pattern in endpoints(urlpatterns)
    if "/admin/" in pattern.path
    for method in pattern.actions
    if method != "head" and (permission := needed(method, pattern.path)) is not None
]


def declaration_of(method: str, path: str) -> Endpoint:
    return find_endpoint(f"{method.upper()} {path}").declared(method)


def ask(api: Api, method: str, path: str) -> Any:
    return api.request(method.upper(), "/" + re.sub(r"<[a-z_]+>", "9000000000000000000", path), {})


@pytest.fixture
def actor(db: None) -> tuple[Role, Api]:
    role = Role.objects.create(name="One", position=50, permissions=0)
    user = make_user("somebody")
    User.objects.filter(pk=user.pk).update(role=role)
    return role, Api(make_token(user, "admin:read admin:write"))


def give(role: Role, permissions: int) -> None:
    Role.objects.filter(pk=role.pk).update(permissions=permissions)


def test_seed_152_each_endpoint_of_staff_requires_its_permission_and_no_other(actor: tuple[Role, Api]) -> None:
    role, api = actor
    everything = sum(P) & ~P.ADMINISTRATOR
    for method, path, permission in ROUTES:
        give(role, everything & ~permission)
        refused = ask(api, method, path)
        assert (refused.status_code, refused.json()) == (403, {"error": "This action is not allowed"}), (method, path)
        give(role, permission)
        assert ask(api, method, path).status_code in (200, 400, 404, 422), (method, path)


def test_each_endpoint_of_staff_declares_the_permission_that_the_contract_names() -> None:
    declared = {(method, path): declaration_of(method, path).access.permission for method, path, _permission in ROUTES}
    assert declared == {(method, path): permission for method, path, permission in ROUTES}


@pytest.mark.verify
@pytest.mark.parametrize("held", [0, *P, P.INVITE_USERS | P.INVITE_BYPASS_APPROVAL], ids=repr)
def test_each_role_gives_access_to_its_endpoints_only(actor: tuple[Role, Api], held: int) -> None:
    role, api = actor
    give(role, held)
    for method, path, permission in ROUTES:
        answer = ask(api, method, path)
        opens = bool(held & (permission | P.ADMINISTRATOR))
        assert (answer.status_code != 403) == opens, (method, path, answer.content)


@pytest.mark.verify
@pytest.mark.django_db
def test_every_endpoint_of_staff_refuses_requests_without_a_token() -> None:
    for method, path, _permission in ROUTES:
        assert ask(Api(), method, path).status_code in (401, 403), (method, path)


def test_staff_who_must_have_a_second_factor_and_have_none_are_refused_by_every_endpoint(
    actor: tuple[Role, Api], settings: Any
) -> None:
    role, api = actor
    give(role, P.ADMINISTRATOR)
    settings.STAFF_SECOND_FACTOR = True
    refused = (403, {"error": "Your account requires two-factor authentication"})
    routes = [(method, path) for method, path, _permission in ROUTES]
    routes += [("get", f"api/v1/admin/trends/{kind}") for kind in ("tags", "statuses", "links")]
    for method, path in routes:
        answer = ask(api, method, path)
        assert (answer.status_code, answer.json()) == refused, (method, path)
    Authenticator.objects.create(user=User.objects.get(role=role), type=Authenticator.Type.TOTP, data={})
    for method, path in routes:
        assert ask(api, method, path).status_code != 403, (method, path)
