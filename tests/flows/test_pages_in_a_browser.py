"""Pages of the site in Chromium: accessible by axe-core, still while they load, and asking no other server."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

from accounts.models import Invite
from moderation.models import InstanceRule, Strike, TermsOfService
from social.kernel import clock
from tests.factories.accounts import make_application, make_user
from tests.factories.statuses import make_media, make_poll, make_status
from tests.support.axe import loaded_from_elsewhere, needs_axe, show_at, violations
from tests.support.chromium import Tab, open_tab
from tests.support.federation_server import needs_federation

pytestmark = [pytest.mark.verify, needs_federation, pytest.mark.django_db(transaction=True), *needs_axe]
OPEN = ("/", "/about", "/privacy-policy", "/explore", "/explore/people", "/public", "/tags/tree", "/@ada", "/@ada/media",
        "/@ada/with_replies", "/@ada/followers", "/@ada/follow", "/auth/sign_in", "/auth/sign_up", "/auth/password/reset",
        "/nothing")  # fmt: skip
OWN = ("/", "/settings", "/settings/profile", "/settings/preferences", "/auth/second_factor", "/auth/sessions",
       "/auth/password", "/settings/imports", "/settings/export", "/settings/delete", "/settings/migration",
       "/settings/old_posts", "/severed_relationships", "/invites", "/share", "/disputes/strikes",
       "/oauth/authorized_applications", "/auth/email", "/auth/sign_out", "/auth/reauthenticate",
       "/auth/second_factor/app/activate", "/auth/second_factor/codes", "/auth/passkeys/add",
       "/authorize_interaction?uri=nobody@nowhere.example", "/admin/", "/notifications", "/write", "/explore", "/public",
       "/conversations", "/bookmarks", "/favourites", "/lists", "/followed_tags", "/mutes", "/blocks", "/domain_blocks",
       "/follow_requests", "/filters", "/scheduled", "/notifications/requests", "/@bob", "/tags/tree")  # fmt: skip
# The script of passkeys reveals its button on the sign-in page; everything else is where it stays.
_SEEN_SHIFT = 0.01
_SHIFTS = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""


def problems(tab: Tab, url: str) -> list[Any]:
    """What is wrong with a page."""
    tab.go(url)
    site = "/".join(url.split("/")[:3])
    loaded = loaded_from_elsewhere(tab, site)
    shifted = tab.run("window.shifted")
    return [*loaded, *([f"shifted by {shifted}"] if shifted > _SEEN_SHIFT else []), *violations(tab)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_accessible_still_and_ask_no_other_server(
    live_server: Any, settings: Any, tmp_path: Path, theme: str, width: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    user = make_user("ada", discoverable=True)
    account = user.account
    status = make_status(account, "one #tree", media=[make_media(account, "A tree"), make_media(account)])
    make_status(account, "two", spoiler_text="careful", sensitive=True, media=[make_media(account, "A bee")])
    poll = make_poll(account, "yes", "no")
    make_status(make_user("bob").account, "hello @ada", reply_to=status)
    InstanceRule.objects.create(text="Be kind", hint="To everybody")
    TermsOfService.objects.create(text="# Terms", effective_date=clock.now().date(), published_at=clock.now())
    invite = Invite.objects.create(inviter=user, code="plantatree")
    strike = Strike.objects.create(target_account=account, action="silence", text="Too much")
    application = make_application("read write")
    consent = f"/oauth/authorize?client_id={application.client_id}&redirect_uri={quote(application.redirect_uris)}"
    consent += "&response_type=code&scope=read+write"
    posts = [f"/@ada/{number}{end}" for number in (status.id, poll.status_id) for end in ("", "/embed", "/interact")]
    with open_tab(tmp_path / "browser") as tab:
        show_at(tab, width, theme)
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SHIFTS)

        def wrong_of(*paths: str) -> dict[str, Any]:
            return {path: found for path in paths if (found := problems(tab, live_server.url + path))}

        wrong = wrong_of(*OPEN, *posts, f"/invite/{invite.code}", "/oauth/authorize?client_id=nobody")
        # By the form: some pages ask again who has not just signed in.
        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press("form:not([data-passkey]) [type=submit]") == "/"
        wrong |= wrong_of(*OWN, consent, f"/disputes/strikes/{strike.id}")
        # A second factor at the sign-in, and the pages of who has one.
        TOTP.activate(user, generate_totp_secret())
        assert Authenticator.objects.filter(user=user).exists()
        wrong |= wrong_of("/auth/second_factor?again", "/auth/second_factor/app/deactivate")
        tab.call("Network.clearBrowserCookies")
        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press("form:not([data-passkey]) [type=submit]") == "/auth/second_factor/sign_in"
        if found := violations(tab):
            wrong["second factor"] = found
    assert wrong == {}
