"""A knowledge base folder: documents into passages, passages into sentences.

``kb-*.md`` files, paragraphs split at blank lines. Lines that start with ``#`` are headings: left
out of the text, kept as provenance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from frontdesk import KnowledgeBaseError
from rag.days import WEEKDAYS
from rag.rewrite import default_fillers, read_fillers
from rag.types import Passage

_BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|$))+")
_SENTENCE_GAP = re.compile(r"(?<=[.!?])\s+")
_INITIAL = re.compile(r"[A-Z]\.")
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
# After "8 a.m." these go on with the sentence when what follows them does not start a new one.
_GOES_ON = frozenset(WEEKDAYS) | frozenset(_MONTHS) | {"eastern", "central", "pacific", "mountain"}
_LINKS = frozenset({"to", "through", "thru", "and", "or", "until", "till", "on", "time", ""})


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """The documents of one folder.

    ``texts`` maps a document id (``kb-hours``) to its whole text. ``sha256`` covers the documents,
    the filler list and the floors: whatever an index is built from.
    """

    folder: Path
    passages: tuple[Passage, ...]
    texts: dict[str, str]
    fillers: frozenset[str]
    sha256: str


def load(folder: Path | str) -> KnowledgeBase:
    """Read the knowledge base in ``folder``.

    Raises:
        KnowledgeBaseError: if the folder is missing, holds no passage, or a file cannot be read;
            the line names the file and how to mend it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise KnowledgeBaseError(
            f"knowledge base folder {folder} does not exist; give an existing one with --kb DIR"
        )
    try:
        files = sorted(path for path in folder.iterdir() if _is_document(path))
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot list knowledge base folder {folder} ({error.strerror}); "
            "make it readable for this user"
        ) from error
    digest = hashlib.sha256()
    passages: list[Passage] = []
    texts: dict[str, str] = {}
    for path in files:
        texts[path.stem] = _read(path)
        digest.update(f"{path.name}\n{texts[path.stem]}\0".encode())
        passages += split_passages(path.stem, texts[path.stem])
    if not passages:
        raise KnowledgeBaseError(
            f"knowledge base folder {folder} holds no passages; "
            "add files named kb-TOPIC.md with paragraphs of text"
        )
    fillers = default_fillers()
    for name in ("fillers.txt", "floors.json"):
        path = folder / name
        if path.exists():
            digest.update(f"{name}\n{_read(path)}\0".encode())
            fillers |= read_fillers(path) if name == "fillers.txt" else frozenset()
    return KnowledgeBase(folder, tuple(passages), texts, fillers, digest.hexdigest())


def split_passages(doc: str, text: str) -> list[Passage]:
    """The passages of one document's ``text``, ids ``doc#1`` upward."""
    passages: list[Passage] = []
    heading = ""
    for block in _BLOCK.finditer(text):
        first, last, above, parts = -1, -1, heading, []
        at = block.start()
        for line in block.group().splitlines(keepends=True):
            bare = line.strip()
            if bare.startswith("#"):
                heading = bare.lstrip("#").strip()
            elif bare:
                if first < 0:
                    first, above = at + len(line) - len(line.lstrip()), heading
                last = at + len(line.rstrip())
                parts.append(bare)
            at += len(line)
        folded = " ".join(" ".join(parts).split())
        if folded:
            sha256 = hashlib.sha256(folded.encode()).hexdigest()
            number = len(passages) + 1
            passages.append(Passage(f"{doc}#{number}", doc, above, folded, first, last, sha256))
    return passages


def split_sentences(text: str) -> list[str]:
    """``text`` cut after ``.``, ``!`` and ``?``, but not inside abbreviations.

    "a.m." and its like end a sentence only when a capitalised word follows that does not go on
    with it ("until 1 p.m. On Sunday" is cut, "from 8 a.m. Monday through Friday" is not).
    """
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for gap in _SENTENCE_GAP.finditer(text):
        if _ends_sentence(text[start : gap.start()], text[gap.end() :]):
            yield text[start : gap.start()].strip()
            start = gap.end()
    if text[start:].strip():
        yield text[start:].strip()


def _ends_sentence(before: str, after: str) -> bool:
    """Whether the full stop at the end of ``before`` ends a sentence."""
    words = before.split()
    if not words or not before.endswith("."):
        return True
    last = words[-1].lstrip("(\"'")
    previous = words[-2] if len(words) > 1 else ""
    following = [*after.split(maxsplit=2), "", ""]
    starts_anew = following[0].lstrip("(\"'")[:1].isupper()
    kind = _abbreviations().get(last.lower())
    if last.lower() in ("no.", "nos.", "ext.", "tel.", "fig."):
        return not following[0][:1].isdigit()
    if last.lower() in ("st.", "mt.", "ft."):
        # "on Main St. Parking is free", but "near St. Mary's".
        return starts_anew and previous[:1].isupper()
    if kind == "before":
        return False
    if kind == "after":
        return starts_anew and not _goes_on(following)
    if _INITIAL.fullmatch(last):
        # "J. Smith" and "Dr. J. Smith", but "vitamin D. Results".
        is_initial = not previous or previous[:1].isupper()
        return starts_anew and not is_initial
    return True


def _goes_on(following: list[str]) -> bool:
    name, link = following[0].lower(), following[1].lower().strip(",;")
    if name.rstrip(".,;!?").rstrip("s") not in _GOES_ON:
        return False
    return name[-1:] in ".,;!?" or link in _LINKS


@cache
def _abbreviations() -> dict[str, str]:
    path = Path(__file__).with_name("data") / "abbreviations.txt"
    lines = (line.partition("#")[0].split() for line in path.read_text("utf-8").splitlines())
    return {line[1]: line[0] for line in lines if line}


def _is_document(path: Path) -> bool:
    return path.name.startswith("kb-") and path.suffix == ".md"


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise KnowledgeBaseError(
            f"{path} is not UTF-8 text (byte {error.start}); save it again as UTF-8"
        ) from error
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot read {path} ({error.strerror}); make it a readable text file"
        ) from error
