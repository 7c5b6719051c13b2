"""The account that stands for this server: it signs what the server fetches."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from accounts.models import Account, AccountStat, ActorType
from accounts.services.key_pairs import keys_of
from social.kernel import links
from social.kernel.locks import lock


def instance_actor_uri() -> str:
    """Its id (contract, federation section 2)."""
    return links.web_url("/actor")


def instance_actor() -> Account:
    """The account with its `key_pair` loaded, made with its keys when it is needed for the first time."""
    uri = instance_actor_uri()
    found = Account.objects.select_related("key_pair").filter(uri=uri).first()
    return found if found is not None else _make(uri)


def _make(uri: str) -> Account:
    with transaction.atomic():
        lock(f"actor:{uri}")
        found = Account.objects.select_related("key_pair").filter(uri=uri).first()
        if found is not None:
            return found
        account = Account.objects.create(
            # The domain, with a dot for the colon of a port: nobody can sign up with a name that holds one.
            username=settings.LOCAL_DOMAIN.replace(":", "."),
            uri=uri,
            actor_type=ActorType.APPLICATION,
            locked=True,
            discoverable=False,
        )
        AccountStat.objects.create(account=account)
        keys_of(account=account)
    return Account.objects.select_related("key_pair").get(id=account.id)
