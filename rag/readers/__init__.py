"""Files to documents: one small module a format, behind one registry.

``read`` takes one file, ``read_folder`` a folder of them. Markdown, plain text, HTML, PDF, DOCX,
CSV, TSV and XLSX. The libraries of each format are imported when a file of it is read.
"""

from rag.readers.folder import Progress, document_id, find_files, read_folder, shown
from rag.readers.registry import READERS, read, to_passages
from rag.readers.types import MAX_BYTES, Block, Document, Skipped, UnreadableFileError

__all__ = [
    "MAX_BYTES",
    "READERS",
    "Block",
    "Document",
    "Progress",
    "Skipped",
    "UnreadableFileError",
    "document_id",
    "find_files",
    "read",
    "read_folder",
    "shown",
    "to_passages",
]
