"""Reads the header lines of CSV files that people have edited."""

from collections.abc import Iterable


def header_names(cells: Iterable[str]) -> list[str]:
    """Return the names of columns in lower case, without quotation marks and the `#` before them."""
    return [cell.strip().strip('"').lower().removeprefix("#") for cell in cells]


def find_separator(text: str, column: str) -> str:
    """Return the character between the columns of a file: a comma, or the semicolon or tab in a header line that names
    `column`. Spreadsheets in languages with a decimal comma write semicolons.
    """
    first = text.lstrip().partition("\n")[0]
    wanted = header_names([column])[0]
    return next((mark for mark in ";\t" if mark in first and wanted in header_names(first.split(mark))), ",")
