"""Devices of local accounts, and their one-time keys, for other servers (contract, federation section 4; D-05)."""

from django.http import HttpRequest, HttpResponse

from accounts.devices.models import Device
from accounts.devices.policies import OneTimeKeyDraft
from accounts.devices.queries import reachable
from accounts.devices.services import claim_keys
from federation.documents.devices import devices as devices_document
from federation.documents.devices import one_time_key
from federation.documents.received_devices import DEVICES_LIMIT
from federation.inbound.quotas import host_of
from federation.reasons import Reason
from federation.signatures.message import BadSignature
from federation.views.negotiation import accepts, document, reads
from federation.views.reading import find_local_account, reader_id_of, signature_of
from social.api.admission import count
from social.api.limits import CLAIMS_OF_HOST, refuse_exceeded
from social.kernel import redis
from social.kernel.errors import NotFound

#: Time for which a claim is remembered: longer than the longest validity of a signature (contract, federation section 10
#: "Time").
_REPLAY_SECONDS = 14 * 3600


@reads
def devices(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/collections/devices`: the newest devices; none for a blocked signer."""
    reader_id, account = reader_id_of(request), find_local_account(username)
    rows = Device.objects.filter(account=account).order_by("-id")
    if reader_id is not None and account.id not in reachable(reader_id, [account.id]):
        rows = rows.none()
    return document(devices_document(account, list(rows[:DEVICES_LIMIT])), reader_id=reader_id)


@accepts
def claim(request: HttpRequest, username: str) -> HttpResponse:
    """`POST /users/:username/claim?id=`: a one-time key of the device, for a signed request that is not a replay. Raises
    NotFound for an unknown device, for a device without keys, and for a blocked signer, and RateLimited.
    """
    signed = signature_of(request)
    if signed is None:
        raise BadSignature(Reason.NOT_SIGNED)
    account = find_local_account(username)
    _refuse_replay(signed.fingerprint)
    refuse_exceeded([count(CLAIMS_OF_HOST, subject=f"{host_of(signed.account.uri)} {account.id}")])
    claimed_keys = claim_keys(account_id=signed.account.id, wanted=[(account.id, request.GET.get("id", ""))])
    if not claimed_keys:
        raise NotFound
    _device, key = claimed_keys[0]
    return document(one_time_key(OneTimeKeyDraft(key.key_id, key.key, key.signature)), reader_id=signed.account.id)


def _refuse_replay(fingerprint: str) -> None:
    with redis.best_effort("remember a claim"):
        name = redis.key("cache", "claim", fingerprint)
        if not redis.client("cache").set(name, 1, nx=True, ex=_REPLAY_SECONDS):
            raise BadSignature(Reason.RECEIVED_BEFORE)
