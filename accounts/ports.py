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
        """Have the accounts behind these addresses found in the background, each server asked at its pace, and few at a time
        for one person or server, which `wanted_by` says: those beyond that are to be asked for again. Returned are those that
        could not be found a short time ago, and are not looked for. Asked again for the same, it looks for none twice.
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
