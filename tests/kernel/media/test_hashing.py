"""Tests of perceptual hashes: other programs compute the same hashes, copies have matching hashes, and different pictures do
not.
"""

import io
import random

import pytest
from PIL import Image

from accounts.copies.models import DISTANCE_LIMIT
from accounts.copies.policies import near_words, words_of
from social.kernel.media.decoding.pdq import hash_of
from social.kernel.media.hashing import QUALITY_FLOOR, perceptual_hash
from tests.factories.pictures import encoded, painted
from tests.factories.recordings import sample

#: Expected values for `painted(seed)`, computed by the library of PDQ's authors (pdqhash 0.2.8).
REFERENCE = {
    1: ("33ad2d2825a733c8318d2d28ed2613cdd24ccd63ad3296d9d2c3de7381e335bc", 100),
    2: ("554dccb40ac1fa3604f9fa680938f7cb154674b8aa5aa6a5a797d7c340b4ba69", 100),
    3: ("2cec4d92c9acb44b3616262756dadb2dd312ab31e5363c8cc4c994d3cf87335c", 100),
    4: ("5395e39d593c619bc6e62e73c8c58658c66a29649cf37ee27d626990b29c8471", 100),
}


def distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def hashed(image: Image.Image) -> bytes:
    return bytes.fromhex(hash_of(image)["hash"])


@pytest.mark.parametrize("seed", REFERENCE)
def test_a_hash_differs_from_that_of_the_reference_program_in_a_few_bits_at_most(seed: int) -> None:
    found = hash_of(painted(seed))
    assert distance(bytes.fromhex(found["hash"]), bytes.fromhex(REFERENCE[seed][0])) <= 10
    assert abs(found["quality"] - REFERENCE[seed][1]) <= 1


def test_copies_of_other_sizes_formats_and_transparency_have_nearly_the_same_hash() -> None:
    image = painted(1)
    original = perceptual_hash(io.BytesIO(encoded(image)))
    assert original is not None
    small, flat = image.resize((300, 225)), image.resize((640, 300))
    for name, data in {
        "small": encoded(small, "JPEG", quality=60),
        "flat": encoded(flat, "WEBP", quality=50),
        "large": encoded(image.resize((1600, 1200)), "JPEG", quality=85),
        "grey": encoded(image.convert("L")),
        "upright": encoded(image.rotate(90, expand=True), "JPEG", exif=turned(6)),
    }.items():
        found = perceptual_hash(io.BytesIO(data))
        assert found is not None, name
        assert distance(original, found) <= DISTANCE_LIMIT, name
    other = perceptual_hash(io.BytesIO(encoded(painted(2))))
    assert other is not None
    assert distance(original, other) > 2 * DISTANCE_LIMIT


def turned(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def test_files_without_a_comparable_picture_have_no_hash() -> None:
    plain = Image.new("RGB", (400, 300), "white")
    for data in (encoded(plain), sample("audio/wav"), b"no file at all", encoded(painted(1))[:200]):
        file = io.BytesIO(data)
        assert perceptual_hash(file) is None
        assert file.tell() == 0
    assert perceptual_hash(io.BytesIO(sample("video/mp4"))) == perceptual_hash(io.BytesIO(sample("video/mp4")))


def test_near_hashes_share_a_word_that_the_search_looks_up() -> None:
    chance = random.Random(1)
    for _ in range(200):
        value = chance.randbytes(32)
        bits = int.from_bytes(value, "big")
        for place in chance.sample(range(256), DISTANCE_LIMIT):
            bits ^= 1 << place
        assert not set(near_words(value)).isdisjoint(words_of(bits.to_bytes(32, "big")))


@pytest.mark.verify
def test_ten_thousand_other_pictures_match_none_of_a_hundred() -> None:
    listed = [int.from_bytes(hashed(painted(seed)), "big") for seed in range(100)]
    nearest, hashes = [], 0
    for seed in range(1000, 11_000):
        found = hash_of(painted(seed, 160, 120))
        if found["quality"] < QUALITY_FLOOR:
            continue
        hashes += 1
        value = int(found["hash"], 16)
        nearest.append(min((value ^ known).bit_count() for known in listed))
    matches = sum(distance <= DISTANCE_LIMIT for distance in nearest)
    print(f"{hashes} of 10000 pictures have a hash; {matches} match; the nearest differs in {min(nearest)} bits")
    assert hashes > 9000
    assert matches == 0
