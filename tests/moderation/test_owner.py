"""Tests that every page contains the server's name, pictures, colour and style sheet, and that these can do no harm."""

import re
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from PIL import Image

from accounts.models import Role, User
from accounts.models.user import Permission
from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import find_media_budget, find_minimum_age
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_icon, change_site
from social.kernel import mail
from social.kernel.colours import CONTRAST, contrast, make_palette
from social.kernel.errors import Invalid
from social.kernel.identity import Identity, current_identity, forget_identity, source
from tests.factories.accounts import make_user
from tests.support.identities import show_identity

pytestmark = pytest.mark.django_db
NAME = "Gärten & Freunde"


def a_picture(width: int, height: int) -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), "#7a1fa2").save(file, "PNG")
    return file.getvalue()


SHOWN = "Gärten &amp; Freunde"


def test_the_name_and_the_colour_are_used_in_manifest_mail_and_feed(client: Client) -> None:
    show_identity(Identity(title=NAME, colour="#7a1fa2"))
    manifest = client.get("/manifest").json()
    assert manifest["theme_color"] == "#7a1fa2"
    composed = mail.compose("anna@example.org", "approval", {"link": "https://x.example/", "username": "anna"}, "en")
    assert "background: #7a1fa2; color: #ffffff" in str(composed.alternatives[0][0])
    make_user("anna")
    assert f"– {SHOWN}</title>" in client.get("/@anna.rss").content.decode()
    assert 'fill="#7a1fa2"' in client.get("/icon.svg").content.decode()


@pytest.mark.parametrize("colour", ["#7a1fa2", "#ffee00", "#000000", "#ffffff", "#ff0000", "#00ff00", "#808080"])
def test_any_chosen_colour_is_readable_in_the_light_and_the_dark_theme(colour: str) -> None:
    palette = make_palette(colour)
    for theme, papers in ((palette.light, ("#f6f5f1", "#ffffff")), (palette.dark, ("#12171a", "#1a2125"))):
        for accent in (theme.accent, theme.accent_over):
            assert contrast(theme.on_accent, accent) >= CONTRAST
            assert all(contrast(paper, accent) >= CONTRAST for paper in (*papers, theme.tint))


def test_a_readable_colour_is_not_changed() -> None:
    assert make_palette("#7a1fa2").light.accent == "#7a1fa2"
    assert make_palette("#ffee00").dark.accent == "#ffee00"


def test_the_style_sheet_is_cached_for_a_long_time_only_at_its_versioned_address(client: Client) -> None:
    assert "custom.css" not in client.get("/about").content.decode()
    change_site(by=OPERATOR, texts=SiteTexts(site_custom_css=".top { color: red }</style><script>"))
    forget_identity()
    page = client.get("/about")
    address = re.search(r'href="(/custom\.css\?v=\w+)"', page.content.decode())
    assert address is not None
    sheet = client.get(address[1])
    assert sheet.content.decode() == ".top { color: red }</style><script>"
    assert sheet.headers["Content-Type"] == "text/css; charset=utf-8"
    assert sheet.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in sheet.headers["Cache-Control"]
    assert "immutable" not in client.get("/custom.css?v=other").headers["Cache-Control"]
    # The policy makes the style sheet harmless: nothing is loaded from elsewhere, and nothing runs.
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "style-src 'self';" in policy
    assert "script-src" not in policy


def test_an_invalid_colour_is_refused() -> None:
    for wrong in ("red", "#12", "#12345g", "url(x)", "#123456;"):
        with pytest.raises(Invalid):
            change_site(by=OPERATOR, texts=SiteTexts(site_colour=wrong))


def test_icons_are_squares_on_pages_and_in_the_instance_document(client: Client, settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    change_icon(by=OPERATOR, data=a_picture(600, 400))
    forget_identity()
    page = client.get("/about").content.decode()
    icons = client.get("/api/v2/instance").json()["icon"]
    assert [icon["size"] for icon in icons] == ["512x512", "192x192", "48x48"]
    for icon in icons:
        assert icon["src"].startswith(django_settings.BASE_URL)
    assert f'src="{icons[-1]["src"].removeprefix(django_settings.BASE_URL)}"' in page
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 3
    change_icon(by=OPERATOR, data=None)
    forget_identity()
    assert "static/icon.svg" in client.get("/about").content.decode()


def test_pages_show_the_last_known_name_while_the_database_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Identity:
        raise OperationalError

    show_identity(Identity(title=NAME))
    forget_identity()
    with source.replaced(fails):
        assert current_identity().name == NAME


def test_staff_find_settings_by_words_and_save_the_appearance(settings: Any, tmp_path: Any) -> None:
    settings.STAFF_SECOND_FACTOR, settings.MEDIA_ROOT = False, tmp_path
    owner: User = make_user("boss", role="Owner")
    browser = Client()
    browser.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    found = browser.get("/admin/accounts/sitesetting/?q=public+hashtag").content.decode()
    assert 'href="#id_site_access_hashtag_feeds_local"' not in found
    found = browser.get("/admin/accounts/sitesetting/?q=timelines+hashtags").content.decode()
    assert 'href="#id_site_access_hashtag_feeds_local"' in found
    form = re.findall(r'<(?:input|select|textarea)[^>]* name="(site_[a-z_]+)"', found)
    sent = {name: "public" for name in form if name.startswith("site_access_")}
    sent |= {name: "0" for name in form if name.startswith("site_keep_")}
    sent |= {"site_show_domain_blocks": "all", "site_show_domain_blocks_rationale": "all", "site_landing_page": "about"}
    sent |= {"site_minimum_age": "16", "site_remote_media_megabytes": "500", "site_remote_posts_limit": "0"}
    sent |= {"site_title": NAME, "site_colour": "#FE0", "site_languages": "de"}
    picture = SimpleUploadedFile("icon.png", a_picture(64, 64), content_type="image/png")
    answer = browser.post("/admin/accounts/sitesetting/", {**sent, "icon": picture})
    assert answer.status_code == 302, re.findall(r"error[^<]*<[^<]*", answer.content.decode())[:5]
    forget_identity()
    assert (current_identity().name, current_identity().colour) == (NAME, "#ffee00")
    assert (find_minimum_age(), find_media_budget()) == (16, 500_000_000)
    assert set(current_identity().icons) == {"512", "192", "48"}


def test_unused_permissions_are_not_offered_but_a_role_keeps_those_it_has(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    role = Role.objects.create(
        name="Helpers", position=10, permissions=Permission.MANAGE_EMAIL_SUBSCRIPTIONS | Permission.MANAGE_RULES
    )
    browser, address = Client(), f"/admin/accounts/role/{role.pk}/change/"
    browser.force_login(make_user("boss", role="Owner"), backend="allauth.account.auth_backends.AuthenticationBackend")
    page = browser.get(address).content.decode()
    assert f'value="{int(Permission.MANAGE_RULES)}"' in page
    assert f'value="{int(Permission.MANAGE_EMAIL_SUBSCRIPTIONS)}"' not in page
    sent = {"name": "Helpers", "position": "10", "color": "", "bits": [str(int(Permission.MANAGE_REPORTS))]}
    assert browser.post(address, sent).status_code == 302
    role.refresh_from_db()
    assert role.permissions == Permission.MANAGE_EMAIL_SUBSCRIPTIONS | Permission.MANAGE_REPORTS
