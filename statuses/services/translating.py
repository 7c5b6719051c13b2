"""Translates posts with the service that the operator has configured."""

from dataclasses import asdict
from typing import Final

from django.utils.translation import gettext as _

from social.kernel import fragments, translation
from social.kernel.errors import Forbidden, NotFound
from statuses.policies import translations
from statuses.policies.audience import is_for_everybody
from statuses.policies.posts import Post, PostBody
from statuses.queries.posts import load_bodies
from statuses.queries.statuses import find_post

_RETENTION_SECONDS: Final = 86_400


def may_be_translated(post: Post, language: str) -> bool:
    """Tell whether to offer a translation of a post into a language, although the service may not support the language."""
    return translation.is_on() and is_for_everybody(post) and post.language != language


def translate_post(
    *, account_id: int, status_id: int, language: str
) -> tuple[Post, PostBody, translations.Translation]:
    """Translate a post for a reader (of a boost, the boosted post), or return a translation made in the last 24 hours.

    Raises NotFound for an unreadable post, and if no translation service is configured; Forbidden for a post that is neither
    public nor unlisted, or is local-only, too long, or in a language that cannot be translated; Unavailable if the service does
    not answer.
    """
    post = find_post(status_id, account_id).proper
    if not translation.is_on():
        raise NotFound("Not Found")
    if not is_for_everybody(post):
        raise Forbidden
    source, target = _languages(post.language, language)
    body = load_bodies([post.id]).get(post.id)
    if body is None:
        raise NotFound
    # Clients cannot fill the cache with arbitrary keys, because the service knows the language, and the client may read the
    # post.
    key = f"translation:{post.id}:{post.version}:{target}"
    kept = fragments.load([key]).get(key)
    if kept is not None:
        return post, body, translations.Translation(**kept)
    translated = _translate(body, source, target)
    fragments.save({key: asdict(translated)}, seconds=_RETENTION_SECONDS)
    return post, body, translated


def _languages(written_in: str | None, wanted: str) -> tuple[str, str]:
    # Returns the service's codes for both languages.
    offered = translation.load_languages()
    source = translation.find_language(written_in or translation.UNKNOWN, offered)
    target = translation.find_language(wanted, offered[source]) if source is not None else None
    if source is None or target is None or target == source:
        raise Forbidden(_("This post cannot be translated into this language."))
    return source, target


def _translate(body: PostBody, source: str, target: str) -> translations.Translation:
    described = {str(media.id): media.description for media in body.media if media.description}
    plain = [body.spoiler_text, *body.poll_options, *described.values()]
    texts = [translations.prepare_html(body.content), *map(translations.prepare_text, plain)]
    if sum(map(len, texts)) > translations.CHARACTERS_LIMIT:
        raise Forbidden(_("This post is too long to be translated."))
    sent = [text for text in texts if text]
    answer = translation.translate(sent, source, target)
    answers = iter(answer.texts)
    content, *others = [next(answers) if text else "" for text in texts]
    warning, *rest = map(translations.restore_text, others)
    options = len(body.poll_options)
    return translations.Translation(
        language=target,
        detected_source_language=answer.source,
        provider=answer.provider,
        content=translations.restore_html(content, body.content),
        spoiler_text=warning,
        options=rest[:options],
        descriptions=dict(zip(described, rest[options:], strict=True)),
    )
