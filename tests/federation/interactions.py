"""Helpers that create posts with interaction policies, and find the activities that were sent about them."""

from accounts.models import Account
from social.kernel import links
from statuses.models import Interaction, Status
from statuses.policies.interactions import Choice, rule_of_choice
from tests.factories.accounts import make_token
from tests.factories.statuses import make_status
from tests.support.client import Api


def post_of(author: Account, choice: Choice, text: str = "hello") -> Status:
    return make_status(author, text, interaction_policy={kind: rule_of_choice(kind, choice) for kind in Interaction})


def uri_of(post: Status) -> str:
    return links.status_uri("alice", post.id)


def api_of(account: Account) -> Api:
    return Api(make_token(account.user))
