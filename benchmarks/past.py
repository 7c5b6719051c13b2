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
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import requests
from PIL import Image

from benchmarks.processes import Tree
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


class Reader(threading.Thread):
    """Somebody who reads their home, twenty times a second at most; and the memory of the worker meanwhile."""

    def __init__(self, server: Instance, token: str) -> None:
        super().__init__(daemon=True)
        assert server.process is not None
        self._url, self._tree = f"{server.base_url}/api/v1/timelines/home?limit=20", Tree(server.process.pid)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._ended = threading.Event()
        self.times: list[float] = []
        self.memory = 0.0

    def run(self) -> None:
        session = requests.Session()
        while not self._ended.wait(0.05):
            began = time.monotonic()
            session.get(self._url, headers=self._headers, timeout=60).raise_for_status()
            self.times.append((time.monotonic() - began) * 1000)
            if len(self.times) % 20 == 0:
                self.memory = max(self.memory, self._tree.memory().own.get("worker", 0))

    def stop(self, name: str) -> None:
        """End, and print what was seen."""
        self._ended.set()
        self.join()
        found = sorted(self.times)
        shown = ", ".join(f"p{share} {found[len(found) * share // 100]:.0f}" for share in (50, 95, 99))
        print(f"{name}: home {shown} ms of {len(found)}; worker {self.memory:.0f} MiB of its own", flush=True)


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
            reader = Reader(server, seeded.tokens[1])
            reader.start()
            began = time.monotonic()
            path = act()
            found = wait(path, *states)
            took = time.monotonic() - began
            reader.stop(f"{name} {took:.0f} s")
            return found

        quiet = Reader(server, seeded.tokens[1])
        quiet.start()
        time.sleep(20)
        quiet.stop("before")
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
