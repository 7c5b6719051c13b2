"""A server for one user, which verifies and signs requests with bovine's library."""

import json
import sys
from typing import Any

import aiohttp
from aiohttp import web
from bovine.clients.signed_http import SignedHttpClient
from bovine.crypto import SignatureChecker, generate_rsa_public_private_key
from bovine.crypto.types import CryptographicIdentifier

PORT = int(sys.argv[1])
URL = f"http://localhost:{PORT}"
ZOE = f"{URL}/users/zoe"
TYPE = "application/activity+json"
PUBLIC_KEY, PRIVATE_KEY = generate_rsa_public_private_key()

documents: dict[str, Any] = {
    "/users/zoe": {
        "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
        "id": ZOE,
        "type": "Person",
        "preferredUsername": "zoe",
        "name": "zoe of bovine",
        "inbox": f"{ZOE}/inbox",
        "outbox": f"{ZOE}/outbox",
        "followers": f"{ZOE}/followers",
        "publicKey": {"id": f"{ZOE}#main-key", "owner": ZOE, "publicKeyPem": PUBLIC_KEY},
    }
}
seen: list[dict[str, Any]] = []


async def finger(_request: web.Request) -> web.Response:
    links = [{"rel": "self", "type": TYPE, "href": ZOE}]
    return web.json_response({"subject": f"acct:zoe@localhost:{PORT}", "links": links})


async def document(request: web.Request) -> web.Response:
    found = documents.get(request.path)
    return web.json_response(found or {}, status=200 if found else 404, content_type=TYPE)


async def inbox(request: web.Request) -> web.Response:
    async def key(key_id: str) -> CryptographicIdentifier:
        answer = await request.app["client"].get(key_id)
        stored = json.loads(await answer.text())["publicKey"]
        return CryptographicIdentifier.from_pem(stored["publicKeyPem"], stored["owner"])

    signer = await SignatureChecker(key).validate_signature("post", str(request.url), request.headers, request.text)
    seen.append({"signer": signer, "activity": await request.json()})
    return web.Response(status=202 if signer else 401)


async def do(request: web.Request) -> web.Response:
    """Handle a command of the test: store a document under its id, or send an activity to an inbox."""
    asked = await request.json()
    for kept in asked.get("keep", []):
        documents[kept["id"].removeprefix(URL)] = kept
    status = 0
    if "inbox" in asked:
        answer = await request.app["client"].post(asked["inbox"], json.dumps(asked["activity"]))
        status = answer.status
    return web.json_response({"status": status})


async def shown(_request: web.Request) -> web.Response:
    return web.json_response(seen)


async def session(app: web.Application) -> Any:
    async with aiohttp.ClientSession() as made:
        app["client"] = SignedHttpClient(made, f"{ZOE}#main-key", PRIVATE_KEY)
        yield


application = web.Application()
application.cleanup_ctx.append(session)
application.add_routes(
    [
        web.get("/.well-known/webfinger", finger),
        web.get("/seen", shown),
        web.post("/do", do),
        web.post("/users/zoe/inbox", inbox),
        web.get("/{path:.*}", document),
    ]
)
web.run_app(application, host="localhost", port=PORT, print=None)
