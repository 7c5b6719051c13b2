"""Ports: questions of this app to an app above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from accounts.models import Account, Device
from accounts.policies.devices import MessageDraft, OneTimeKeyDraft, RemoteDevice
from social.kernel.ports import Port


class RemoteAccounts(Protocol):
    """Finds people of other servers by their address, over the network."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """The accounts behind (username, domain) pairs, in lower case and Punycode, keyed as asked.

        Asked outside of a transaction; takes at most five seconds altogether, and leaves out what it cannot find in
        them: never raises for what another server does.
        """
        ...

    def seek(
        self, addresses: Collection[tuple[str, str | None]], *, wanted_by: str
    ) -> Collection[tuple[str, str | None]]:
        """Have the accounts with these addresses looked up in the background. Each server is asked at its pace, and only so
        many wait for one `wanted_by`, a person or a server: call it again for the others. An address that waits is not added
        twice.

        Returns the addresses that were not found a short time ago; they are not looked up again now.
        """
        ...

    def refresh(self, account: Account) -> Account:
        """The account as its own server describes it now. Takes at most five seconds; raises Unavailable."""
        ...


class RemoteDevices(Protocol):
    """Devices of end-to-end encryption that people of other servers have there."""

    def load(self, accounts: Collection[Account]) -> Mapping[int, Sequence[RemoteDevice]]:
        """The valid devices of each of these accounts. Left out is whose server cannot be asked; takes at most five seconds
        altogether, outside of a transaction, and never raises for what another server does.
        """
        ...

    def claim(self, device: RemoteDevice, *, account_id: int) -> OneTimeKeyDraft | None:
        """A one-time key of the device for an account here, signed by the device; None when there is none to be had. As
        `load`.
        """
        ...

    def deliver(self, *, sender: Device, target: Account, message: MessageDraft, franking: str) -> None:
        """Have a message sent to a device of an account elsewhere, in the caller's transaction."""
        ...


remote_devices: Port[RemoteDevices] = Port("accounts.ports.remote_devices")
remote_accounts: Port[RemoteAccounts] = Port("accounts.ports.remote_accounts")
