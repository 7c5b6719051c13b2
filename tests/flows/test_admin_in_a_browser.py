"""Tests in Chromium that axe-core finds no fault on any admin page, in all themes and sizes, and that no page makes foreign
requests.
"""

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils.regex_helper import normalize

from accounts.models import Account
from moderation.acts import REPORTED_POST_ACTS
from statuses.models import Status
from tests.factories.accounts import make_user
from tests.support.all_pages import patterns_of
from tests.support.axe import loaded_from_elsewhere, needs_axe, show_at, sign_in, violations
from tests.support.chromium import Tab, open_tab
from tests.support.federation_server import needs_federation
from tests.support.staff_scene import made, scene

pytestmark = [pytest.mark.verify, needs_federation, pytest.mark.django_db(transaction=True), *needs_axe]


def addresses(client: Client) -> Iterator[str]:
    """Yield the addresses of all admin pages, including the pages of one row of each model and the filtered inbox."""
    inbox, ada = reverse("admin:moderation_report_inbox"), Account.objects.get(username="ada")
    post = Status.objects.filter(account=ada, visibility="public").latest("pk")
    models = {f"{model._meta.app_label}/{model._meta.model_name}": model for model in admin.site._registry}
    yield from (f"{inbox}?category=none", f"{inbox}?mine=yes", "/admin/nothing/")
    for _name, expression in patterns_of(admin.site.get_urls()):
        for path, parameters in normalize(expression):
            model = models.get("/".join(path.split("/")[:2]))
            values = {"object_id": made(model).pk if model else 1, "account_id": ada.pk, "status_id": post.pk}
            values |= {"name": REPORTED_POST_ACTS[0].name}
            address = "/admin/" + path % {each: values.get(each, 1) for each in parameters}
            answer = client.get(address)
            is_html = answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html")
            if is_html and b"<html" in answer.content:
                yield address


def wrong_on(tab: Tab, where: str) -> list[Any]:
    """Return the problems of the current page, at both widths and in both themes."""
    found = []
    for width in (1280, 390):
        for theme in ("light", "dark"):
            show_at(tab, width, theme)
            # The theme reads the user's preference only when a page is opened.
            tab.run(f"document.documentElement.classList.toggle('dark', {str(theme == 'dark').lower()})")
            found += [(where, width, theme, *each) for each in violations(tab, colours_only=theme == "dark")]
            if tab.run("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"):
                found.append((where, width, theme, "wider than the window"))
    return found


@pytest.mark.parametrize("part", range(4))
def test_every_page_of_the_admin_is_accessible_and_loads_nothing_from_other_servers(
    live_server: Any, settings: Any, tmp_path: Path, part: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STAFF_SECOND_FACTOR = False
    boss, client = scene(), Client()
    client.force_login(boss, backend="allauth.account.auth_backends.AuthenticationBackend")
    paths = list(addresses(client))
    assert len(paths) > 100
    assert Status.objects.exists()
    wrong: list[Any] = []
    with open_tab(tmp_path / "browser") as tab:
        tab.call("Page.setBypassCSP", enabled=True)
        sign_in(tab, live_server.url, boss)
        for path in paths[part::4]:
            show_at(tab, 1280, "light")
            tab.go(live_server.url + path)
            wrong += loaded_from_elsewhere(tab, live_server.url)
            wrong += wrong_on(tab, path)
            # Two of the pages are meant to show an error.
            wrong += [(path, each) for each in tab.problems if path not in each]
            tab.problems.clear()
    assert not wrong, pformat(wrong)


# A script that finds list values without the label of their column, names that are cut off beside buttons, and small targets.
_UNREADABLE = """(() => {
  const found = [], seen = each => each.getClientRects().length;
  for (const cell of document.querySelectorAll('#result_list tbody td:not(.action-checkbox)'))
    if (seen(cell) && !cell.querySelector(':scope > :not(time)') && getComputedStyle(cell, '::before').content === 'none')
      found.push('no label: ' + cell.dataset.label + ' ' + cell.textContent.trim());
  const parts = [...document.querySelectorAll('#header-inner h1 > *')].filter(seen);
  if (parts.length > 1 && parts.some(each => each.scrollWidth > each.clientWidth)) found.push('cut: ' + parts[0].textContent);
  for (const link of document.querySelectorAll('#header-inner a'))
    if (seen(link) && Math.min(link.offsetWidth, link.offsetHeight) < 24) found.push('small: ' + link.outerHTML);
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push('too wide');
  return found;
})()"""


@pytest.mark.timeout(600)
def test_lists_and_rows_of_the_admin_are_readable_on_a_phone(live_server: Any, settings: Any, tmp_path: Path) -> None:
    settings.BASE_URL, settings.STAFF_SECOND_FACTOR = live_server.url, False
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    boss = scene()
    wrong: list[Any] = []
    with open_tab(tmp_path / "browser") as tab:
        sign_in(tab, live_server.url, boss)
        show_at(tab, 390, "light")
        for model in admin.site._registry:
            assert " object (" not in str(made(model))
            name, row = f"admin:{model._meta.app_label}_{model._meta.model_name}", made(model)
            for path in (reverse(f"{name}_changelist"), row.pk and reverse(f"{name}_change", args=[row.pk])):
                tab.go(f"{live_server.url}{path or '/admin/'}")
                wrong += [(path, each) for each in tab.run(_UNREADABLE)]
        tab.run("document.documentElement.classList.add('dark')")
        assert tab.run("getComputedStyle(document.body).colorScheme") == "dark"
    assert not wrong, pformat(wrong)


def test_the_retention_table_and_the_icons_fit_the_screen_of_a_phone(
    live_server: Any, settings: Any, tmp_path: Path
) -> None:
    settings.BASE_URL, settings.STAFF_SECOND_FACTOR = live_server.url, False
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    with open_tab(tmp_path / "browser") as tab:
        sign_in(tab, live_server.url, make_user("boss", role="Owner"))
        show_at(tab, 390, "light")
        tab.go(f"{live_server.url}/admin/")
        narrow = tab.run(
            "[...document.querySelectorAll('.staff-steps .material-symbols-outlined')].filter(icon =>"
            " icon.getBoundingClientRect().width < parseFloat(getComputedStyle(icon).fontSize)).map(icon => icon.textContent)"
        )
        height, wide = tab.run(
            "[document.querySelector('[aria-labelledby=retention]').offsetHeight,"
            " document.documentElement.scrollWidth > document.documentElement.clientWidth + 1]"
        )
    assert not narrow, "icons are cut off"
    assert 100 < height < 600
    assert not wide
