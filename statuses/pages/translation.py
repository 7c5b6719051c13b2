"""The page of a post in the reader's language."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_info
from django.views.decorators.http import require_safe

from accounts.emojis.pages import with_emojis
from accounts.pages.settings import signed_in
from social.api import limits
from social.kernel.errors import require_found
from social.kernel.text.languages import LANGUAGE_NAMES
from social.kernel.text.names import visible_text
from social.pages.frame import show
from social.pages.text import shown_html
from statuses.pages.acts import counted_all
from statuses.pages.posts import load_shown, reader_of
from statuses.policies.translations import Translation
from statuses.services.translating import translate_post

_FILES: Final = ("files", "pictures", "other_files")


@require_safe
def translation(request: HttpRequest, id: int) -> HttpResponse:
    """`/statuses/:id/translation`: a public or unlisted post, translated into the language of the page. Raises NotFound,
    Forbidden and Unavailable in the same cases as the service.
    """
    user = signed_in(request)
    counted_all(limits.limited("translations"), user)
    found, _body, translated = translate_post(account_id=user.account_id, status_id=id, language=get_language() or "")
    post = require_found(next(iter(load_shown([found.id], reader_of(user, ""))), None))
    context = {
        "person": post["author"],
        "post": _translated_post(post, translated),
        "source": _name_of(translated.detected_source_language),
        "provider": translated.provider,
    }
    return show(request, "statuses/translation.html", context)


def _translated_post(post: dict[str, Any], translated: Translation) -> dict[str, Any]:
    warning = visible_text(translated.spoiler_text)
    described = {
        kind: [file | {"description": translated.descriptions.get(file["id"], "")} for file in post[kind]]
        for kind in _FILES
    }
    changed = post | described | {
        "content": with_emojis(shown_html(translated.content), post["emojis"]),
        "warning": warning,
        "shown_warning": with_emojis(escape(warning), post["emojis"]),
        **_languages(post, translated.language),
        "acts": post["acts"] | {"translate": False},
    }  # fmt: skip
    if post["poll"] is not None:
        options = [
            option
            | {"title": visible_text(title), "shown_title": with_emojis(escape(visible_text(title)), post["emojis"])}
            for option, title in zip(post["poll"]["options"], translated.options, strict=False)
        ]
        changed["poll"] = post["poll"] | {"options": options}
    return changed


def _languages(post: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the `lang` attributes of a post that was translated into `language`, and of the post that it quotes."""
    attribute = SafeString("") if language == get_language() else format_html(' lang="{}"', language)
    quoted = post["quoted"]
    if quoted is not None and not quoted["lang"]:
        quoted = quoted | {"lang": post["lang"]}
    return {"lang": attribute, "page_lang": post["page_lang"] if attribute else "", "quoted": quoted}


def _name_of(code: str) -> str:
    """Return the name of a language in the language of the page, or else in English; empty for an unknown code."""
    try:
        return str(get_language_info(code)["name_translated"]) if code else ""
    except KeyError:
        return LANGUAGE_NAMES.get(code, code)
