"""The API layer: the common parts of all endpoints. The layer handles HTTP and imports no app.

`viewsets`, `declarations` and `access` declare an endpoint, and `routing` gives it a path. `inputs` and `fields` read
parameters, `serializers` makes entities, `pagination` splits lists into pages, `responses` makes answers, and `exceptions`
turns errors of `social.kernel.errors` into answers. `identities`, `admission` and `limits` find the caller and count requests.
The modules `staff*` are for the admin. `viewsets`, `inputs`, `pagination` and `routing` have examples in their docstrings.

Tests of rules that apply to all endpoints are inherited from tests.support.battery.
"""
