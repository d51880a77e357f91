"""``longform serve``: the page and the interface over HTTP."""

from __future__ import annotations

import click

from longform.cli.options import counted
from longform.cli.progress import progress_bar
from longform.errors import InputError

__all__ = ["command"]


@click.command("serve")
@click.argument("indexes", nargs=-1, metavar="INDEX…")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; others need --token.")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 takes any that is free."
)
@click.option(
    "--token",
    envvar="LONGFORM_TOKEN",
    metavar="TOKEN",
    help="What clients must know; better given as $LONGFORM_TOKEN, which other users cannot see.",
)
@click.option("--home", metavar="FOLDER", help="For history and uploads. [default: ~/.local/share/longform/serve]")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="extractive, gguf:FILE, openai:NAME@URL, hf:FOLDER, or a name of `longform models`; may be given often, "
    "the first is the default. [default: extractive]",
)
@click.option(
    "--rerank", default="reranker", metavar="MODEL", help="A re-ranker, similarity, or none. [default: shipped]"
)
@click.option("--reader", default="reader", metavar="MODEL", help="The span reader. [default: shipped]")
@click.option("--running", default=2, show_default=True, metavar="N", help="Requests that a process works on at once.")
@click.option("--queue", default=16, show_default=True, metavar="N", help="Requests that may wait; others get 429.")
@click.option("--time-limit", default=60.0, show_default=True, metavar="S", help="Seconds that a request has.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), metavar="N", help="Processes.")
@click.option("--threads", type=int, metavar="N", help="Cores that a request uses. [default: all]")
@click.option("--upload-mb", default=200, show_default=True, metavar="N", help="Largest upload.")
@click.option("--verbose", is_flag=True, help="A line for every request, on stderr.")
def command(
    indexes: tuple[str, ...],
    host: str,
    port: int,
    token: str | None,
    home: str | None,
    models: tuple[str, ...],
    rerank: str,
    reader: str,
    running: int,
    queue: int,
    time_limit: float,
    workers: int,
    threads: int | None,
    upload_mb: int,
    verbose: bool,
) -> None:
    """Serve a page to ask INDEX… in the browser, and the same over HTTP; folders of documents work too.

    \b
    longform serve my.index
    longform serve wiki.index notes/ --port 9000 --model extractive --model gguf:model.gguf
    LONGFORM_TOKEN=… longform serve my.index --host 0.0.0.0 --workers 2
    """
    from pathlib import Path

    from longform.answer.folders import index_of
    from longform.models.registry import find_model
    from longform.serve.settings import MEGABYTE, Settings, default_home, named_indexes

    try:
        from longform.serve.running import run
    except ImportError as error:
        raise InputError(
            f"Serving needs {error.name}: `pip install 'longform[serve]'` installs what is missing."
        ) from error
    if threads is not None and threads < 1:
        raise InputError(f"--threads must be at least 1, and {threads} is not.")
    # A name that is wrong is said now, and not by the first request.
    if rerank not in ("similarity", "none"):
        find_model(rerank, "reranker")
    find_model(reader, "reader")
    with progress_bar() as progress:
        opened = [index_of(folder, progress=progress) for folder in indexes]
    names = [Path(folder).expanduser().resolve().name for folder in indexes]
    settings = Settings(
        indexes=named_indexes([index.folder.resolve() for index in opened], names),
        home=Path(home).expanduser().resolve() if home else default_home(),
        token=token or None,
        host=host,
        models=tuple(dict.fromkeys(models)) or ("extractive",),
        rerank=rerank,
        reader=reader,
        running=running,
        queue=queue,
        time_limit=time_limit,
        threads=threads,
        upload_bytes=upload_mb * MEGABYTE,
    )
    passages = sum(len(index) for index in opened)

    def ready(address: str) -> None:
        shown = f"{counted(len(opened), 'collection')} with {counted(passages, 'passage')}"
        click.echo(f"Serving {shown} at {address} (Ctrl-C ends it).")
        if settings.token is not None:
            click.echo(
                f"Open {address}/?token=TOKEN once with your token; programs send `Authorization: Bearer TOKEN`."
            )

    run(settings, port, workers, ready, verbose)
