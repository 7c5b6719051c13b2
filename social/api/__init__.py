"""The API layer: the common parts of all endpoints. It handles HTTP and imports no app.

Names that an endpoint's author imports, one line each (their docstrings describe the details):

Endpoints and paths
    class BookmarksViewSet(ApiViewSet):                                     # viewsets
        endpoints = {                                                       # declarations
            "list": Endpoint(user("read:bookmarks"), "Status", many=True, paging=ByCursor(Limit(20, 40))),
            "create": Endpoint(user("write:bookmarks"), "Status", input=BookmarkInput, throttles=family("statuses")),
        }                                  # access: anyone, optional_user, any_token, app_token, user, staff
        def list(self, request: Request) -> Any: ...                        # return data, or a response
    urlpatterns = [endpoint("api/v1/bookmarks", BookmarksViewSet, {"get": "list"})]       # routing
    endpoint("api/v1/statuses/<id>/bookmark", StatusesViewSet, {"post": "bookmark"})      # `id: int`, else 404
    api_urls("accounts.urls", "statuses.urls", ...)                         # the endpoints of all apps

Callers
    request.auth                   # Identity | None: token, application, scopes, user_id, account_id, states, locale
    self.identity, self.account_id, self.viewer_id     # as ids; load rows by queries where they are needed
    request.client_ip, addresses.client_ip(request)    # trusted proxies only
    identities.source.plug(TokenSource)                # the app that looks tokens up
    admission.forget_tokens([checksum_of(token)])           # after the commit that changes a token or its user's state
    admission.count(limits.SIGN_IN_EMAIL, subject=email)    # for pages, which count their own requests

Parameters
    class MuteInput(Form):                             # in an app's serializers/inputs: a frozen dataclass, read by its types
        required_keys = ("uri",)                       # absent or blank: 400
        details = True                                 # 422 with details per field
        notifications: bool = True
        name: Annotated[str, ClientString(max_length=500)] = ""
    class StatusInput(Input[Draft]):                   # a dataclass of the services
        fields = ("visibility", "language")            # read by their types
        media_ids = IdListField(scalar=True)           # ClientChoice, ClientDateTime, ClientFile, NestedListField, ...
    form = MuteInput.read(request)                     # query and body of any encoding; override read_mapping for more

Answers
    class StatusSerializer(EntitySerializer): ...      # serializers: to_representation -> dict; many=True; no queries
    page = self.paginate(queryset_or_loader, cursor="id")                  # pagination: as the endpoint declares it
    return page.respond(StatusSerializer(page.items, many=True).data)      # with the Link header
    return reply(data, status=202, headers={...})      # responses
    raise errors.NotFound                              # social.kernel.errors: exceptions maps them to statuses

The tests of what all endpoints promise are inherited from tests.support.battery.
"""
