"""Reads all that the body of a post is made of: text, mentions, hashtags and files, one statement for a whole page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from social.kernel.statements import fetch
from statuses.models import MediaAttachment

# Mentions, tags and files of a post are read as JSON beside it: one statement instead of four.
_SQL: Final = """
SELECT s.id, s.url, s.text, s.content_type, s.content, s.spoiler_text, s.edited_at,
       (SELECT json_agg(json_build_object('id', m.account_id, 'username', b.username, 'domain', b.domain, 'url', b.url,
                                          'uri', b.uri) ORDER BY m.id)
          FROM statuses_mention m JOIN accounts_account b ON b.id = m.account_id
         WHERE m.status_id = s.id AND NOT m.silent),
       (SELECT json_agg(t.name ORDER BY h.id)
          FROM statuses_statustag h JOIN accounts_tag t ON t.id = h.tag_id WHERE h.status_id = s.id),
       (SELECT json_agg(json_build_object('id', f.id, 'type', f.type, 'processing', f.processing, 'file', f.file,
                                          'preview', f.preview, 'remote_url', f.remote_url,
                                          'preview_remote_url', f.preview_remote_url, 'meta', f.meta,
                                          'description', f.description, 'blurhash', f.blurhash)
                        ORDER BY f.position, f.id)
          FROM statuses_mediaattachment f WHERE f.status_id = s.id),
       (SELECT q.options FROM statuses_poll q WHERE q.status_id = s.id), p.name, p.website
  FROM statuses_status s LEFT JOIN accounts_application p ON p.id = s.application_id
 WHERE s.id = ANY(%(ids)s)
"""


@dataclass(slots=True)
class Source:
    """What belongs to a post and is not in its row, in the order of the statement. `mentions` have id, username, domain, url
    and uri; `tags` are normalised names, in the order of the text. The application is the one that has written it.
    """

    id: int
    url: str | None
    text: str
    content_type: str
    content: str
    spoiler_text: str
    edited_at: datetime | None
    mentions: list[dict[str, Any]]
    tags: list[str]
    media: list[MediaAttachment]
    poll_options: list[str]
    application_name: str | None
    application_website: str | None

    def texts(self, *, local: bool) -> tuple[str, str]:
        """The texts that may hold emojis: what was typed here, or the HTML that came from elsewhere."""
        return self.text if local else self.content, self.spoiler_text


def load_sources(status_ids: Iterable[int]) -> dict[int, Source]:
    """What belongs to the posts with these ids, in one query; unknown ids are left out."""
    ids = list(set(status_ids))
    if not ids:
        return {}
    return {row[0]: _source(row) for row in fetch(_SQL, {"ids": ids})}


def _source(row: tuple[Any, ...]) -> Source:
    source = Source(*row)
    # Nothing at all is NULL in SQL, and files come as JSON.
    files: Any = source.media or ()
    source.mentions, source.tags = source.mentions or [], source.tags or []
    source.media = [MediaAttachment(status_id=source.id, **file) for file in files]
    source.poll_options = source.poll_options or []
    return source
