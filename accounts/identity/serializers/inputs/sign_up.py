"""Parameters of `POST /api/v1/accounts`."""

from __future__ import annotations

from typing import Annotated

from social.api.fields import ClientAgreement
from social.api.inputs import Form, Stripped


class SignUpInput(Form):
    """Parameters of a sign-up; the policy validates them."""

    username: Stripped = ""
    email: Stripped = ""
    password: str = ""
    agreement: Annotated[bool, ClientAgreement()] = False
    locale: str | None = None
    reason: str = ""
    time_zone: str | None = None
    date_of_birth: str = ""
    invite_code: Stripped = ""
