"""Documents of accounts, their collections, and emojis (contract, federation sections 2, 4, 5 and 8)."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.emojis.models import CustomEmoji
from accounts.emojis.queries import EmojiLookup, account_texts
from accounts.models import Account, Follow
from accounts.queries import relations, tags
from accounts.serializers.account import counters
from accounts.services.instance_actor import instance_actor as find_instance_actor
from accounts.services.key_pairs import keys_of
from federation.documents import activities, collections, context, synchronization
from federation.documents.actors import actor as actor_document
from federation.documents.actors import emoji_object, featured_tag, featured_url
from federation.documents.actors import instance_actor as instance_actor_document
from federation.documents.notes import load_notes, note_terms
from federation.inbound.quotas import host_of
from federation.reasons import Reason
from federation.signatures.message import BadSignature
from federation.views import negotiation
from federation.views.reading import find_local_account, reader_id_of, require_signature, signer_of
from social.kernel import links
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from statuses.models import Pin, Status
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, OPEN_VISIBILITIES
from statuses.queries.posts import load_posts
from statuses.queries.statuses import list_statuses

PEOPLE_PER_PAGE = 12
POSTS_PER_PAGE = 20


@negotiation.reads
def actor(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username`: the document, or a redirect to the page."""
    form = negotiation.preferred_representation(request)
    if form is None:
        return negotiation.not_acceptable()
    account = find_local_account(username, served_while_suspended=True)
    if form is negotiation.Representation.PAGE:
        return negotiation.redirect(links.profile_url(account.username))
    return actor_response(request, account)


def actor_response(request: HttpRequest, account: Account) -> HttpResponse:
    """Return the actor document of an account; the account's key pair is created at the first request for the document."""
    require_signature(request)
    emojis = EmojiLookup.for_accounts([account]).find(None, *account_texts(account))
    return negotiation.document(actor_document(account, keys_of(account=account).public_key, emojis))


@negotiation.reads
def instance_actor(request: HttpRequest) -> HttpResponse:
    """`/actor`: the instance actor, which represents this server."""
    account = find_instance_actor()
    return negotiation.document(instance_actor_document(account, account.key_pair.public_key), seconds=600)


@negotiation.reads
def instance_outbox(request: HttpRequest) -> HttpResponse:
    """`/actor/outbox`: always empty, because the instance actor has no posts."""
    return negotiation.document(collections.whole(f"{find_instance_actor().uri}/outbox", []))


