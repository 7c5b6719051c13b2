"""Tests of the layout of the admin: sidebar, search and headers."""

import re

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import EmailDomainBlock, SiteSetting, User
from social.api import staff_navigation
from tests.factories.accounts import make_remote, make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
ELSEWHERE = re.compile(r"""(?:src|href|action)=["']?(?:https?:)?//""")


@pytest.fixture
def client() -> Client:
    client = signed_in(make_user("boss", role="Owner"))
    return client


def lines_of(client: Client) -> dict[str, str | None]:
    groups = client.get("/admin/").context["sidebar_navigation"]
    return {item["link"]: item["badge"] for group in groups for item in group["items"] if "badge" in item}


def test_every_table_of_the_admin_has_a_line_in_the_sidebar() -> None:
    listed = {page.model for _title, group in staff_navigation.GROUPS for page in group}
    assert {model._meta.label_lower for model in admin.site._registry} <= listed


def test_waiting_rows_are_counted_in_the_sidebar_in_one_statement(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staff_navigation, "WAITING_LIMIT", 3)
    for _number in range(2):
        User.objects.filter(id=make_user().id).update(approved=False)
    assert lines_of(client)["/admin/accounts/user/?state=waiting"] == "2"
    User.objects.filter(id=make_user().id).update(approved=False)
    with CaptureQueriesContext(connection) as queries:
        assert lines_of(client)["/admin/accounts/user/?state=waiting"] == "2+"
    assert sum("UNION ALL" in query["sql"] and "'accounts.user'" in query["sql"] for query in queries) == 1


def test_breadcrumbs_show_the_list_and_the_name_of_the_row(client: Client) -> None:
    block = EmailDomainBlock.objects.create(domain="spam.example")
    page = client.get(f"/admin/accounts/emaildomainblock/{block.pk}/change/").content.decode()
    (way,) = re.findall(r'<h1 class="overflow-hidden.*?</h1>', page, re.DOTALL)
    assert re.findall(r">\s*(\w[^<]*?)\s*</a>", way)[-1] == "spam.example"


def test_the_admin_has_the_name_of_the_server(client: Client) -> None:
    SiteSetting.objects.create(key="site_title", value="The Garden")
    assert "The Garden</title>" in client.get("/admin/").content.decode()


def test_pages_of_the_admin_load_nothing_from_other_hosts_and_have_no_inline_scripts(client: Client) -> None:
    for path in ("/admin/", "/admin/accounts/account/", "/admin/accounts/user/999/change/", "/admin/jsi18n/"):
        answer = client.get(path)
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self' 'unsafe-eval';" in policy, path
        assert "frame-ancestors 'none'" in policy
        page = answer.content.decode()
        assert not ELSEWHERE.search(page), path
        assert "<script>" not in page
    assert "unsafe" not in client.get("/auth/sign_in")["Content-Security-Policy"]


def test_the_search_finds_people_and_pages_and_shows_names(client: Client) -> None:
    make_remote("zoe", "there.example", display_name="<b>Zoe</b>")
    page = client.get("/admin/search/", {"s": "zoe", "extended": "1"}).content.decode()
    assert "@zoe@there.example" in page
    assert client.get("/admin/search/", {"s": ""}).content == b""
    assert "Roles" in client.get("/admin/search/", {"s": "role", "extended": "1"}).content.decode()


@pytest.mark.parametrize(
    "query", [{"s": "a\0"}, {"s": "a", "page": "x"}, {"s": "a", "page": "0"}, {"s": "a", "page": "99"}]
)
def test_a_search_that_the_search_field_cannot_send_is_400(client: Client, query: dict[str, str]) -> None:
    assert client.get("/admin/search/", query).status_code == 400


def test_a_moderators_search_finds_no_technical_tables(client: Client) -> None:
    client.force_login(
        make_user("mod", role="Moderator"), backend="allauth.account.auth_backends.AuthenticationBackend"
    )
    links = set(lines_of(client))
    assert "/admin/accounts/account/" in links
    assert not [link for link in links if "/federation/" in link or "/social/" in link]
