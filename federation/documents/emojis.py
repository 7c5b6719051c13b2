"""How custom emojis look to other servers (contract, federation section 5)."""

from __future__ import annotations

from typing import Any

from accounts.models import CustomEmoji
from accounts.serializers.emoji import file_url
from social.kernel import links


def emoji_object(emoji: CustomEmoji) -> dict[str, Any]:
    """An Emoji in the `tag` of what shows it."""
    return {
        "id": links.web_url(f"/emojis/{emoji.id}"),
        "type": "Emoji",
        "name": f":{emoji.shortcode}:",
        "icon": {"type": "Image", "mediaType": "image/png", "url": file_url(emoji.image, "", "")},
    }
