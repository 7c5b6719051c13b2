"""Fills a server with users, follows and posts through its public API; every run creates the same data."""

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from benchmarks.client import Client

_TEXT = """
server timeline photo morning coffee garden music update release friends weather mountain train network protocol source
project library river quiet evening cat dog bicycle kitchen bread recipe history museum language poem
"""
WORDS = _TEXT.split()
PASSWORD = "a long enough password"
TAGS = ("fediverse", "photography", "python", "django", "caturday", "music", "books", "cycling")


@dataclass
class Seeded:
    """The data from which the workloads choose. Everybody follows user 0."""

    base: str
    tokens: list[str] = field(default_factory=list)
    account_ids: list[str] = field(default_factory=list)
    status_ids: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    tags: Sequence[str] = TAGS


def sign_up(base: str, count: int) -> list[str]:
    """Sign up users as an app does, and return their tokens."""
    scopes = "read write follow push"
    anybody = Client(base)
    form = {"client_name": "benchmark", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": scopes}
    app = anybody.call("POST", "/api/v1/apps", form)
    grant = {key: app[key] for key in ("client_id", "client_secret")}
    token = anybody.call("POST", "/oauth/token", grant | {"grant_type": "client_credentials", "scope": scopes})
    client = Client(base, token["access_token"])
    tokens = []
    for name in (f"bench{number:03d}" for number in range(count)):
        person = {"username": name, "email": f"{name}@example.com", "password": PASSWORD}
        answer = client.call("POST", "/api/v1/accounts", person | {"agreement": True, "locale": "en"})
        tokens.append(answer["access_token"])
    return tokens


def seed(base: str, *, users: int, statuses: int, follows: int) -> Seeded:
    """Create users, follows with Zipf-like popularity, posts (a fifth of them replies), as many favourites, and a third as many
    boosts.
    """
    chance = random.Random(1)
    seeded = Seeded(base, sign_up(base, users))
    clients = [Client(base, token) for token in seeded.tokens]
    seeded.account_ids = [c.call("GET", "/api/v1/accounts/verify_credentials")["id"] for c in clients]
    popularity = [1.0 / (number + 1) ** 0.8 for number in range(users)]
    for follower, client in enumerate(clients):
        chosen = {0, *chance.choices(range(users), popularity, k=follows)} - {follower}
        for followed in sorted(chosen):
            client.call("POST", f"/api/v1/accounts/{seeded.account_ids[followed]}/follow")
    answers: dict[str, int] = {}
    for number in range(statuses):
        text = " ".join(chance.choices(WORDS, k=chance.randint(8, 40))).capitalize() + "."
        if chance.random() < 0.1:
            text += "".join(f" #{tag}" for tag in chance.sample(TAGS, 2))
        if chance.random() < 0.1:
            text = f"@bench{chance.randrange(users):03d} {text}"
        form = {"status": text, "visibility": "public"}
        if number > 20 and chance.random() < 0.2:
            recent = seeded.status_ids[:20] if chance.random() < 0.3 else seeded.status_ids[-100:]
            form["in_reply_to_id"] = chance.choice(recent)
            answers[form["in_reply_to_id"]] = answers.get(form["in_reply_to_id"], 0) + 1
        author = chance.choices(clients, popularity)[0]
        seeded.status_ids.append(author.call("POST", "/api/v1/statuses", form)["id"])
    seeded.threads = [status for status, count in answers.items() if count >= 3] or seeded.status_ids[:5]
    for verb in ["favourite"] * statuses + ["reblog"] * (statuses // 3):
        chance.choice(clients).call("POST", f"/api/v1/statuses/{chance.choice(seeded.status_ids)}/{verb}")
    return seeded


def in_threads(concurrency: int, work: Callable[[int], None]) -> None:
    """Run `work(number)` in `concurrency` threads, and raise the first error of any of them."""
    with ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(work, range(concurrency)))