@negotiation.reads
def followers(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/followers`."""
    return _network(request, username, "followers", "target", "account__uri")


@negotiation.reads
def following(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/following`."""
    return _network(request, username, "following", "account", "target__uri")


@negotiation.reads
def followers_synchronization(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/followers_synchronization`: the account's followers on the signer's server only."""
    account, signer = find_local_account(username), signer_of(request)
    if signer is None:
        raise BadSignature(Reason.NOT_SIGNED)
    host = host_of(signer.uri)
    followers = Follow.objects.filter(target=account, account__uri__icontains=f"://{host}/").order_by("id")
    uris = [uri for uri in followers.values_list("account__uri", flat=True) if host_of(uri) == host]
    data = {"id": synchronization.synchronization_uri(account), "type": "OrderedCollection", "orderedItems": uris}
    return negotiation.document(context.with_context(data), reader_id=signer.id)


def _network(request: HttpRequest, username: str, name: str, own_column: str, uri_column: str) -> HttpResponse:
    require_signature(request)
    account = find_local_account(username)
    total = counters(account)[f"{name}_count"]
    uri = f"{account.uri}/{name}"
    number = parse_id(request.GET.get("page"))
    if account.hide_collections:
        if "page" in request.GET:
            return negotiation.refusal("Forbidden", 403)
        return negotiation.document(collections.collection(uri, total))
    if number is None:
        return negotiation.document(collections.collection(uri, total, first=f"{uri}?page=1"))
    number = max(1, min(number, 10_000_000))
    begin = (number - 1) * PEOPLE_PER_PAGE
    rows = Follow.objects.filter(**{own_column: account}).order_by("-id").values_list(uri_column, flat=True)
    items = list(rows[begin : begin + PEOPLE_PER_PAGE + 1])
    return negotiation.document(
        collections.page(
            f"{uri}?page={number}",
            uri,
            items[:PEOPLE_PER_PAGE],
            total=total,
            next_uri=f"{uri}?page={number + 1}" if len(items) > PEOPLE_PER_PAGE else None,
            prev_uri=f"{uri}?page={number - 1}" if number > 1 else None,
        )
    )


@negotiation.reads
def outbox(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/outbox`: public and unlisted posts, and followers-only posts for a signer who follows the account."""
    account = find_local_account(username)
    uri = f"{account.uri}/outbox"
    if request.GET.get("page") != "true":
        require_signature(request)
        first, last = f"{uri}?page=true", f"{uri}?page=true&min_id=0"
        total = counters(account)["statuses_count"]
        return negotiation.document(collections.collection(uri, total, first=first, last=last))
    reader_id = reader_id_of(request)
    visibilities = OPEN_VISIBILITIES if reader_id is None else FOLLOWER_VISIBILITIES
    posts = list_statuses(reader_id).filter(account=account, visibility__in=visibilities)
    return negotiation.document(_outbox_page(request, uri, posts), reader_id=reader_id)


def _outbox_page(request: HttpRequest, uri: str, posts: QuerySet[Status]) -> dict[str, object]:
    max_id, min_id = parse_id(request.GET.get("max_id")), parse_id(request.GET.get("min_id"))
    name = f"{uri}?page=true"
    if min_id is not None:
        name += f"&min_id={min_id}"
        ids = list(posts.filter(id__gt=min_id).order_by("id").values_list("id", flat=True)[:POSTS_PER_PAGE])[::-1]
    else:
        if max_id is not None:
            name += f"&max_id={max_id}"
            posts = posts.filter(id__lt=max_id)
        ids = list(posts.order_by("-id").values_list("id", flat=True)[:POSTS_PER_PAGE])
    documents = activities.of_posts(load_posts(ids), context=False)
    items = [documents[number] for number in ids if number in documents]
    terms = {term: None for item in items if isinstance(item["object"], dict) for term in note_terms(item["object"])}
    return collections.page(
        name,
        uri,
        items,
        next_uri=f"{uri}?page=true&max_id={ids[-1]}" if ids else None,
        prev_uri=f"{uri}?page=true&min_id={ids[0]}" if ids else None,
        terms=list(terms),
    )


@negotiation.reads
def featured(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/collections/featured`: pinned posts (followers-only posts as ids); none for a blocked signer."""
    account, reader_id = find_local_account(username), reader_id_of(request)
    pins = Pin.objects.filter(account=account).order_by("-id")
    if reader_id is not None and relations.load_relations(reader_id, [account.id]).is_blocked_by(account.id):
        pins = pins.none()
    posts = load_posts(pins.filter(status__local_only=False).values_list("status_id", flat=True))
    notes = load_notes(post for post in posts if post.visibility in OPEN_VISIBILITIES)
    terms = dict.fromkeys(term for item in notes.values() for term in note_terms(item))
    items = [notes.get(post.id, post.object_uri) for post in posts]
    return negotiation.document(collections.whole(featured_url(account), items, terms=terms), reader_id=reader_id)


@negotiation.reads
def featured_tags(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/collections/tags`: featured hashtags."""
    require_signature(request)
    account = find_local_account(username)
    items = [featured_tag(account, row.tag, row.name) for row in tags.list_featured_tags(account)]
    uri = f"{account.uri}/collections/tags"
    return negotiation.document(collections.whole(uri, items, ordered=False, terms=["Hashtag"]))


@negotiation.reads
def emoji(request: HttpRequest, id: str) -> HttpResponse:
    """`/emojis/:id`: the document of a local custom emoji, for which there is no page."""
    if negotiation.preferred_representation(request) is not negotiation.Representation.DOCUMENT:
        return negotiation.not_acceptable()
    custom_emoji = require_found(CustomEmoji.objects.filter(id=parse_id(id) or 0, domain=None).first())
    return negotiation.document(context.with_context(emoji_object(custom_emoji), ["Emoji", "focalPoint"]))
