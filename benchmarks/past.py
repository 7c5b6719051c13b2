"""`python -m benchmarks.past`: the duration and memory of an import of old posts, and its effect on other users.

It starts a server with a data directory of its own and fills it through the API. Then one user imports an archive in Mastodon's
format, in which every `--pictures`th post has a picture, and undoes the import, while another user reads the home timeline
continuously. It prints the seconds for reading, importing and undoing, the maximum memory of the worker, and the response times
of the home timeline before and during the import.
"""

import argparse
import io
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests
from PIL import Image

from benchmarks.client import Client
from benchmarks.measuring import Repeated, meanwhile
from benchmarks.seeding import WORDS, seed
from tests.support.instance import ROOT, Instance
from tests.support.past import create, mastodon, note

MOST_UPLOADED = 256 << 20
"""The maximum size in bytes of an archive that the API accepts (docs/operating.md); larger ones are imported by a command."""


def photographs(side: int) -> Iterator[bytes]:
    """Yield JPEGs of the size of photographs, no two with the same bytes.

    side: pixels of the longer side
    """
    bases = []
    for number in range(10):
        target = io.BytesIO()
        noise = Image.effect_noise((side // 2, side * 3 // 8), 80 + number).resize((side, side * 3 // 4))
        noise.convert("RGB").save(target, "JPEG", quality=85)
        bases.append(target.getvalue())
    for number in itertools.count():
        base = bases[number % len(bases)]
        # A comment segment after the start marker makes each file unique without encoding it again.
        yield base[:2] + b"\xff\xfe\x00\x0a" + b"%08d" % number + base[2:]


def write_archive(place: Path, posts: int, pictures: int, side: int) -> None:
    """Write an archive with posts of about 200 letters; every fifth one is a reply to the post before it."""
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
        for number, photograph in zip(range(0, posts, pictures), photographs(side), strict=False):
            archive.writestr(f"media/{number}.jpg", photograph, zipfile.ZIP_STORED)


def reader(server: Instance, token: str) -> Repeated:
    """Start reading the home timeline of a user at most twenty times a second."""
    client = Client(server.base_url, token)
    return Repeated("home", lambda: client.raw("GET", "/api/v1/timelines/home?limit=20"), server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--pictures", type=int, default=50, help="one picture for this number of posts")
    parser.add_argument("--side", type=int, default=1024, help="pixels of the longer side of a picture")
    arguments = parser.parse_args()
    with Instance() as server, tempfile.TemporaryDirectory() as folder:
        seeded = seed(server.base_url, users=6, statuses=100, follows=4, favourites=20, reblogs=10)
        place = Path(folder) / "archive.zip"
        write_archive(place, arguments.posts, arguments.pictures, arguments.side)
        headers = {"Authorization": f"Bearer {seeded.tokens[2]}"}
        imports = f"{server.base_url}/api/v1/past_imports"

        def wait(path: str, *states: str) -> dict[str, Any]:
            while True:
                found: dict[str, Any] = requests.get(f"{imports}/{path}", headers=headers, timeout=60).json()
                if found["state"] in states:
                    return found
                time.sleep(1)

        def watched(name: str, act: Any, *states: str) -> dict[str, Any]:
            with meanwhile(name, reader(server, seeded.tokens[1])):
                return wait(act(), *states)

        with meanwhile("before", reader(server, seeded.tokens[1])):
            time.sleep(20)

        def hand_over() -> str:
            if place.stat().st_size > MOST_UPLOADED:
                command = [sys.executable, "manage.py", "import_archive", "add", "bench002", str(place), "--dry-run"]
                subprocess.run(command, cwd=ROOT, env=server.environment, check=True)
                return str(requests.get(imports, headers=headers, timeout=60).json()[0]["id"])
            with place.open("rb") as file:
                return str(requests.post(imports, files={"file": file}, headers=headers, timeout=600).json()["id"])

        made = watched(f"handed over and read ({place.stat().st_size >> 20} MiB)", hand_over, "ready", "unreadable")
        number = made["id"]

        def act(name: str) -> str:
            requests.post(f"{imports}/{number}/{name}", headers=headers, timeout=60).raise_for_status()
            return str(number)

        done = watched(f"importing {made['total']} posts", lambda: act("start"), "finished")
        print(f"{done['imported']} imported, left out: {done['reasons']}")
        watched("undoing", lambda: act("undo"), "undone")


if __name__ == "__main__":
    main()
