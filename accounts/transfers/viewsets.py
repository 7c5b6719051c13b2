"""HTTP endpoints for imports of a person's old posts, an extension of this server."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.users import find_own_account
from accounts.transfers.past import UPLOAD_LIMIT
from accounts.transfers.queries import find_past_import, list_left_out, list_past_imports
from accounts.transfers.serializers import PastImportSerializer, PastInput, PastLineSerializer, PastStartInput
from accounts.transfers.services.past import drop_past, start_past, take_archive, undo_past
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.limits import IMPORTS
from social.api.pagination import ByCursor, ByOffset, Limit
from social.api.parsers import DEFAULT_MAX_BODY, MEBIBYTE
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import BadRequest


class PastImportsViewSet(ApiViewSet):
    """`/api/v1/past_imports`: imports of archives. Reading, importing and undoing happen in the background."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "PastImport", many=True, paging=ByCursor(Limit(20, 40))),
        "create": Endpoint(
            user("write:statuses"),
            "PastImport",
            input=PastInput,
            throttles=(IMPORTS,),
            max_body=UPLOAD_LIMIT + MEBIBYTE,
            max_text=DEFAULT_MAX_BODY,
        ),
        "retrieve": Endpoint(user("read:statuses"), "PastImport"),
        "destroy": Endpoint(user("write:statuses"), EMPTY),
        "start": Endpoint(user("write:statuses"), "PastImport", input=PastStartInput),
        "undo": Endpoint(user("write:statuses"), "PastImport"),
        "left_out": Endpoint(user("read:statuses"), "PastLine", many=True, paging=ByOffset(Limit(40, 400), links=True)),
    }

    def list(self, request: Request) -> HttpResponse:
        """The caller's imports, newest first."""
        page = self.paginate(list_past_imports(self.account_id))
        return page.respond(PastImportSerializer(page.items, many=True).data)

    def create(self, request: Request) -> HttpResponse:
        """Upload an archive. The import's state is `reading` and then `ready` (with the numbers of posts that would be
        imported) or `unreadable`; no post is stored before the import is started.
        """
        file = PastInput.read(request).file
        if file is None:
            raise BadRequest.missing("file")
        account = find_own_account(self.account_id)
        past_import = take_archive(account=account, file=file, file_name=file.name or "")
        return reply(PastImportSerializer(past_import).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An import and its progress."""
        return self._shown_import(id)

    def destroy(self, request: Request, id: int) -> Any:
        """Stop an import, whose posts stay, or remove an archive that was not imported."""
        drop_past(account=find_own_account(self.account_id), import_id=id)
        return {}

    def start(self, request: Request, id: int) -> HttpResponse:
        """Start an import that is `ready`; posts with a wider visibility than `visibility` (`unlisted` or `private`) get that
        visibility.
        """
        visibility = PastStartInput.read(request).visibility
        start_past(account=find_own_account(self.account_id), import_id=id, visibility=visibility)
        return self._shown_import(id)

    def undo(self, request: Request, id: int) -> HttpResponse:
        """Remove all posts of an import, until `undoable_until`."""
        undo_past(account=find_own_account(self.account_id), import_id=id)
        return self._shown_import(id)

    def left_out(self, request: Request, id: int) -> HttpResponse:
        """Entries of the archive that the import leaves out, in the order of the archive."""
        page = self.paginate(list_left_out(find_past_import(self.account_id, id)))
        return page.respond(PastLineSerializer(page.items, many=True).data)

    def _shown_import(self, import_id: int) -> HttpResponse:
        return reply(PastImportSerializer(find_past_import(self.account_id, import_id)).data)
