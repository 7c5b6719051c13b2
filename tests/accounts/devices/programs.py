"""A client program that encrypts messages with its own keys."""

import base64
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounts.models import User
from tests.factories.accounts import make_token
from tests.support.client import Api

UPLOAD = "/api/v1/crypto/keys/upload"


CLAIM = "/api/v1/crypto/keys/claim"


COUNT = "/api/v1/crypto/keys/count"


QUERY = "/api/v1/crypto/keys/query"


DELIVER = "/api/v1/crypto/deliveries"


MESSAGES = "/api/v1/crypto/encrypted_messages"


CLEAR = f"{MESSAGES}/clear"


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass
class Program:
    """A client program with its own keys."""

    user: User
    device_id: str = "phone"
    secret: Ed25519PrivateKey = field(init=False)
    api: Api = field(init=False)

    def __post_init__(self) -> None:
        seed = f"{self.user.account_id}{self.device_id}".encode()[:32].ljust(32, b".")
        self.secret = Ed25519PrivateKey.from_private_bytes(seed)
        self.api = Api(make_token(self.user, "crypto read"))

    def device(self, **more: Any) -> dict[str, Any]:
        return {
            "device_id": self.device_id,
            "name": "My phone",
            "fingerprint_key": text(self.secret.public_key().public_bytes_raw()),
            "identity_key": text(b"i" * 32),
        } | more

    def keys(self, *names: str) -> list[dict[str, str]]:
        found = []
        for name in names:
            key = text(name.encode().ljust(32, b"k"))
            found.append({"key_id": name, "key": key, "signature": text(self.secret.sign(key.encode()))})
        return found

    def upload(self, *names: str, **more: Any) -> Any:
        return self.api.post(UPLOAD, {"device": self.device(**more), "one_time_keys": self.keys(*names)})

    def address(self, **more: Any) -> dict[str, Any]:
        return {"account_id": str(self.user.account_id), "device_id": self.device_id} | more

    def count(self) -> int:
        number: int = self.api.get(COUNT).json()["one_time_keys"]
        return number


def message(program: Program, body: str = "cipher", **more: Any) -> dict[str, Any]:
    return program.address(type=0, body=body, hmac="digest", **more)
