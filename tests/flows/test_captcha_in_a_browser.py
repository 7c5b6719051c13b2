"""Tests of a page whose captcha does not load: the page tells users the reason, with and without scripts."""

from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.identity.services.confirmations import confirmation_url
from social.settings.captcha import read_captcha
from tests.factories.accounts import make_user
from tests.support.captcha import captcha_service
from tests.support.chromium import find_chromium, open_tab

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
    pytest.mark.django_db(transaction=True),
]
_VISIBLE = "document.querySelector('.missing').checkVisibility({visibilityProperty: true})"


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_says_that_the_captcha_did_not_load(
    live_server: Any, settings: Any, tmp_path: Path, scripts: bool
) -> None:
    settings.BASE_URL, settings.WEB_DOMAIN = live_server.url, live_server.url.partition("//")[2]
    link = confirmation_url(EmailAddress.objects.get(user=make_user("ada", confirmed=False)), "")
    with captcha_service() as service, open_tab(tmp_path / "browser") as tab:
        # The service does not answer GET requests, so its script does not load.
        address = f"{service.address}/siteverify"
        settings.CAPTCHA = read_captcha(f"hcaptcha+http://key:s3cret@{address}", f"http://{service.address}/api.js")
        tab.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        tab.go(link)
        assert not tab.run(_VISIBLE)
        # The message appears after four seconds; animations run twenty times as fast in this test.
        tab.call("Animation.enable")
        tab.call("Animation.setPlaybackRate", playbackRate=20)
        tab.wait(_VISIBLE)
        assert "blocks 127.0.0.1." in tab.run("document.querySelector('.missing').innerText")
        tab.run("document.querySelector('.h-captcha').append('the widget')")
        assert not tab.run(_VISIBLE)
