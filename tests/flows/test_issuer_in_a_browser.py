"""Tests of signing up, in and out, and of linking, through a real issuer (oidc-provider) in Chromium."""

from pathlib import Path
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount

from accounts.models import User
from social.settings.issuers import Issuer
from tests.factories.accounts import make_user
from tests.interop.node_server import NodeServer
from tests.support.axe import AXE, violations
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.issuer import SECRET

pytestmark = [
    pytest.mark.verify,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
    pytest.mark.timeout(900),
]
#: A script that presses the button on each page of the issuer, and enters the username if a page asks for it.
_GO_ON: Final = """(() => {
  if (location.origin === %r || document.readyState !== 'complete') return location.origin === %r;
  const login = document.querySelector('[name=login]');
  if (login) { login.value = %r; document.querySelector('[name=password]').value = 'any'; }
  const button = document.querySelector('button[type=submit], [type=submit], form button');
  if (button && !window.pressed) { window.pressed = true; button.click(); }
  return false;
})()"""


class Journey:
    """A browser that is redirected between this server and the issuer."""

    def __init__(self, tab: Tab, site: str) -> None:
        self.tab, self.site = tab, site

    def through(self, name: str, path: str) -> None:
        """Sign in as this user at the issuer, and wait until this server shows the page with this path."""
        here = (
            f"location.origin === '{self.site}' && location.pathname === '{path}' && document.readyState === 'complete'"
        )
        self.tab.wait(f"location.origin !== {self.site!r}", 60)
        self.tab.wait(_GO_ON % (self.site, self.site, name), 60)
        self.tab.wait(here, 60)

    def press(self, selector: str) -> None:
        """Press a button that leads to pages of another host."""
        self.tab.run(f"document.querySelector({selector!r}).click()")

    def looks_right(self) -> None:
        """Fail if axe-core, where it is installed, finds a problem on the page."""
        if AXE.is_file():
            assert violations(self.tab) == []


def test_users_of_an_issuer_sign_up_sign_in_sign_out_and_link_existing_accounts(
    live_server: Any, settings: Any, tmp_path: Path
) -> None:
    site = live_server.url
    settings.BASE_URL, settings.WEB_DOMAIN = site, site.partition("//")[2]
    bob = make_user("bob")
    with NodeServer("oidc-provider", site) as server, open_tab(tmp_path) as tab:
        settings.ISSUERS_LOOPBACK = True
        settings.ISSUERS = (
            Issuer(
                *("org", "The Organisation", server.url, "social", SECRET, ("openid", "profile", "email", "groups")),
                role_claim="groups",
                roles={"mods": "Moderator"},
            ),
        )
        # The issuer's pages load fonts from other hosts.
        tab.call("Network.enable")
        tab.call("Network.setBlockedURLs", urls=["https://*"])
        journey = Journey(tab, site)
        # Sign up: the username is proposed, the address is already confirmed, and the requested page opens.
        tab.go(f"{site}/auth/sign_in?next=/settings/profile")
        journey.looks_right()
        journey.press("form[action='/auth/with/org'] button")
        journey.through("mona", "/auth/with")
        assert tab.run("document.querySelector('[name=username]').value") == "mona"
        assert tab.run("document.querySelector('[name=email]').value") == "mona@org.example"
        journey.looks_right()
        tab.run("document.querySelector('[name=agreement]').click()")
        assert tab.press("main form [type=submit]") == "/settings/profile"
        mona = User.objects.get(account__username="mona")
        assert (mona.email, mona.role.name, mona.has_usable_password()) == ("mona@org.example", "Moderator", False)

        # Pages that concern the account's security require another sign-in at the issuer, and then open.
        tab.go(f"{site}/settings/delete")
        assert tab.run("location.pathname") == "/auth/identities/again"
        journey.looks_right()
        journey.press("form[action='/auth/identities/again/org'] button")
        tab.wait(f"location.origin === '{site}' && location.pathname === '/settings/delete'", 60)

        # Signing out also signs out at the issuer: the next user must enter a name.
        tab.go(f"{site}/auth/sign_out")
        journey.press("main form [type=submit]")
        journey.through("", "/auth/sign_in")
        journey.press("form[action='/auth/with/org'] button")
        journey.through("mona", "/")
        assert "mona" in tab.run("document.body.textContent")
        tab.go(f"{site}/auth/sign_out")
        journey.press("main form [type=submit]")
        journey.through("", "/auth/sign_in")

        # A user with an account links it, and can then sign in either way.
        tab.fill(login="bob", password="correct horse")
        assert tab.press("form:not([data-passkey]):not([action]) [type=submit]") == "/"
        tab.go(f"{site}/auth/identities")
        journey.looks_right()
        assert tab.press("form[action='/auth/identities/link/org'] button") == "/auth/reauthenticate"
        tab.fill(password="correct horse")
        journey.press("main form [type=submit]")
        journey.through("robert", "/auth/identities")
        assert "robert" in tab.run("document.querySelector('main').textContent")
        journey.looks_right()
        assert SocialAccount.objects.get(user=bob).uid == "robert"
        tab.call("Network.clearBrowserCookies")
        tab.go(f"{site}/auth/sign_in")
        journey.press("form[action='/auth/with/org'] button")
        journey.through("robert", "/")
        assert "@bob" in tab.run("document.body.textContent")
        tab.go(f"{site}/auth/identities")
        assert tab.press("form[action$='/unlink'] button") == "/auth/reauthenticate"
        tab.fill(password="correct horse")
        assert tab.press("main form [type=submit]") == "/auth/identities"
        assert not SocialAccount.objects.filter(user=bob).exists()

        # The issuer is the only way to sign in: there are no passwords, and an e-mail address at the issuer does not select a
        # local account.
        settings.ISSUERS_ONLY = True
        User.objects.filter(pk=bob.pk).update(email="carl@org.example")
        EmailAddress.objects.filter(user=bob).update(email="carl@org.example")
        tab.call("Network.clearBrowserCookies")
        tab.go(f"{site}/auth/sign_in")
        assert tab.run("document.querySelector('[type=password]')") is None
        journey.looks_right()
        journey.press("form[action='/auth/with/org'] button")
        journey.through("carl", "/auth/with")
        tab.run("document.querySelector('[name=agreement]').click()")
        assert tab.press("main form [type=submit]") == "/auth/with"
        assert tab.run("document.querySelector('.wrong [name=email]').value") == "carl@org.example"
        journey.looks_right()
        assert SocialAccount.objects.get().user == mona
        # Problems of the issuer's pages do not count; neither does the browser's message about a refused form.
        assert [each for each in tab.problems if site in each and "status of 422" not in each] == []
