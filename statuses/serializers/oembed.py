"""The entity "OEmbed" (contract, entities; oembed.com)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.translation import gettext as _

from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.text.names import visible_text

WIDTH: Final = 400
_CACHE_SECONDS: Final = 86_400
# If scripts are disabled, the link is shown.
_HTML: Final = (
    '<blockquote class="mastodon-embed" data-embed-url="{}" style="max-width: {}px; min-width: 270px; margin: 0;'
    ' padding: 1em; border: 1px solid; border-radius: 8px;"><a href="{}" target="_blank" rel="noopener">{}</a>'
    '</blockquote><script src="{}" async></script>'
)


class OEmbedSerializer(EntitySerializer):
    """OEmbed, from the entity "Status". The context has `site_name`, and the frame's `width` and `height` (or None)."""

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        author, url = instance["account"], instance["url"]
        width: int = self.context["width"]
        label = _("Post by %(address)s") % {"address": f"@{author['username']}@{settings.LOCAL_DOMAIN}"}
        return {
            "type": "rich",
            "version": "1.0",
            "author_name": visible_text(author["display_name"]) or author["username"],
            "author_url": links.profile_url(author["username"]),
            "provider_name": self.context["site_name"],
            "provider_url": links.web_url("/"),
            "cache_age": _CACHE_SECONDS,
            "html": format_html(_HTML, f"{url}/embed", width, url, label, links.web_url(static("embed.js"))),
            "width": width,
            "height": self.context["height"],
        }
