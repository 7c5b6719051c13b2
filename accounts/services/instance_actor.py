"""Provides the instance actor: the account that stands for the server itself."""

from django.conf import settings
from django.db import transaction

from accounts.models import Account, ActorType
from accounts.services.key_pairs import keys_of
from social.kernel import links
from social.kernel.locks import lock
from social.kernel.plans import Plan, Slot

# The query is prepared, because it runs for every signed request to another server.
_ACTOR = Plan(
    lambda: Account.objects.select_related("key_pair").filter(uri=Slot("uri", Account._meta.get_field("uri")))
)


def instance_actor_uri() -> str:
    """Return the ActivityPub id of the instance actor (contract, federation section 2)."""
    return links.web_url("/actor")


def instance_username() -> str:
    """Return the instance actor's username: the domain with `.` instead of `:`. No user's name can contain a dot."""
    return settings.LOCAL_DOMAIN.replace(":", ".")


def instance_actor() -> Account:
    """Return the instance actor with its `key_pair`; the first call creates both."""
    uri = instance_actor_uri()
    return _ACTOR.first(uri=uri) or _make(uri)


def _make(uri: str) -> Account:
    with transaction.atomic():
        lock(f"actor:{uri}")
        actor = _ACTOR.first(uri=uri)
        if actor is not None:
            return actor
        account = Account.objects.create(
            username=instance_username(),
            uri=uri,
            actor_type=ActorType.APPLICATION,
            locked=True,
            discoverable=False,
        )
        keys_of(account=account)
    return Account.objects.select_related("key_pair").get(id=account.id)
