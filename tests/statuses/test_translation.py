"""Tests of translating posts through the operator's service, from which only text is accepted."""

import html
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, User
from social.api import limits
from social.kernel import translation
from social.settings import env
from statuses.models import Status
from statuses.policies.polls import PollDraft
from statuses.policies.translations import prepare_html, restore_html
from tests.factories.accounts import make_remote
from tests.factories.statuses import edit, follow, make_media, make_reblog, make_remote_status, make_status
from tests.statuses.conftest import api_of
from tests.support.client import Api, signed_in
from tests.support.entities import check
from tests.support.translator import KEY, Translator, translating

pytestmark = pytest.mark.django_db
FAILURE = {"error": "The translation service is not working at the moment. Try again later."}


@pytest.fixture
def service(settings: Any) -> Iterator[Translator]:
    with translating() as translator:
        settings.TRANSLATION_SERVICE = f"libretranslate+{translator.address}"
        settings.TRANSLATION_SERVICE_LOOPBACK = True
        yield translator


@pytest.fixture
def deepl(service: Translator, settings: Any) -> Translator:
    settings.TRANSLATION_SERVICE = f"deepl+http://{KEY}@127.0.0.1:{service.http.server_port}"
    return service


def translate(account: Account, status: Status, lang: str | None = "en", code: int = 200) -> Any:
    sent = None if lang is None else {"lang": lang}
    answer = api_of(account).post(f"/api/v1/statuses/{status.id}/translate", sent)
    assert answer.status_code == code, answer.content
    if code == 200:
        check("Translation", answer.json())
    return answer.json()


def test_all_texts_of_a_post_are_translated_and_untranslatable_parts_stay(
    alice: Account, bob: Account, service: Translator, media_root: Path
) -> None:
    CustomEmoji.objects.create(shortcode="cat", image="cat.png")
    picture = make_media(alice, "eine <Katze>\nauf dem Dach")
    post = make_status(
        alice,
        "katzen & hunde :cat: @bob #katzen https://example.com/eine/katze",
        spoiler_text="katzen :cat: <3",
        media=[picture],
        language="de",
    )
    found = translate(bob, post)
    content = Status.objects.get(id=post.id).content
    assert found["content"] == content.replace("katzen &amp; hunde", "KATZEN &amp; HUNDE")
    assert found["spoiler_text"] == "KATZEN :cat: <3"
    assert found["media_attachments"] == [{"id": str(picture.id), "description": "EINE <KATZE>\nAUF DEM DACH"}]
    assert (found["language"], found["detected_source_language"]) == ("en", "de")
    assert (found["provider"], found["poll"]) == ("LibreTranslate", None)
    (sent,) = service.translations
    assert (sent["source"], sent["target"], sent["format"], "api_key" in sent) == ("de", "en", "html", False)

    poll = make_status(alice, "was?", language="de", poll=PollDraft(options=("rot & :cat:", "grün"), expires_in=600))
    options = translate(bob, poll)["poll"]["options"]
    assert options == [{"title": "ROT & :cat:"}, {"title": "GRÜN"}]


def test_requests_to_deepl_follow_its_api(alice: Account, deepl: Translator) -> None:
    found = translate(alice, make_status(alice, "katzen", language="de"), "zh-CN")
    assert (found["content"], found["language"], found["provider"]) == ("<p>KATZEN</p>", "zh-HANS", "DeepL.com")
    assert deepl.translations == [
        {"text": ["<p>katzen</p>"], "source_lang": "DE", "target_lang": "ZH-HANS", "tag_handling": "html"}
    ]
    # The region of a language is used if the service supports it, and otherwise left out.
    assert translate(alice, make_status(alice, "a", language="de"), "en-GB")["language"] == "en-GB"
    assert translate(alice, make_status(alice, "b", language="de"), "pt_BR")["language"] == "pt"
    deepl.answer = (456, b"")
    used_up = translate(alice, make_status(alice, "c", language="de"), "en", 503)
    assert used_up == {"error": "This server has used up its translations for now."}
    deepl.answer = (429, b"")
    assert "Try again later" in translate(alice, make_status(alice, "d", language="de"), "en", 503)["error"]


def test_a_post_without_a_language_is_translated_from_the_detected_language(
    alice: Account, service: Translator
) -> None:
    post = make_remote_status(make_remote("zoe"), "<p>neko</p>", language=None)
    assert translate(alice, post)["detected_source_language"] == "ja"
    assert service.translations[0]["source"] == "auto"
    known = Api().get("/api/v1/instance/translation_languages").json()
    check("TranslationLanguages", known)
    assert known == {"de": ["en", "ja"], "en": ["de", "ja"], "ja": ["de", "en"], "und": ["de", "en", "ja"]}


