"""An S3 server on loopback for one test, empty at the start."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from social.settings import env

BUCKET = "files"


@dataclass(frozen=True)
class ObjectServer:
    """A running server with one publicly readable bucket."""

    endpoint: str
    client: Any

    def url(self, query: str = "") -> str:
        """Return the value of MEDIA_STORAGE for this server."""
        return f"s3+{self.endpoint.replace('://', '://key:secret@')}/{BUCKET}{query}"

    def entry(self, query: str = "") -> dict[str, Any]:
        """Return Django's STORAGES entry for this server."""
        entry = env._media_storage(self.url(query))
        assert entry is not None
        return entry

    def keys(self) -> list[str]:
        """Return the names of all stored objects."""
        return sorted(item["Key"] for item in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", ()))


@contextmanager
def object_server() -> Iterator[ObjectServer]:
    """Run an S3 server on a free port during the block."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=endpoint, **keys)
        for bucket in client.list_buckets()["Buckets"]:
            for item in client.list_objects_v2(Bucket=bucket["Name"]).get("Contents", ()):
                client.delete_object(Bucket=bucket["Name"], Key=item["Key"])
            client.delete_bucket(Bucket=bucket["Name"])
        client.create_bucket(Bucket=BUCKET, ACL="public-read")
        yield ObjectServer(endpoint, client)
    finally:
        server.stop()
