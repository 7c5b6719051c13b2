"""Parts of the entity "Status" (contract, entities): its body, which is the same for every viewer and may be cached
(`social.kernel.fragments`), and the entities in it. `statuses.serializers.presenting` assembles them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.emojis.models import CustomEmoji
from accounts.emojis.queries import EmojiLookup
from accounts.models.account import acct_of
from accounts.policies.relations import Relations
from accounts.serializers.account import CustomEmojiSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from social.kernel.http.addresses import as_uri
from statuses.policies import quotes
from statuses.policies.cards import host_of
from statuses.policies.posts import READ_COLUMNS, Post, PostBody, read_as_text
from statuses.policies.publishing import PLAIN_TEXT
from statuses.policies.translations import Translation
from statuses.policies.visibility import shown_visibility
from statuses.queries.threads import Context
from statuses.serializers.attachments import MediaAttachmentSerializer


class MentionSerializer(EntitySerializer):
    """Mention: an account that a post mentions, as `statuses.queries.posts` reads it."""

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        username, domain = instance["username"], instance["domain"]
        return {
            "id": str(instance["id"]),
            "username": username,
            "url": links.profile_url(username) if domain is None else as_uri(instance["url"] or instance["uri"]),
            "acct": acct_of(username, domain),
        }


def body(post: Post, source: PostBody, emojis: EmojiLookup) -> dict[str, Any]:
    """Return the members of a post, which is not a boost, that are the same for every viewer."""
    return {
        "id": str(post.id),
        "created_at": clock.iso_ms(post.created_ms),
        "visibility": shown_visibility(post.visibility),
        "language": post.language,
        "uri": post.object_uri,
        "url": links.status_url(post.username, post.id) if post.local else as_uri(source.url or post.object_uri),
        **content(source, emojis.find(post.domain, *source.texts(local=post.local))),
        **_imported_from(source),
    }


def content(source: PostBody, emojis: Sequence[CustomEmoji]) -> dict[str, Any]:
    """Return the members of a body that depend on the content; a boost has them too, with the values of an empty body."""
    return {
        "content": source.content,
        **source.shown_columns,
        "edited_at": clock.iso_or_none(source.edited_at),
        "media_attachments": MediaAttachmentSerializer(source.media, many=True).data,
        "mentions": MentionSerializer(source.mentions, many=True).data,
        "tags": [{"name": name, "url": links.tag_url(name)} for name in source.tags],
        "emojis": CustomEmojiSerializer(emojis, many=True).data,
    }


def _imported_from(source: PostBody) -> dict[str, Any]:
    # An extension of this server for posts from an archive: the former address and server of the post; null if the archive does
    # not name them.
    if source.imported_uri is None:
        return {}
    address = source.imported_url or source.imported_uri
    host = host_of(address)
    known = not host.endswith(".invalid")
    return {"imported_from": {"url": address if known else None, "domain": host if known else None}}


def searched_text(source: PostBody) -> str:
    """Return the text that filters search: content warning, text, poll options and file descriptions, as plain text."""
    described = [media.description for media in source.media]
    return read_as_text(source.read_texts, source.content, *source.poll_options, *described)


def searched_text_of(entity: dict[str, Any]) -> str:
    """Return the same text as `searched_text`, from an entity that an older release with fewer columns may have cached."""
    options = [option["title"] for option in entity["poll"]["options"]] if entity["poll"] is not None else []
    described = [file["description"] for file in entity["media_attachments"]]
    return read_as_text([entity.get(name, "") for name in READ_COLUMNS], entity["content"], *options, *described)


class QuoteSerializer(EntitySerializer):
    """Quote: the quoted post and the state of the quote. The context has `viewer_id`, the viewer's `relations`, `with_source`
    (the quoted post is shown even if the quote is not accepted), and `quoted`, the quoted post's entity or None if the post no
    longer exists.
    """

    def to_representation(self, instance: Post) -> dict[str, Any]:
        viewer_id, relations = self.context["viewer_id"], self.context["relations"]
        quoted: dict[str, Any] | None = self.context["quoted"]
        state = quotes.shown_state(instance, viewer_id, relations)
        shown = quotes.shows_quoted(instance, viewer_id, relations, whatever_state=self.context["with_source"])
        if shown and quoted is None:
            state = quotes.DELETED
        return {"state": state, "quoted_status": quoted if shown else None}


class ShallowQuoteSerializer(EntitySerializer):
    """ShallowQuote: the quote in a quoted post. The context has `viewer_id` and the viewer's `relations`."""

    def to_representation(self, instance: Post) -> dict[str, Any]:
        viewer_id: int | None = self.context["viewer_id"]
        relations: Relations = self.context["relations"]
        shown = quotes.shows_quoted(instance, viewer_id, relations)
        return {
            "state": quotes.shown_state(instance, viewer_id, relations),
            "quoted_status_id": str(instance.quoted_status_id) if shown else None,
        }


class ContextSerializer(EntitySerializer):
    """Context: ancestors and descendants of a post. The context of the serializer has `statuses`, entities by id."""

    def to_representation(self, instance: Context) -> dict[str, Any]:
        statuses = self.context["statuses"]
        return {
            "ancestors": [statuses[post.id] for post in instance.ancestors if post.id in statuses],
            "descendants": [statuses[post.id] for post in instance.descendants if post.id in statuses],
        }


class StatusEditSerializer(EntitySerializer):
    """StatusEdit: a version of a post. The context has the post's `account` and `quote` as entities, `emojis` to look up emojis
    of all versions, and `sensitized`: whether this viewer sees all of the author's files as sensitive.
    """

    def to_representation(self, instance: tuple[Post, PostBody]) -> dict[str, Any]:
        post, body = instance
        emojis: EmojiLookup = self.context["emojis"]
        texts = body.texts(local=post.local)
        entity: dict[str, Any] = {
            "account": self.context["account"],
            "content": body.content,
            **body.shown_columns,
            "sensitive": post.sensitive or self.context["sensitized"],
            "created_at": clock.iso(body.edited_at or post.created_at),
            "media_attachments": MediaAttachmentSerializer(body.media, many=True).data,
            "emojis": CustomEmojiSerializer(emojis.find(post.domain, *texts), many=True).data,
        }
        if body.poll_options:
            entity["poll"] = {"options": [{"title": title} for title in body.poll_options]}
        if post.quote_state is not None and self.context["quote"] is not None:
            entity["quote"] = self.context["quote"]
        return entity


class StatusSourceSerializer(EntitySerializer):
    """StatusSource: the source text of a post, which may be empty. A remote post (`local` is False in the context) has HTML. If
    the text is not plain, the entity has `content_type`, an extension of this server.
    """

    def to_representation(self, instance: PostBody) -> dict[str, Any]:
        entity = {
            "id": str(instance.id),
            "text": instance.text if self.context["local"] else instance.content,
            "spoiler_text": instance.spoiler_text,
        }
        return entity if instance.content_type == PLAIN_TEXT else entity | {"content_type": instance.content_type}


class TranslationSerializer(EntitySerializer):
    def to_representation(self, instance: tuple[Post, PostBody, Translation]) -> dict[str, Any]:
        post, body, translation = instance
        options = [{"title": title} for title in translation.options]
        return {
            "content": translation.content,
            "spoiler_text": translation.spoiler_text,
            "language": translation.language,
            "detected_source_language": translation.detected_source_language,
            "provider": translation.provider,
            "poll": {"id": str(post.poll_id), "options": options} if post.poll_id is not None else None,
            "media_attachments": [
                {"id": str(media.id), "description": translation.descriptions.get(str(media.id), "")}
                for media in body.media
            ],
        }
