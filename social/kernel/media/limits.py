"""Size limits of uploads and of the files stored from them (contract, parameters section 3 "Media")."""

from typing import Final

PIXEL_LIMIT: Final = 33_177_600
SIDE_LIMIT: Final = 32_767
"""Limit on each side, in pixels. Drawing a picture one pixel wide and 33 million high takes seconds (security row 56)."""
GIF_PIXEL_LIMIT: Final = 921_600
ANIMATION_PIXELS: Final = 48_000_000
"""Limit on the pixels in all frames of an animated picture, as uploaded or as redrawn: 300 frames of 400 x 400."""
ORIGINAL_PIXELS: Final = 8_294_400
PREVIEW_PIXELS: Final = 230_400

VIDEO_PIXEL_LIMIT: Final = 8_294_400
FRAME_RATE_LIMIT: Final = 120
FRAMES_LIMIT: Final = 36_000
GIF_TOTAL_PIXELS: Final = 4_000_000_000
"""Limit on the pixels in all frames of a GIF: seven minutes of the largest GIF at ten frames a second."""
