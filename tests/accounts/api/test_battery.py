"""Rows for `tests.support.battery`: endpoints of accounts, OAuth, collections and end-to-end encryption."""

from typing import Any

from accounts.collections.models import Collection, CollectionItem
from accounts.copies.models import CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.devices.models import Device, EncryptedMessage
from accounts.emojis.models import CustomEmoji
from accounts.models import AccessToken
from accounts.transfers.models import PastImport, PastLine
from social.kernel import clock
from tests.accounts.devices.programs import Program, message
from tests.factories import statuses as relations
from tests.factories.accounts import make_account, make_application, make_remote, make_token, make_user
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers

GARDENS: dict[str, Any] = {"name": "Gardens", "sensitive": False, "discoverable": True}


def nothing(callers: Callers, size: int) -> Scene:
    return Scene()


def new_application(callers: Callers, size: int) -> Scene:
    return Scene(params={"client_name": "Test", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"})


def credentials(callers: Callers, size: int) -> Scene:
    application = make_application("read write")
    return Scene(
        params={
            "grant_type": "client_credentials",
            "client_id": application.client_id,
            "client_secret": application.client_secret,
            "scope": "read",
        }
    )


def token_to_revoke(callers: Callers, size: int) -> Scene:
    application = make_application("read write")
    token = make_token(callers.user, "read", application)
    return Scene(
        params={"client_id": application.client_id, "client_secret": application.client_secret, "token": token}
    )


def sign_up(callers: Callers, size: int) -> Scene:
    return Scene(
        params={
            "username": "newcomer",
            "email": "newcomer@example.com",
            "password": "correct horse",
            "agreement": True,
            "locale": "en",
        }
    )


def several(callers: Callers, size: int) -> Scene:
    return Scene(params={"id[]": [str(make_account().id) for _number in range(size)]})


def somebody(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": callers.stranger.id}, foreign={"id": make_user(confirmed=False).account_id})


def by_name(callers: Callers, size: int) -> Scene:
    return Scene(params={"acct": callers.stranger.username})


def by_address(callers: Callers, size: int) -> Scene:
    return Scene(params={"uri": callers.stranger.username})


def searched(callers: Callers, size: int) -> Scene:
    for number in range(size):
        make_account(f"gardener{size}_{number}")
    return Scene(params={"q": f"gardener{size}_"})


def profile(callers: Callers, size: int) -> Scene:
    return Scene(params={"display_name": "Main", "note": "hello", "source": {"privacy": "unlisted"}})


def followed(callers: Callers, size: int) -> Scene:
    relations.follow(callers.account, callers.stranger)
    return somebody(callers, size)


def blocked(callers: Callers, size: int) -> Scene:
    relations.block(callers.account, callers.stranger)
    return somebody(callers, size)


def muted(callers: Callers, size: int) -> Scene:
    relations.mute(callers.account, callers.stranger)
    return somebody(callers, size)


def emojis(callers: Callers, size: int) -> Scene:
    CustomEmoji.objects.all().delete()
    for number in range(size):
        CustomEmoji.objects.create(shortcode=f"smile{number}", image="a.png", static_image="a.png")
    return Scene()


def collection(owner: Any, **more: Any) -> Collection:
    return Collection.objects.create(account=owner, **GARDENS | more)


def filled(owner: Any, size: int, **more: Any) -> Collection:
    made = collection(owner, **more)
    for _number in range(size):
        CollectionItem.objects.create(collection=made, account=make_account(discoverable=True))
    return made


def new_collection(callers: Callers, size: int) -> Scene:
    return Scene(params=GARDENS)


def one_collection(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": filled(callers.stranger, size).id})


def own_collection(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": filled(callers.account, size).id}, params={"name": "Parks"})


def item_to_add(callers: Callers, size: int) -> Scene:
    made = collection(callers.account)
    return Scene(ids={"collection_id": made.id}, params={"account_id": str(make_account(discoverable=True).id)})


def own_item(callers: Callers, size: int) -> Scene:
    made = filled(callers.account, 1)
    return Scene(ids={"collection_id": made.id, "id": CollectionItem.objects.get(collection=made).id})


def item_of_me(callers: Callers, size: int) -> Scene:
    made = collection(callers.stranger)
    item = CollectionItem.objects.create(collection=made, account=callers.account)
    return Scene(ids={"collection_id": made.id, "id": item.id})


def collections_of_one(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        filled(callers.account, 2)
    return Scene(ids={"id": callers.account.id})


def collections_with_me(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        CollectionItem.objects.create(collection=collection(callers.stranger), account=callers.account)
    return Scene(ids={"id": callers.account.id})


def program_of(callers: Callers) -> Program:
    """Return a client program of the main user with a device; its token has all scopes, and tests can reduce the scopes."""
    program = Program(callers.user)
    token = AccessToken.objects.get(token=program.api.token)
    program.upload("one")
    assert Device.objects.filter(access_token=token).exists()
    return program


def upload(callers: Callers, size: int) -> Scene:
    program = Program(callers.user)
    return Scene(
        params={"device": program.device(), "one_time_keys": program.keys("one", "two")}, token=program.api.token
    )


def own_device(callers: Callers, size: int) -> Scene:
    return Scene(token=program_of(callers).api.token)


def devices_of_many(callers: Callers, size: int) -> Scene:
    people = [Program(make_user()) for _number in range(size)]
    for program in people:
        assert program.upload().status_code == 200
    return Scene(params={"id": [str(program.user.account_id) for program in people]})


def keys_of_another(callers: Callers, size: int) -> Scene:
    other = Program(callers.other)
    assert other.upload("one", "two", "three").status_code == 200
    return Scene(params={"device": [other.address()]})


def message_to_another(callers: Callers, size: int) -> Scene:
    other = Program(callers.other)
    assert other.upload().status_code == 200
    return Scene(params={"device": [message(other)]}, token=program_of(callers).api.token)


def waiting_messages(callers: Callers, size: int) -> Scene:
    program = program_of(callers)
    device = Device.objects.get(account=callers.account)
    EncryptedMessage.objects.filter(device=device).delete()
    for number in range(size):
        EncryptedMessage.objects.create(
            device=device,
            from_account=callers.stranger,
            from_device_id="phone",
            body=str(number),
            digest="d",
            message_franking="f",
        )
    return Scene(token=program.api.token)


def read_messages(callers: Callers, size: int) -> Scene:
    scene = waiting_messages(callers, size)
    newest = EncryptedMessage.objects.order_by("-id").first()
    assert newest is not None
    return Scene(params={"up_to_id": str(newest.id)}, token=scene.token)


def an_archive(callers: Callers, size: int) -> Scene:
    PastImport.objects.filter(account=callers.account).delete()
    return Scene(params={"file": "data:application/json;base64,W10="})


def past_imports(callers: Callers, size: int, **values: Any) -> list[PastImport]:
    PastImport.objects.filter(account=callers.account).delete()
    values = {"state": "finished", "done": 1, "finished_at": clock.now(), "reasons": {"boost": 2}} | values
    return [PastImport.objects.create(account=callers.account, **values) for _number in range(size)]


def several_past_imports(callers: Callers, size: int) -> Scene:
    past_imports(callers, size)
    return Scene()


def a_past_import(callers: Callers, size: int) -> Scene:
    (made,) = past_imports(callers, 1)
    for line in range(size):
        PastLine.objects.create(batch=made, line=line, uri="https://old.example/1", reason="boost")
    PastImport.objects.filter(account=callers.other.account).delete()
    foreign = PastImport.objects.create(account=callers.other.account)
    return Scene(ids={"id": made.id}, foreign={"id": foreign.id})


def a_past_import_to_start(callers: Callers, size: int) -> Scene:
    scene = a_past_import(callers, size)
    PastImport.objects.filter(account=callers.account).update(state="ready")
    return Scene(ids=scene.ids, foreign=scene.foreign, params={"visibility": "private"})


ACCOUNT = "api/v1/accounts/<id>"
PAST = "api/v1/past_imports"
COLLECTION = "api/v1/collections/<id>"
ITEMS = "api/v1/collections/<collection_id>/items"


def remote_picture(callers: Callers, size: int) -> Scene:
    url = f"https://files.example/{size}.png"
    stranger = make_remote(avatar_remote_url=url)
    digest, purpose = digest_of(CopyPurpose.AVATAR, url), CopyPurpose.AVATAR
    RemoteCopy.objects.get_or_create(digest=digest, purpose=purpose, url=url, state=CopyState.READY, file="a.png")
    return Scene(
        ids={"account_id": stranger.id, "picture": "avatar"},
        foreign={"account_id": make_remote(avatar_remote_url=url, suspended_at=clock.now()).id},
    )


def remote_emoji(callers: Callers, size: int) -> Scene:
    url = f"https://files.example/emoji{size}.png"
    emoji = CustomEmoji.objects.create(shortcode=f"smile{size}", domain="files.example", remote_url=url)
    digest, purpose = digest_of(CopyPurpose.EMOJI, url), CopyPurpose.EMOJI
    RemoteCopy.objects.get_or_create(digest=digest, purpose=purpose, url=url, state=CopyState.READY, file="a.png")
    return Scene(
        ids={"id": emoji.id, "style": "original"},
        foreign={"id": CustomEmoji.objects.create(shortcode=f"ours{size}", image="a.png").id},
    )


ROWS = [
    Row("POST api/v1/apps", new_application),
    Row(f"GET {PAST}", several_past_imports),
    Row(f"POST {PAST}", an_archive),
    Row(f"GET {PAST}/<id>", a_past_import),
    Row(f"DELETE {PAST}/<id>", a_past_import_to_start),
    Row(f"POST {PAST}/<id>/start", a_past_import_to_start),
    Row(f"POST {PAST}/<id>/undo", a_past_import),
    Row(f"GET {PAST}/<id>/left_out", a_past_import, identify=lambda item: item["line"]),
    Row("GET api/v1/apps/verify_credentials", nothing),
    Row("POST oauth/token", credentials),
    Row("POST oauth/revoke", token_to_revoke),
    Row("POST oauth/introspect", token_to_revoke),
    Row("GET oauth/token/info", nothing),
    Row("GET oauth/userinfo", nothing),
    Row("POST oauth/userinfo", nothing),
    Row("GET .well-known/oauth-authorization-server", nothing),
    Row("POST api/v1/accounts", sign_up),
    Row("GET api/v1/accounts", several),
    Row("GET api/v1/accounts/verify_credentials", nothing),
    Row("GET api/v1/verify_credentials", nothing),
    Row("PATCH api/v1/accounts/update_credentials", profile),
    Row("PUT api/v1/accounts/update_credentials", profile),
    Row("POST api/v1/follows", by_address),
    Row("GET api/v1/profile", nothing),
    Row("PATCH api/v1/profile", profile),
    Row("PUT api/v1/profile", profile),
    Row("DELETE api/v1/profile/avatar", nothing),
    Row("DELETE api/v1/profile/header", nothing),
    Row("GET api/v1/accounts/lookup", by_name),
    Row("GET api/v1/accounts/search", searched),
    Row("GET api/v1/accounts/relationships", several),
    Row(f"GET {ACCOUNT}", somebody),
    Row(f"POST {ACCOUNT}/follow", somebody),
    Row(f"POST {ACCOUNT}/unfollow", followed),
    Row(f"POST {ACCOUNT}/block", somebody),
    Row(f"POST {ACCOUNT}/unblock", blocked),
    Row(f"POST {ACCOUNT}/mute", somebody),
    Row(f"POST {ACCOUNT}/unmute", muted),
    Row(f"GET {ACCOUNT}/collections", collections_of_one, items=lambda body: body["collections"]),
    Row(f"GET {ACCOUNT}/in_collections", collections_with_me, items=lambda body: body["collections"]),
    Row("POST api/v1/collections", new_collection),
    Row(f"GET {COLLECTION}", one_collection, flat=True),
    Row(f"PATCH {COLLECTION}", own_collection),
    Row(f"PUT {COLLECTION}", own_collection),
    Row(f"DELETE {COLLECTION}", own_collection),
    Row(f"POST {ITEMS}", item_to_add),
    Row(f"DELETE {ITEMS}/<id>", own_item),
    Row(f"POST {ITEMS}/<id>/revoke", item_of_me),
    Row("POST api/v1/crypto/keys/upload", upload),
    Row("POST api/v1/crypto/keys/query", devices_of_many),
    Row("POST api/v1/crypto/keys/claim", keys_of_another, flat=False),
    Row("GET api/v1/crypto/keys/count", own_device),
    Row("POST api/v1/crypto/deliveries", message_to_another),
    Row("GET api/v1/crypto/encrypted_messages", waiting_messages),
    Row("POST api/v1/crypto/encrypted_messages/clear", read_messages),
    Row("GET api/v1/custom_emojis", emojis),
    Row("GET media_proxy/accounts/<account_id>/<picture>", remote_picture),
    Row("GET media_proxy/emojis/<id>/<style>", remote_emoji),
]
test_promises = battery(ROWS)
