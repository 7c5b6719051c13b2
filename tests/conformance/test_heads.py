"""Tests of the head of every page: title, description, preview and manifest; and that every page has a heading."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from accounts.models import SiteSetting
from accounts.policies.staff import OPERATOR
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_site
from social.kernel import mail
from social.kernel.identity import current_identity, forget_identity
from tests.factories.accounts import make_application, make_user
from tests.support.all_pages import FORMS_AND_FILES, OF_A_STATE, all_paths, furnish, signed_in
from tests.support.federation_server import needs_federation
from tests.support.staff_scene import made, scene

pytestmark = pytest.mark.django_db
NAME, SHOWN = "Gärten & Freunde", "Gärten &amp; Freunde"


def wrong_with(text: str, picture: str) -> list[str]:
    """Return the required elements that the head of a page lacks; `picture` is the expected name of the preview's picture."""
    head, _end, body = text.partition("</head>")
    title = re.search("<title>([^<]{3,})</title>", head)
    wanted = {
        "description": re.search('<meta name="description" content="[^"]+">', head),
        "preview": re.search('<meta property="og:title" content="[^"]+">', head),
        "picture": re.search(f'<meta property="og:image" content="http://[^"]+/{picture}">', head),
        "icon": '<link rel="icon"' in head,
        "manifest": '<link rel="manifest"' in head,
        "name in the title": title is not None and SHOWN in title[1],
        "name of the site": f'<meta property="og:site_name" content="{SHOWN}">' in head,
        "name in the body": SHOWN in body,
        "style of the owner": f"/custom.css?v={current_identity().version}" in head,
        "one description": head.count('<meta name="description"') == 1,
        "one picture": head.count('<meta property="og:image"') == 1,
        "one title": head.count("<title>") == 1,
        "one heading": len(re.findall("<h1", body)) == 1,
    }
    return [name for name, found in wanted.items() if not found]


@needs_federation
def test_every_page_has_its_heading_and_description_and_the_name_picture_and_colour_of_the_server() -> None:
    user = make_user("ada")
    change_site(by=OPERATOR, texts=SiteTexts(site_title=NAME, site_colour="#7A1FA2"))
    SiteSetting.objects.create(key="site_thumbnail", value="a/of-staff.png")
    forget_identity()
    values = furnish(user)
    # A post without media, because media would replace the default picture of the preview.
    paths = all_paths(values | {"id": values["poll_id"]})
    reader = signed_in("ada")
    wrong: dict[tuple[str, str, int], list[str]] = {}
    shown, statuses = set(), set()
    for path, name in paths.items():
        for who, client in (("visitor", Client()), ("member", reader)):
            answer = client.get(path, headers={"Accept": "text/html"})
            is_page = answer.headers.get("Content-Type", "").startswith("text/html") and b"<title>" in answer.content
            if is_page and answer.status_code not in (301, 302):
                statuses.add(answer.status_code)
                shown |= {name} if answer.status_code == 200 else set()
                previewed = who == "visitor" and answer.status_code < 400
                picture = "of-staff.png" if previewed else "(?:of-staff|thumbnail).png"
                if found := wrong_with(answer.content.decode(), picture):
                    wrong[who, path, answer.status_code] = found
    assert wrong == {}
    assert statuses >= {200, 404, 405}
    # A new page must either be requested with content here, or be listed as a form or a file.
    assert set(paths.values()) - shown - {""} == FORMS_AND_FILES | OF_A_STATE


def test_the_consent_page_and_the_admin_show_the_name_of_the_server() -> None:
    boss, application = scene(), make_application("read")
    change_site(by=OPERATOR, texts=SiteTexts(site_title=NAME, site_colour="#7A1FA2"))
    forget_identity()
    client = Client()
    client.force_login(boss, backend="allauth.account.auth_backends.AuthenticationBackend")
    asked = f"client_id={application.client_id}&redirect_uri={quote(application.redirect_uris)}"
    consent = client.get(f"/oauth/authorize?{asked}&response_type=code&scope=read").content.decode()
    assert f"<bdi>{application.name}</bdi>" in consent or application.name in consent
    assert wrong_with(consent, "[a-z.-]+png") == []
    lists = [f"{model._meta.app_label}_{model._meta.model_name}_changelist" for model in admin.site._registry]
    assert len(lists) > 30
    rows = [name.removesuffix("list") for name in lists]
    paths = [reverse(f"admin:{name}") for name in ("index", "moderation_report_inbox", *lists)]
    models = zip(rows, admin.site._registry, strict=True)
    paths += [reverse(f"admin:{name}", args=[made(model).pk]) for name, model in models]
    for name in paths:
        page = client.get(name, follow=True).content.decode()
        title = re.search("<title>(.*?)</title>", page, re.DOTALL)
        assert title is not None
        assert SHOWN in title[1], name
        assert SHOWN in page.partition("<body")[2], name


def test_every_mail_has_the_name_and_the_colour_of_the_server() -> None:
    change_site(by=OPERATOR, texts=SiteTexts(site_title=NAME, site_colour="#7A1FA2"))
    forget_identity()
    templates = sorted(Path(settings.BASE_DIR, "social/templates/mail").glob("*.subject.txt"))
    assert len(templates) > 10
    for template in templates:
        name = template.name.removesuffix(".subject.txt")
        composed = mail.compose("ada@example.org", name, {"link": "https://x.example/", "username": "ada"}, "en")
        html = str(composed.alternatives[0][0])
        assert f"<bdi>{SHOWN}</bdi>" in html, name
        assert "#7a1fa2" in html, name
        assert NAME in str(composed.message()["From"]) or "=?utf-8?" in str(composed.message()["From"]), name
