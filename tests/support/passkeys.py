"""An authenticator in software, like the authenticators of browsers and security keys (WebAuthn Level 2, sections 6 and 7)."""

import json
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class SoftwareKey:
    """A passkey of one account on one server; tests can set its fields to wrong values."""

    origin: str = "http://social.localhost"
    relying_party: str = "social.localhost"
    verifies: bool = True
    present: bool = True
    counts: bool = False
    count: int = 0
    handle: str = ""
    id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: dict[str, Any]) -> str:
        """Return the browser's response of `navigator.credentials.create`, as JSON."""
        wanted = options["publicKey"]
        self.handle = wanted["user"]["id"]
        public = cbor.encode(dict(ES256.from_cryptography_key(self.private.public_key())))
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        attested = {"fmt": "none", "attStmt": {}, "authData": self._data(ATTESTED) + credential}
        response = {
            "clientDataJSON": self._client_data("webauthn.create", wanted["challenge"]),
            "attestationObject": websafe_encode(cbor.encode(attested)),
        }
        return self._credential(response, {"credProps": {"rk": True}})

    def get(self, options: dict[str, Any], **changed: Any) -> str:
        """Return, as JSON, what the browser's `navigator.credentials.get` would return; `changed` replaces parts of it."""
        data = self._data()
        client_data = self._client_data("webauthn.get", options["publicKey"]["challenge"])
        signed = data + sha256(websafe_decode(client_data)).digest()
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(self.private.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": self.handle,
        } | changed
        return self._credential(response, {})

    def _data(self, flags: int = 0) -> bytes:
        self.count += self.counts
        flags |= PRESENT * self.present | VERIFIED * self.verifies
        return sha256(self.relying_party.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> str:
        found = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return websafe_encode(json.dumps(found).encode())

    def _credential(self, response: dict[str, Any], extensions: dict[str, Any]) -> str:
        name = websafe_encode(self.id)
        made = {"id": name, "rawId": name, "type": "public-key", "response": response}
        return json.dumps({**made, "clientExtensionResults": extensions})