def test_the_instance_document_shows_whether_translation_is_available(
    alice: Account, service: Translator, settings: Any
) -> None:
    def enabled() -> bool:
        found: bool = Api().get("/api/v2/instance").json()["configuration"]["translation"]["enabled"]
        return found

    assert enabled()
    settings.TRANSLATION_SERVICE = ""
    assert not enabled()
    assert Api().get("/api/v1/instance/translation_languages").json() == {}
    assert translate(alice, make_status(alice, language="de"), code=404) == {"error": "Not Found"}
    assert service.asked == []


def test_only_posts_that_everybody_may_read_are_sent_to_the_translation_service(
    alice: Account, bob: Account, service: Translator
) -> None:
    follow(bob, alice)
    unlisted = make_status(alice, "offen", visibility="unlisted", language="de")
    assert translate(bob, make_reblog(alice, unlisted))["content"] == "<p>OFFEN</p>"
    for visibility, reader, code in (("private", bob, 403), ("direct", alice, 403), ("direct", bob, 404)):
        post = make_status(alice, "geheim", visibility=visibility, language="de")
        assert "error" in translate(reader, post, code=code)
    near = make_status(alice, "nah", visibility="local", language="de")
    assert translate(bob, near, code=403) == {"error": "This action is not allowed"}
    assert api_of(bob, "read:accounts").post(f"/api/v1/statuses/{unlisted.id}/translate").status_code == 403
    assert Api().post(f"/api/v1/statuses/{unlisted.id}/translate").status_code == 401
    # The cases: the same language, a language that the service does not support, and invalid languages.
    for lang in ("de", "de-AT", "fr", "x" * 5000, "../en"):
        assert "error" in translate(bob, unlisted, lang, 403)
    assert "error" in translate(bob, make_status(alice, "saluton", language="eo"), code=403)
    assert len(service.translations) == 1


def test_a_translation_is_requested_once_for_each_version_and_language(
    alice: Account, bob: Account, service: Translator, settings: Any
) -> None:
    post = make_status(alice, "katze", language="de")
    for reader, lang in ((alice, "en"), (bob, "EN"), (bob, "en-US"), (bob, "ja"), (alice, None)):
        translate(reader, post, lang)
    assert [sent["target"] for sent in service.translations] == ["en", "ja"]
    edit(post, "hund", language="de")
    assert translate(bob, post)["content"] == "<p>HUND</p>"
    assert len(service.asked) == 4  # the requests: three translations, and one for the list of languages

    settings.RATE_LIMITS = True
    (rule,) = limits.limited("translations")
    answer = api_of(bob).post(f"/api/v1/statuses/{post.id}/translate", {"lang": "en"})
    assert int(answer["X-RateLimit-Limit"]) == rule.limit


SCRIPT = '<p onclick="x()">Hi<script>alert(1)</script> <a href="https://evil.example/">https://bank.example</a></p>'


def test_markup_and_links_of_the_service_are_not_shown(alice: Account, service: Translator) -> None:
    post = make_status(alice, "hallo https://example.com/a @alice", spoiler_text="w", language="de")
    service.asked.clear()
    translation.load_languages()
    service.answer = (200, orjson.dumps({"translatedText": [SCRIPT, "<img src=x onerror=alert(1)>W &lt;b&gt;"]}))
    found = translate(alice, post)
    assert found["spoiler_text"] == "W <b>"
    shown = found["content"]
    assert shown.startswith("<p>Hi https://bank.example</p>")
    # Links that the service has dropped are added again.
    original = Status.objects.get(id=post.id).content
    for link in ('href="https://example.com/a"', 'class="u-url mention"'):
        assert link in original
        assert link in shown


def test_links_in_translations_keep_their_place_address_and_names() -> None:
    text = '<p><a href="https://a.example/?x=1&amp;y=2" rel="nofollow noopener" target="_blank">die seite</a> <em>und</em></p>'
    sent = prepare_html(text)
    assert sent == '<p><a href="https://a.example/?x=1&amp;y=2">die seite</a> <em>und</em></p>'
    twice = '<p><em>and</em> <a href="https://a.example/?x=1&y=2">the page</a> <a href="https://a.example/?x=1&y=2">x</a></p>'
    assert restore_html(twice, text) == (
        '<p><em>and</em> <a href="https://a.example/?x=1&amp;y=2" rel="nofollow noopener" target="_blank">the page</a> x</p>'
    )
    # An address that the service has changed is shown as the author wrote it.
    address = '<a href="https://a.example/katze" translate="no">a.example/katze</a>'
    assert restore_html(address.replace("/katze</a>", "/cat</a>"), address) == address


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"no"),
        (200, b""),
        (200, b"[]"),
        (200, b'{"translatedText": "one"}'),
        (200, b'{"translatedText": []}'),
        (200, b'{"translatedText": [1]}'),
        (200, b'{"translatedText": ["a", "b"]}'),
        (200, b'{"translatedText": ["a"], "detectedLanguage": 3}'),
        (200, b'{"translatedText": ["' + b"a" * 600_000 + b'"]}'),
        (302, b""),
    ],
)
def test_an_invalid_response_of_the_service_is_refused(
    alice: Account, service: Translator, answer: tuple[int, bytes]
) -> None:
    post = make_status(alice, "katze", language="de")
    translation.load_languages()
    service.answer = answer
    assert translate(alice, post, code=503) == FAILURE
    service.answer = None
    assert translate(alice, post)["content"] == "<p>KATZE</p>"


