"""The blocklist that this server publishes, to which other servers can subscribe."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from accounts.queries.site_settings import load_site_texts
from accounts.services.block_files import export_file
from moderation.policies.documents import is_for
from moderation.services.domain_files import PublicRuleFile
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.kernel.errors import NotFound
from social.pages.frame import allow_caching


@require_safe
def published_list(request: HttpRequest) -> HttpResponse:
    """`/blocklist.csv`: the list in the format of Mastodon's export, with the reasons if they are public. A subscriber that has
    the current list gets 304. Raises NotFound unless the blocked servers are public, and RateLimited for an IP address with too
    many requests, because the list is generated for each request.
    """
    texts = load_site_texts()
    if not is_for(texts["site_show_domain_blocks"], signed_in=False):
        raise NotFound
    limits.refuse_exceeded([admission.count(limits.PUBLISHED_LIST, address=rate_key(client_ip(request)))])
    rationale = is_for(texts["site_show_domain_blocks_rationale"], signed_in=False)
    body = "".join(export_file(PublicRuleFile(with_rationale=rationale))).encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    answer = allow_caching(HttpResponse(body, content_type="text/csv; charset=utf-8"))
    answer.headers["ETag"] = etag
    return get_conditional_response(request, etag=etag, response=answer) or answer
