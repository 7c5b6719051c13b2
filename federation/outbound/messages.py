"""Devices and encrypted messages of remote accounts: implements `accounts.devices.ports.RemoteDevices`."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from uuid import uuid4

import orjson

from accounts.devices.models import Device
from accounts.devices.policies import MessageDraft, OneTimeKeyDraft, RemoteDevice
from accounts.models import Account
from accounts.services.key_pairs import keys_of
from federation.documents import reading, received_devices
from federation.documents.devices import encrypted_message
from federation.outbound import audience, queueing
from federation.reasons import Reason, Rejected
from federation.remote import fetching, requests, signing
from moderation.queries.blocks import is_closed_to
from social.kernel import links, redis, releases
from social.kernel.errors import KernelError
from social.kernel.http.client import ACTIVITY_TYPES, Request, fetch

logger = logging.getLogger("social.federation")

LOOKUP_SECONDS: Final = 5.0
CACHED_SECONDS: Final = 60
"""Lifetime of the cached devices of an account, which a conversation needs several times in quick succession."""
_KEY_BYTES: Final = 1 << 16


class DevicesElsewhere:
    """Devices of remote accounts, fetched from their servers. Requests that claim keys are signed by the sender of the
    message.
    """

    def load(self, accounts: Collection[Account]) -> Mapping[int, Sequence[RemoteDevice]]:
        end = time.monotonic() + LOOKUP_SECONDS
        devices_by_account = _cached_devices([account.id for account in accounts])
        for account in accounts:
            seconds_left = end - time.monotonic()
            if account.id in devices_by_account or not account.devices_url:
                continue
            if seconds_left <= 0.2:
                break
            devices = _ask(account, seconds_left)
            if devices is not None:
                devices_by_account[account.id] = devices
        return devices_by_account

    def claim(self, device: RemoteDevice, *, account_id: int) -> OneTimeKeyDraft | None:
        host = reading.origin_of(device.claim_url)
        if host is None or not requests.may_look_up(host):
            return None
        try:
            key = received_devices.read_key(_claim(device.claim_url, host, Account.objects.get(id=account_id)))
        except (Rejected, KernelError) as error:
            logger.info("No key from %s: %s", device.claim_url, error)
            return None
        return key if device.is_valid(key) else None

    def deliver(self, *, sender: Device, target: Account, message: MessageDraft, franking: str) -> None:
        uri = links.web_url(f"/{uuid4()}")
        document = encrypted_message(sender, target.uri, message, uri=uri, franking=franking)
        key = f"messages:{sender.account_id}:{target.id}"
        queueing.enqueue(sender.account, document, audience.inbox_of(target), key=key)


def _ask(account: Account, seconds: float) -> list[RemoteDevice] | None:
    if not requests.may_look_up(reading.origin_of(account.devices_url) or ""):
        return None
    try:
        document = fetching.fetch_collection(account.devices_url, deadline=seconds)
    except (Rejected, KernelError) as error:
        logger.info("No devices at %s: %s", account.devices_url, error)
        return None
    devices = received_devices.read_devices(document, account.id, account.uri)
    with redis.best_effort("keep devices of another server"):
        redis.client("cache").set(_name(account.id), orjson.dumps(list(map(asdict, devices))), ex=CACHED_SECONDS)
    return devices


def _cached_devices(account_ids: Sequence[int]) -> dict[int, Sequence[RemoteDevice]]:
    values: Any = []
    if account_ids:
        with redis.best_effort("look for devices of other servers"):
            values = redis.client("cache").mget([_name(number) for number in account_ids])
    return {
        number: [RemoteDevice(**releases.known_fields(RemoteDevice, device)) for device in orjson.loads(value)]
        for number, value in zip(account_ids, values, strict=False)
        if value is not None
    }


def _name(account_id: int) -> str:
    return redis.key("cache", "devices", account_id)


def _claim(url: str, host: str, account: Account) -> dict[str, Any]:
    if is_closed_to(host):
        raise Rejected(Reason.CLOSED_TO_SERVER)
    request = Request(
        url,
        method="POST",
        headers={"Content-Type": ACTIVITY_TYPES[0]},
        body=b"",
        accept=ACTIVITY_TYPES,
        max_bytes=_KEY_BYTES,
        redirects=0,
        deadline=LOOKUP_SECONDS,
        signer=signing.signer_of(keys_of(account=account)),
    )
    response = fetch(request)
    if response.status != 200:
        raise Rejected(Reason.DEVICES_REFUSED, f"{response.status} from {host}")
    return reading.parse(response.body)
