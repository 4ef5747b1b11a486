"""``frontdesk kb check``: what to mend in the documents, and where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.progress import stages
from frontdesk import KnowledgeBaseError

if TYPE_CHECKING:
    from rag.check import Finding
    from rag.readers import Document, Skipped
    from rag.types import Passage

_SHOWN = 20
"""Findings of one kind that are printed; --json has them all."""

_WHAT = {
    "empty": "without text",
    "duplicate": "the same words twice",
    "contradictory": "the same subject, another number",
    "expired": "a date gone by",
    "instruction": "words that speak to a language model",
    "incomplete": "a part that could not be used",
}


def check_folder(folder: Path, today: date, as_json: bool) -> int:
    """Check every document of ``folder`` and print the findings; 1 if there are any, else 0.

    Raises:
        KnowledgeBaseError: if the folder is missing, cannot be listed or holds no documents.
    """
    from rag.check import check
    from rag.readers import read_folder

    if not folder.is_dir():
        raise KnowledgeBaseError(
            f"knowledge base folder {folder} does not exist; give an existing one with --kb DIR"
        )
    with stages() as progress:
        try:
            found, skipped = read_folder(
                folder, lambda done, total, _: progress("read", done + 1, total)
            )
        except OSError as error:
            raise KnowledgeBaseError(
                f"cannot list knowledge base folder {folder} ({error.strerror}); "
                "make it readable for this user"
            ) from error
        findings = check(found, today, progress)
    failed = [one for one in skipped if one.kind == "failed"]
    if not found and not failed:
        raise KnowledgeBaseError(
            f"knowledge base folder {folder} holds no documents; "
            "add some (.md, .txt, .html, .pdf, .docx, .csv, .xlsx) with paragraphs of text"
        )
    shapes = _findings(findings, found, folder)
    if as_json:
        figures = {
            "documents": len(found),
            "passages": sum(bool(block.text) for one in found for block in one.blocks),
            "findings": shapes,
            "skipped": [skipped_json(one, folder) for one in failed],
            "ignored": [skipped_json(one, folder) for one in skipped if one.kind == "ignored"],
        }
        print(json.dumps(figures, ensure_ascii=False, indent=2))
    else:
        print(
            "\n".join(_checked(shapes, [skipped_json(one, folder) for one in failed], len(found)))
        )
    return 1 if findings or failed else 0


def _findings(
    findings: Sequence[Finding], found: Sequence[Document], folder: Path
) -> list[dict[str, Any]]:
    """Each finding with where its passages stand: file, page, row."""
    from rag.readers import shown, to_passages

    files = {document.id: shown(document.path.relative_to(folder)) for document in found}
    places: dict[str, Passage] = {p.id: p for one in found for p in to_passages(one)}

    def place(name: str) -> dict[str, Any]:
        at = places.get(name)
        return {
            "id": name,
            "file": files[at.doc if at else name],
            "page": at.page if at else None,
            "row": at.row if at else None,
        }

    return [
        {"kind": one.kind, "passages": [place(name) for name in one.passage_ids],
         "detail": one.detail}
        for one in findings
    ]  # fmt: skip


def _checked(
    findings: Sequence[Mapping[str, Any]], failed: Sequence[Mapping[str, str]], documents: int
) -> Iterator[str]:
    for kind, what in _WHAT.items():
        group = [one for one in findings if one["kind"] == kind]
        if group:
            yield f"{kind} ({len(group)}): {what}"
        for one in group[:_SHOWN]:
            yield f"  {'; '.join(map(_place, one['passages']))}"
            yield f"      {one['detail']}"
        if len(group) > _SHOWN:
            yield f"  … and {len(group) - _SHOWN} more (--json)"
    if failed:
        yield f"unreadable ({len(failed)}): left out of the index"
    for one in failed:
        yield f"  {one['file']}: {one['reason']}"
    yield f"{documents} documents read, {len(findings) + len(failed)} things to mend"


def _place(passage: Mapping[str, Any]) -> str:
    where = [passage["file"]]
    where += [f"{name} {passage[name]}" for name in ("page", "row") if passage[name]]
    return f"{passage['id']} ({', '.join(where)})"


def skipped_json(one: Skipped, folder: Path) -> dict[str, str]:
    """A file that was left out, and why."""
    from rag.readers import shown

    return {"file": shown(one.path.relative_to(folder)), "reason": one.reason}
