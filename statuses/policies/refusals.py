"""Lists the reasons for which a page has no preview, or a preview without a picture."""

from __future__ import annotations

from social.kernel.reasons import Reason


class PageReason(Reason):
    """Reasons not to show a page or its picture; those of fetching are `social.kernel.http.errors.FetchReason`."""

    PAGE_MISSING = "its server does not give the page", "HTTP status other than 200: there is nothing to show"
    PAGE_WITHOUT_TITLE = "the page has no title", "Mastodon does so: a card has a title", "pages that scripts fill in"
    PICTURE_MISSING = "the picture of the page cannot be had", "contract 16: 8 MB, kinds that are decoded here"
