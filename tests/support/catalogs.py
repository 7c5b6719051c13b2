"""Collects all translatable sentences in the sources, and updates the gettext catalogs.

`python -m tests.support.catalogs` (`make messages`) adds new sentences to the `.po` files, drops removed ones and writes the
`.mo` files; it does not need GNU gettext.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent.parent
LOCALES = ROOT / "social" / "locale"
LANGUAGES = ("en", "de", "ar")
PACKAGES = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
_PLURAL_FORMS = {
    "en": "nplurals=2; plural=(n != 1);",
    "de": "nplurals=2; plural=(n != 1);",
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
}
_SINGULAR = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_PLURAL = {"ngettext", "ngettext_lazy"}
_CONTEXT = {"pgettext", "pgettext_lazy"}
_PLURAL_CONTEXT = {"npgettext", "npgettext_lazy"}
Key = tuple[str | None, str, str | None]  # a context, a sentence and its plural


_CALL = re.compile(r"gettext|\b_\(")


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _calls(source: str) -> Iterator[Key]:
    # Searching for words is much faster than parsing.
    for node in ast.walk(ast.parse(source)) if _CALL.search(source) else ():
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        texts = [_constant(argument) for argument in node.args]
        if name in _SINGULAR and texts and texts[0]:
            yield None, texts[0], None
        elif name in _PLURAL and len(texts) >= 2 and texts[0]:
            yield None, texts[0], texts[1]
        elif name in _CONTEXT and len(texts) >= 2 and texts[1]:
            yield texts[0], texts[1], None
        elif name in _PLURAL_CONTEXT and len(texts) >= 3 and texts[1]:
            yield texts[0], texts[1], texts[2]


_TEMPLATE_CALL = re.compile(r"\b(n?p?gettext|_)\((?=\s*u?['\"])")


def _template_calls(source: str) -> Iterator[Key]:
    code = templatize(source)
    for match in _TEMPLATE_CALL.finditer(code):
        # A sentence may contain parentheses: the call ends where the text so far is valid Python.
        end = code.find(")", match.end())
        while end != -1:
            try:
                calls = list(_calls(code[match.start() : end + 1]))
            except SyntaxError:
                end = code.find(")", end + 1)
                continue
            yield from calls
            break


def sentences() -> dict[Key, set[str]]:
    """Return every translatable sentence of Python files and templates, with the files that contain it."""
    found: dict[Key, set[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix == ".py" and "migrations" not in path.parts:
                keys = _calls(path.read_text())
            elif path.suffix in (".html", ".txt") and "templates" in path.parts:
                keys = _template_calls(path.read_text())
            else:
                continue
            for key in keys:
                found.setdefault(key, set()).add(str(path.relative_to(ROOT)))
    # A sentence that is used with and without a plural has a single entry, which includes the plural.
    with_plural = {(context, sentence) for context, sentence, plural in found if plural}
    return {key: files for key, files in found.items() if key[2] or (key[0], key[1]) not in with_plural}


def catalogue(language: str) -> polib.POFile:
    """Return the `.po` file of a language, empty if there is none yet."""
    path = LOCALES / language / "LC_MESSAGES" / "django.po"
    if path.exists():
        return polib.pofile(str(path), wrapwidth=120)
    fresh = polib.POFile(wrapwidth=120)
    fresh.metadata = {
        "Project-Id-Version": "social",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": _PLURAL_FORMS[language],
    }
    return fresh


def update() -> None:
    """Update every catalog from the sources; in the English catalog, every new sentence is its own translation."""
    current = sentences()
    for language in LANGUAGES:
        po = catalogue(language)
        known: dict[tuple[str | None, str], polib.POEntry] = {(entry.msgctxt, entry.msgid): entry for entry in po}
        fresh = polib.POFile(wrapwidth=120)
        fresh.metadata = po.metadata
        for context, sentence, plural in sorted(current, key=lambda key: (key[1], key[0] or "")):
            entry = known.get((context, sentence))
            if entry is None or (entry.msgid_plural or None) != plural:
                entry = polib.POEntry(msgid=sentence, msgctxt=context, msgid_plural=plural or "")
            entry.occurrences = [(file, "") for file in sorted(current[context, sentence, plural])]
            entry.flags = ["python-format"] if re.search(r"%\(\w+\)[sd]", sentence) else []
            if plural and not entry.msgstr_plural:
                entry.msgstr_plural = dict.fromkeys(range(int(_PLURAL_FORMS[language][9])), "")
            if language == "en" and plural:
                entry.msgstr_plural = {0: sentence, 1: plural}
            elif language == "en" and not entry.msgstr:
                entry.msgstr = sentence
            fresh.append(entry)
        folder = LOCALES / language / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        fresh.save(str(folder / "django.po"))
        fresh.save_as_mofile(str(folder / "django.mo"))


if __name__ == "__main__":
    update()