def test_after_a_failed_request_for_languages_the_service_is_not_called_for_a_minute(
    alice: Account, service: Translator
) -> None:
    service.answer = (200, orjson.dumps([{"code": "de"}]))
    post = make_status(alice, "katze", language="de")
    for _ in range(2):
        assert translate(alice, post, code=503) == FAILURE
        assert Api().get("/api/v1/instance/translation_languages").status_code == 503
    assert len(service.asked) == 1


def test_a_slow_service_holds_a_request_for_some_seconds_at_most(
    alice: Account, service: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = make_status(alice, "katze", language="de")
    translation.load_languages()
    released = threading.Event()
    ended: list[bool] = []
    monkeypatch.setattr(service, "find_answer", lambda *_: ended.append(released.wait(60)) or (200, b""))
    monkeypatch.setattr(translation, "TRANSLATION_SECONDS", 0.2)
    assert translate(alice, post, code=503) == FAILURE
    assert ended == []
    released.set()


def test_a_very_long_post_is_not_sent(alice: Account, service: Translator) -> None:
    post = make_remote_status(make_remote("zoe"), f"<p>{'wort ' * 7000}</p>", language="de")
    assert translate(alice, post, code=403) == {"error": "This post is too long to be translated."}
    assert service.translations == []


def test_a_translation_service_on_this_machine_must_be_allowed(
    alice: Account, service: Translator, settings: Any
) -> None:
    settings.TRANSLATION_SERVICE_LOOPBACK = False
    assert translate(alice, make_status(alice, language="de"), code=503) == FAILURE
    assert service.asked == []


@pytest.mark.parametrize(
    "url",
    ["https://s3cret@x.example", "deepl+https://api.deepl.com", "google+https://s3cret@x.example", "libretranslate+ftp://x.example",
     "libretranslate+https://", "libretranslate+https://s3cret@x.example?a=b", "libretranslate+https://x.example:port"],
)  # fmt: skip
def test_a_setting_that_names_no_service_is_refused_without_its_key(url: str) -> None:
    with pytest.raises(env.ImproperlyConfigured) as refusal:
        env._translation(url)
    assert "s3cret" not in str(refusal.value)


def test_a_post_is_read_in_the_language_of_the_page(
    alice: Account, bob: Account, service: Translator, media_root: Path
) -> None:
    picture = make_media(alice, "eine katze")
    post = make_status(alice, "katzen <b> @bob", spoiler_text="warnung", media=[picture], language="de")
    own = make_status(alice, "cats", language="en")
    private = make_status(alice, "geheim", language="de", visibility="private")
    near = make_status(alice, "nah", language="de", visibility="local")
    browser = signed_in(User.objects.get(account=alice))
    address = f"/statuses/{post.id}/translation"
    profile = browser.get("/@alice").content.decode()
    assert address in profile
    for other in (own, private, near):
        assert f"/statuses/{other.id}/translation" not in profile

    page = browser.get(address)
    text = html.unescape(page.content.decode())
    assert page.status_code == 200
    for shown in ("KATZEN <B>", "WARNUNG", 'alt="EINE KATZE"', "Translated from German by LibreTranslate."):
        assert shown in text
    assert "katzen" not in text
    assert 'lang="de"' not in text[text.index("<article") : text.index("</article>")]
    with CaptureQueriesContext(connection) as queries:
        browser.get(address)
    # Queries: the post and relations; its body; the card.
    assert len(queries) <= 17, [query["sql"][:90] for query in queries]
    assert len(service.translations) == 1
    assert browser.get(f"/statuses/{private.id}/translation").status_code == 403
    assert Client().get(address).status_code == 302
    service.answer = (500, b"")
    failed = browser.get(f"/statuses/{make_status(bob, 'neu', language='de').id}/translation")
    assert failed.status_code == 503
    assert "Try again later" in failed.content.decode()
