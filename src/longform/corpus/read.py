"""Documents out of files of every readable kind, one after another, never more than one in memory.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from longform.corpus.sources import find_sources
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "tools.jsonl")
...     _ = path.write_text('{"id": "saw", "title": "Saw", "text": "It cuts."}')
...     for source in find_sources([folder]):
...         print(*read_documents(source))
Document(id='saw', title='Saw', text='It cuts.', marks=())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import label
from longform.errors import InputError
from longform.records import Document, Passage

__all__ = ["ReadOptions", "read_documents"]

_Reader = Callable[[Source, ReadOptions, Trouble], Iterator[Document | Passage]]

# Module and function that read each format; a module, and the library behind it, is loaded when it is first needed.
_READERS = {
    "text": ("plain", "read_plain"),
    "markdown": ("markdown", "read_markdown"),
    "html": ("webpage", "read_html"),
    "pdf": ("pdf", "read_pdf"),
    "jsonl": ("jsonrows", "read_jsonl"),
    "json": ("jsonrows", "read_json"),
    "csv": ("tables", "read_table"),
    "tsv": ("tables", "read_table"),
    "mediawiki": ("mediawiki", "read_mediawiki"),
}

_ROWS = ("jsonl", "json", "csv", "tsv")
_SHAPE_FORMATS = {
    "rows": _ROWS,
    "dpr": ("tsv", "csv"),
    "kilt": ("jsonl", "json"),
    "beir": ("jsonl", "json"),
    "mediawiki": ("mediawiki",),
}


def read_documents(
    source: Source,
    options: ReadOptions | None = None,
    on_bad: Callable[[InputError], None] | None = None,
) -> Iterator[Document | Passage]:
    """The documents of one source; rows that are passages already come as passages.

    What cannot be read raises an InputError that names the file and line. With ``options.skip_bad`` it is
    handed to ``on_bad`` instead and reading goes on with the next row, or ends with this file where there is
    no way on. Documents without any text are passed over. Options that do not fit the source are refused in
    any case.
    """
    options = options or ReadOptions()
    _check(source, options)
    return _read(source, options, Trouble(options.skip_bad, on_bad))


def _read(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document | Passage]:
    module, function = _READERS[source.format]
    reader: _Reader = getattr(import_module(f"longform.corpus.{module}"), function)
    try:
        yield from reader(source, options, trouble)
    except InputError as error:
        trouble.bad(error)


def _check(source: Source, options: ReadOptions) -> None:
    if options.passages and source.format not in _ROWS:
        raise InputError(f"{label(source)} cannot be read as passages: only rows of .jsonl, .json, .csv and .tsv can.")
    formats = _SHAPE_FORMATS.get(options.shape)
    if formats is not None and source.format not in formats:
        suffixes = ", ".join(f".{'xml' if name == 'mediawiki' else name}" for name in formats)
        raise InputError(
            f"{label(source)} cannot be read in the shape '{options.shape}': that is for {suffixes} files."
        )
