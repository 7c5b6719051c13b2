"""Rows for `tests.support.battery`: the confirmation of e-mail addresses."""

from accounts.models import User
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def waiting(callers: Callers, size: int) -> Scene:
    """Return a scene with a user who signed up through an application and has not confirmed the e-mail address."""
    user, application = make_user(confirmed=False), make_application()
    User.objects.filter(pk=user.pk).update(created_by_application=application)
    return Scene(token=make_token(user, "read write", application))


ROWS = [
    Row("POST api/v1/emails/confirmations", waiting),
    Row("GET api/v1/emails/check_confirmation", waiting),
]
test_promises = battery(ROWS)
