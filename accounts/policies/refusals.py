"""Lists the reasons for which a file of another server is not copied."""

from __future__ import annotations

from social.kernel.reasons import Reason


class FileReason(Reason):
    """Reasons not to keep and show a file; those of fetching it are `social.kernel.http.errors.FetchReason`."""

    FILE_MISSING = "its server does not give the file", "HTTP status other than 200: there is nothing to show"
    FILE_NOT_SHOWN = (
        "the file is of a kind or size that is not shown",
        "security rows 1, 41 and 56: types that are decoded here, within bounds; others are links to their server",
        "SVG, EPS and TIFF pictures, documents, archives, very long videos",
    )
    FILE_UNREADABLE = "the file cannot be decoded", "security row 1: only what was decoded is shown", "cut downloads"
    FILE_QUARANTINED = "the file is in quarantine", "the scanner that the operator has set"
    FILE_LISTED = "the file is on a hash list", "files that staff do not want (adr/0045)"
    FILE_NOT_SCANNED = "the scanner did not answer", "the scanner that the operator has set: nothing is shown unseen"
