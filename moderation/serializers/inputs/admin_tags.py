"""What staff send about hashtags."""

from __future__ import annotations

from accounts.services.tag_review import TagChange
from social.api.inputs import ClientBoolean, ClientString, Input


class TagInput(Input[TagChange]):
    """How a hashtag is written, and what may be done with it."""

    draft = TagChange
    display_name = ClientString(strip=True, blank=False, max_length=500)
    usable = ClientBoolean()
    listable = ClientBoolean()
    trendable = ClientBoolean()
