"""`python -m benchmarks.past`: time, memory and pace of an import of old posts.

A server of its own is seeded through its API. Then one person imports an archive as Mastodon writes it, with a picture at every
`--pictures`th post, and undoes the import, while another one reads their home all the time. Printed are the seconds of reading,
importing and undoing, the most memory that the worker had, and the times of the home's answers before and meanwhile.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import requests
from PIL import Image

from benchmarks.client import Client
from benchmarks.measuring import Repeated
from benchmarks.seeding import WORDS, seed
from tests.support.instance import Instance
from tests.support.past import create, mastodon, note


def picture(number: int) -> bytes:
    """Return a JPEG as large as a photograph; each number gives another one."""
    noise = Image.effect_noise((64, 48), 80 + number % 50).resize((1024, 768))
    target = io.BytesIO()
    noise.save(target, "JPEG", quality=85)
    return target.getvalue()


def write_archive(place: Path, posts: int, pictures: int) -> None:
    """Write an archive with posts of about 200 letters, a fifth of them answers to the one before."""
    chance = random.Random(1)
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in mastodon().items():
            if name != "outbox.json":
                archive.writestr(name, data)
        with archive.open("outbox.json", "w") as outbox:
            outbox.write(b'{"type": "OrderedCollection", "orderedItems": [')
            for number in range(posts):
                words = " ".join(chance.choices(WORDS, k=30))
                moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_500_000_000 + number * 1000))
                more: dict[str, Any] = {
                    "published": moment,
                    "tag": [{"type": "Hashtag", "name": f"#{chance.choice(WORDS)}"}],
                }
                if number % 5 == 4:
                    more["inReplyTo"] = note(number - 1)["id"]
                if number % pictures == 0:
                    more["attachment"] = [{"type": "Document", "mediaType": "image/jpeg", "url": f"media/{number}.jpg"}]
                outbox.write(
                    (b", " if number else b"") + json.dumps(create(note(number, f"<p>{words}</p>", **more))).encode()
                )
            outbox.write(b"]}")
        for number in range(0, posts, pictures):
            archive.writestr(f"media/{number}.jpg", picture(number), zipfile.ZIP_STORED)


def reader(server: Instance, token: str) -> Repeated:
    """Begin to read the home of somebody, twenty times a second at most."""
    client = Client(server.base_url, token)
    return Repeated("home", lambda: client.raw("GET", "/api/v1/timelines/home?limit=20"), server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--pictures", type=int, default=50, help="a picture at every so many posts")
    arguments = parser.parse_args()
    with Instance() as server, tempfile.TemporaryDirectory() as folder:
        seeded = seed(server.base_url, users=6, statuses=100, follows=4, favourites=20, reblogs=10)
        place = Path(folder) / "archive.zip"
        write_archive(place, arguments.posts, arguments.pictures)
        headers = {"Authorization": f"Bearer {seeded.tokens[2]}"}
        imports = f"{server.base_url}/api/v1/past_imports"

        def wait(path: str, *states: str) -> dict[str, Any]:
            while True:
                found: dict[str, Any] = requests.get(f"{imports}/{path}", headers=headers, timeout=60).json()
                if found["state"] in states:
                    return found
                time.sleep(1)

        def watched(name: str, act: Any, *states: str) -> dict[str, Any]:
            home = reader(server, seeded.tokens[1])
            began = time.monotonic()
            path = act()
            found = wait(path, *states)
            print(f"{name}: {time.monotonic() - began:.0f} s")
            home.stop()
            return found

        quiet = reader(server, seeded.tokens[1])
        time.sleep(20)
        print("before")
        quiet.stop()
        with place.open("rb") as file:
            made = watched(
                f"upload and reading ({place.stat().st_size >> 20} MiB)",
                lambda: requests.post(imports, files={"file": file}, headers=headers, timeout=600).json()["id"],
                "ready",
                "unreadable",
            )
        number = made["id"]

        def act(name: str) -> str:
            requests.post(f"{imports}/{number}/{name}", headers=headers, timeout=60).raise_for_status()
            return str(number)

        done = watched(f"importing {made['total']} posts", lambda: act("start"), "finished")
        print(f"{done['imported']} imported, left out: {done['reasons']}")
        watched("undoing", lambda: act("undo"), "undone")


if __name__ == "__main__":
    main()
