"""Tests of the settings that owners can change without a restart; environment variables take precedence."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.signing_up import sign_up
from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import find_suggested_accounts, must_confirm_email
from accounts.services.audit import write_setting
from moderation.policies.documents import SUGGESTED_LIMIT, SiteTexts
from moderation.queries.blocks import closed_among
from moderation.services.documents import change_site
from moderation.services.domain_rules import allow_domain
from social.kernel.errors import Invalid
from social.kernel.identity import current_identity, default_language, forget_identity, is_federation_limited
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import block
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
PAGE = "/admin/accounts/sitesetting/"


@pytest.fixture
def boss(settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR, settings.FIXED_SITE_SETTINGS = False, frozenset()
    settings.CONFIRM_EMAIL, settings.LIMITED_FEDERATION = False, False
    client = Client()
    client.force_login(make_user("boss", role="Owner"))
    return client


def save(client: Client, **values: Any) -> list[str]:
    """Save the form with these values changed; return the errors that it shows."""
    form = client.get(PAGE).context["form"]
    bound = {name: form[name].value() for name in form.fields}
    sent = (
        {"site_suggested_accounts": []} | {name: value for name, value in bound.items() if value is not None} | values
    )
    sent["site_suggested_accounts"] = "\n".join(sent["site_suggested_accounts"])
    answer = client.post(PAGE, {name: value for name, value in sent.items() if value is not False})
    forget_identity()
    if answer.status_code == 302:
        return []
    return [str(error) for errors in answer.context["form"].errors.values() for error in errors]


def test_confirming_addresses_takes_effect_as_soon_as_the_owner_enables_it(boss: Client) -> None:
    def signed_up(name: str) -> bool:
        sign_up(
            draft=SignUpDraft(name, f"{name}@example.org", "correct horse battery", agreement=True, reason="to talk")
        )
        return EmailAddress.objects.get(email=f"{name}@example.org").verified

    assert not must_confirm_email()
    assert signed_up("ada")
    assert save(boss, site_confirm_email="on") == []
    assert not signed_up("bob")
    assert save(boss, site_confirm_email=False) == []
    assert signed_up("cem")


def test_users_without_a_chosen_language_get_pages_and_mails_in_the_servers_language(boss: Client) -> None:
    assert 'lang="en"' in Client().get("/about").content.decode()
    assert save(boss, site_default_language="de") == []
    assert default_language() == "de"
    assert 'lang="de"' in Client().get("/about").content.decode()
    assert 'lang="en"' in Client().get("/about", headers={"Accept-Language": "en"}).content.decode()
    assert Api().get("/api/v2/instance").json()["languages"] == ["de"]
    write_setting("site_confirm_email", True)
    draft = SignUpDraft("ada", "ada@example.org", "correct horse battery", agreement=True, reason="to talk")
    sign_up(draft=draft)
    work()
    assert [message.subject for message in mail.outbox if "Adresse" in message.subject] != []
    assert save(boss, site_default_language="xx") != []


def test_limited_federation_can_be_enabled_in_the_admin(boss: Client) -> None:
    allow_domain(by=OPERATOR, domain="good.example")
    assert closed_among(["good.example", "other.example"]) == set()
    assert save(boss, site_limited_federation="on") == []
    assert is_federation_limited()
    assert closed_among(["good.example", "other.example"]) == {"other.example"}
    assert Api().get("/api/v2/instance").json()["configuration"]["limited_federation"]


def test_new_users_are_first_offered_the_accounts_that_staff_chose(boss: Client) -> None:
    make_account("popular", discoverable=True)
    make_remote("News", "social.example", discoverable=False)
    blocker, newcomer = make_account("blocker"), make_user("newcomer")
    block(blocker, newcomer.account)
    assert save(boss, site_suggested_accounts=["@News@social.example", "popular", "@blocker"]) == []
    found = Api(make_token(newcomer)).get("/api/v2/suggestions").json()
    assert [(each["account"]["acct"], each["source"], each["sources"]) for each in found] == [
        ("News@social.example", "staff", ["featured"]),
        ("popular", "staff", ["featured"]),
    ]
    (error,) = save(boss, site_suggested_accounts=["@nobody", "@popular"])
    assert "@nobody" in error
    with pytest.raises(Invalid):
        change_site(by=OPERATOR, texts=SiteTexts(site_suggested_accounts=("popular",) * (SUGGESTED_LIMIT + 1)))
    assert find_suggested_accounts() == ["@News@social.example", "popular", "@blocker"]


def test_a_language_is_found_by_its_name_instead_of_in_a_long_list(boss: Client) -> None:
    page = boss.get(PAGE).content.decode()
    assert '<option value="German">' in page
    assert 'name="site_languages"' not in page
    assert save(boss, add_languages="german, Arabic,fr") == []
    page = boss.get(PAGE).content.decode()
    assert re.findall(r'name="site_languages" value="([^"]+)"', page) == ["ar", "de", "fr"]
    assert save(boss, add_languages="German, Klingon") == ["There is no language Klingon."]


def test_settings_of_the_environment_are_shown_and_cannot_be_edited(boss: Client, settings: Any) -> None:
    settings.CONFIRM_EMAIL, settings.LIMITED_FEDERATION, settings.DEFAULT_LANGUAGE = True, True, "ar"
    settings.FIXED_SITE_SETTINGS = frozenset({"CONFIRM_EMAIL", "LIMITED_FEDERATION", "DEFAULT_LANGUAGE"})
    forget_identity()
    assert save(boss, site_confirm_email=False, site_limited_federation=False, site_default_language="de") == []
    assert must_confirm_email()
    assert (current_identity().limited_federation, current_identity().language) == (True, "ar")
    page = boss.get(f"{PAGE}?q=servers").content.decode()
    for name in settings.FIXED_SITE_SETTINGS:
        assert f"environment as {name}" in page or "بيئة" in page
    assert 'href="/admin/moderation/domainallow/"' in page
