"""What a page says about itself to sites and applications that show a preview of it (ogp.me, oembed.com)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from social.kernel import links

DESCRIPTION_LENGTH = 300


@dataclass(frozen=True)
class Sharing:
    """The context `sharing` of `pages/sharing.html`. Addresses are absolute; empty ones are left out.

    `kind` is a type of the Open Graph protocol; `embed_url` leads to the oEmbed document of the page.
    """

    kind: str
    url: str
    title: str
    description: str = ""
    image: str = ""
    image_description: str = ""
    large_image: bool = False
    published_at: datetime | None = None
    username: str = ""
    embed_url: str = ""

    @property
    def cut_description(self) -> str:
        """The description, as much of it as previews show."""
        text = self.description
        return text if len(text) <= DESCRIPTION_LENGTH else f"{text[: DESCRIPTION_LENGTH - 1].rstrip()}…"


def absolute(address: str) -> str:
    """The address of a path of ours, and any other address as it is."""
    return links.web_url(address) if address.startswith("/") else address
