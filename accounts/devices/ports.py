"""Port through which this feature calls an app of a higher layer, which sends requests to other servers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from accounts.devices.models import Device
from accounts.devices.policies import MessageDraft, OneTimeKeyDraft, RemoteDevice
from accounts.models import Account
from social.kernel.ports import Port


class RemoteDevices(Protocol):
    """End-to-end encryption devices of remote accounts."""

    def load(self, accounts: Collection[Account]) -> Mapping[int, Sequence[RemoteDevice]]:
        """Return the valid devices of accounts whose server responds within five seconds. Call it outside of transactions."""
        ...

    def claim(self, device: RemoteDevice, *, account_id: int) -> OneTimeKeyDraft | None:
        """Return a one-time key of the device for a local account, or None. Call it outside of transactions."""
        ...

    def deliver(self, *, sender: Device, target: Account, message: MessageDraft, franking: str) -> None:
        """Queue a message for a device of a remote account, in the caller's transaction."""
        ...


remote_devices: Port[RemoteDevices] = Port("accounts.devices.ports.remote_devices")
