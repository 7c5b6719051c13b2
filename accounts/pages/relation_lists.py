"""Pages with a signed-in person's follow requests, and with the people and servers that they mute or block."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.models import Account
from accounts.pages.member import back, refuse
from accounts.pages.person import shown_author
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.queries.networks import list_follow_requests
from accounts.queries.relations import list_blocked, list_blocked_domains, list_muted
from accounts.serializers.account import present_accounts
from accounts.services.blocking import block_domain, unblock_account, unblock_domain, unmute_account
from accounts.services.follow_requests import authorize_request, reject_request
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input
from social.pages.frame import show
from social.pages.paging import PAGE_SIZE, cursor_of, links, one_page


@dataclass(frozen=True)
class _Page:
    """A page that lists people: its texts, its query, and its buttons, each with the service that it calls."""

    title: str | Promise
    hint: str | Promise
    empty: str | Promise
    select: Callable[[int], QuerySet[Any]]
    acts: dict[str, tuple[str | Promise, Callable[[Account, Account], None]]]


_PAGES: Final = {
    "follow_requests": _Page(
        _("Follow requests"),
        _(
            "These people have asked to follow you. Your followers can read the posts that you publish for "
            "followers only."
        ),
        _("There are no follow requests."),
        list_follow_requests,
        {
            "authorize": (_("Accept"), lambda me, other: authorize_request(account=me, requester=other)),
            "reject": (_("Reject"), lambda me, other: reject_request(account=me, requester=other)),
        },
    ),
    "mutes": _Page(
        _("Muted people"),
        _("You do not see the posts of these people. They are not notified."),
        _("You have not muted anybody."),
        list_muted,
        {"unmute": (_("Unmute"), lambda me, other: unmute_account(account=me, target=other))},
    ),
    "blocks": _Page(
        _("Blocked people"),
        _("These people cannot follow you or see your posts, and you do not see theirs."),
        _("You have not blocked anybody."),
        list_blocked,
        {"unblock": (_("Unblock"), lambda me, other: unblock_account(account=me, target=other))},
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, name: str) -> HttpResponse:
    """`/follow_requests`, `/mutes` and `/blocks`: people as the API lists them. Raises NotFound.

    A POST request carries out the action named in `act` on the account whose id is in `id`; repeating it has no effect.
    """
    user, listed = signed_in(request), _PAGES[name]
    if request.method == "POST":
        act = listed.acts.get(request.POST.get("act", ""))
        if act is None:
            raise NotFound
        counted(limits.INTERACTIONS, user)
        other = find_account(require_found(parse_id(request.POST.get("id", ""))))
        try:
            act[1](user.account, other)
        except NotFound:
            messages.info(request, _("This has already been done."))
        return back(request)
    cursor = cursor_of(request, PAGE_SIZE)
    shown_rows = cursor.cut(listed.select(user.account_id))
    rows = one_page(shown_rows, cursor)
    entities = present_accounts([row.person_id for row in rows], user.account_id)
    context = {
        **links(request, shown_rows, cursor, [row.id for row in rows]),
        "listed": listed,
        "current": name,
        "acts": [(value, label) for value, (label, _service) in listed.acts.items()],
        "people": [{"id": entity["id"], "person": shown_author(entity, member=True)} for entity in entities.values()],
        "of_others": True,
    }
    return show(request, "accounts/relations.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def domain_blocks(request: HttpRequest) -> HttpResponse:
    """`/domain_blocks`: the servers that the reader blocks. A POST request blocks the server whose domain is in `block`, or
    unblocks the server whose domain is in `unblock`.
    """
    user = signed_in(request)
    if request.method == "POST":
        counted(limits.INTERACTIONS, user)
        domain = clean_input(request.POST.get("block", "")).strip()
        try:
            if domain:
                block_domain(account=user.account, domain=domain)
            else:
                unblock_domain(account=user.account, domain=clean_input(request.POST.get("unblock", "")))
        except (Forbidden, Invalid) as refusal:
            refuse(request, refusal)
        return back(request)
    cursor = cursor_of(request, PAGE_SIZE)
    blocks = cursor.cut(list_blocked_domains(user.account_id))
    rows = one_page(blocks, cursor)
    paging = links(request, blocks, cursor, [row.id for row in rows])
    context = {**paging, "domains": [row.domain for row in rows], "of_others": True, "current": "domain_blocks"}
    return show(request, "accounts/domain_blocks.html", context)
