"""Pages on which visitors enter the address of their account on another server, to follow an account or act on a post from that
server.

The visitor's server names the page to continue on (WebFinger, the relation `SUBSCRIBE`). The visitor is shown a link to that
page, with its host, and is not redirected to another server (security row 30).
"""

import logging
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.pages.forms import PLAIN
from accounts.pages.person import Person, load_entities, shown_author
from accounts.queries.accounts import split_address
from federation.reasons import Rejected
from federation.remote.requests import may_look_up
from federation.remote.webfinger import find_interaction_page
from federation.views.reading import find_local_account
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.kernel.errors import KernelError, require_found
from social.kernel.http.addresses import parse_url
from social.kernel.text.names import clean_input, unambiguous_domain
from social.pages.frame import show, with_query
from social.pages.views import page
from statuses.pages.posts import load_shown
from statuses.queries.statuses import find_embeddable

logger = logging.getLogger("social.federation")
_LONGEST_ADDRESS = 320


class ServerForm(forms.Form):
    """Form for the visitor's address on another server, or the name of that server."""

    address = forms.CharField(
        label=gettext_lazy("Your server, or your address on it"),
        help_text=gettext_lazy("For example: example.org or you@example.org"),
        max_length=_LONGEST_ADDRESS,
        widget=forms.TextInput({"autocomplete": "off", "inputmode": "url", **PLAIN}),
    )


@page
@require_http_methods(["GET", "HEAD", "POST"])
def follow(request: HttpRequest, username: str) -> HttpResponse:
    """`/@:username/follow`: the page to follow an account from another server. Raises NotFound, Gone or Forbidden."""
    account = find_local_account(username)
    return _ask(request, account.uri, shown_author(load_entities([account.id])[0]))


@page
@require_http_methods(["GET", "HEAD", "POST"])
def interact(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/@:username/:id/interact`: the page to act on a public or unlisted post from another server. Raises NotFound."""
    post = find_embeddable(username, id)
    shown_post = require_found(next(iter(load_shown([post.id])), None))
    return _ask(request, post.object_uri, shown_post["author"], shown_post)


def _ask(request: HttpRequest, uri: str, person: Person, post: dict[str, Any] | None = None) -> HttpResponse:
    """Return the page to act on the account or post with the id `uri`; `person` describes the account or the post's author."""
    here = with_query(reverse("interact"), uri=uri)
    form = ServerForm(request.POST or None)
    page_url = ""
    if form.is_valid():
        limits.refuse_exceeded([admission.count(limits.REMOTE_PAGES, address=rate_key(client_ip(request)))])
        pair = _typed_address(form.cleaned_data["address"])
        if pair is not None and pair[1] is None:
            return HttpResponseRedirect(here)
        page_url = _find(pair[0], pair[1], uri) if pair is not None and pair[1] is not None else ""
        if not page_url:
            form.add_error("address", _("No server at this address supports this. Is the address spelt correctly?"))
    context = {
        "form": form,
        "here": here,
        "person": person,
        "post": post,
        "page_url": page_url,
        "host": unambiguous_domain(parse_url(page_url).netloc) if page_url else "",
    }
    return show(request, "federation/from_anywhere.html", context, status=422 if form.errors else 200)


def _typed_address(text: str) -> tuple[str, str | None] | None:
    """Return the username and domain in the typed address or URL; a domain alone stands for its instance actor."""
    address = clean_input(text).strip().removeprefix("https://").removeprefix("http://").partition("/")[0]
    if "@" not in address.removeprefix("@"):
        address = address.removeprefix("@")
        address = f"{address}@{address}"
    return split_address(address) if address.rpartition("@")[2] else None


def _find(username: str, domain: str, uri: str) -> str:
    try:
        return find_interaction_page(username, domain, uri) if may_look_up(domain) else ""
    except (Rejected, KernelError) as error:
        logger.info("No page to go on at %s: %s", domain, error)
        return ""
