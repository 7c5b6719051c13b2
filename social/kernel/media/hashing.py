"""Perceptual hashes of pictures and videos, with which copies that were scaled or encoded again are recognised."""

from typing import IO, Final

from social.kernel.media import images, recordings, types
from social.kernel.media.decoder import DecodingFailed, decoder
from social.kernel.media.decoding import jobs

QUALITY_FLOOR: Final = 50  # quality below which a hash depends on chance, as the authors of PDQ advise


def perceptual_hash(file: IO[bytes]) -> bytes | None:
    """Return the PDQ hash of a picture, of the first frame of an animation or of the first picture of a video.

    Returns None for any other file, for a file that cannot be decoded, and for a picture with too little contrast. Raises
    Unidentified if the decoding process ended without an answer.
    """
    file.seek(0)
    kind = types.media_type(file.read(types.HEAD))
    file.seek(0)
    if kind in recordings.READABLE:
        job, parameters = jobs.HASHED_FRAME, {"format": recordings.READERS[kind]}
    elif kind in images.ACCEPTED:
        job, parameters = jobs.HASHED, {}
    else:
        return None
    try:
        with decoder.decode(job, file, parameters) as found:
            facts = found.facts
    except jobs.Refused:
        return None
    except DecodingFailed:
        raise images.Unidentified from None
    finally:
        file.seek(0)
    return bytes.fromhex(facts["hash"]) if facts["quality"] >= QUALITY_FLOOR else None
