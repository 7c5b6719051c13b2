"""Port: what this feature needs of other servers and an app of a higher layer provides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from accounts.devices.models import Device
from accounts.devices.policies import MessageDraft, OneTimeKeyDraft, RemoteDevice
from accounts.models import Account
from social.kernel.ports import Port


class RemoteDevices(Protocol):
    """End-to-end encryption devices of remote accounts."""

    def load(self, accounts: Collection[Account]) -> Mapping[int, Sequence[RemoteDevice]]:
        """The valid devices of each of these accounts, without accounts whose server cannot be reached.

        To be called outside of a transaction. It takes at most five seconds altogether, and never raises because of
        another server.
        """
        ...

    def claim(self, device: RemoteDevice, *, account_id: int) -> OneTimeKeyDraft | None:
        """A one-time key of the device for a local account, signed by the device; None if there is none. Like `load`,
        it is called outside of a transaction.
        """
        ...

    def deliver(self, *, sender: Device, target: Account, message: MessageDraft, franking: str) -> None:
        """Have a message sent to a device of a remote account, in the caller's transaction."""
        ...


remote_devices: Port[RemoteDevices] = Port("accounts.devices.ports.remote_devices")
