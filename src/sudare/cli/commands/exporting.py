"""A published release in the format that another office reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.console.speaking import Speaker

__all__ = ["export"]


def export(
    speaker: Speaker,
    form: Annotated[str, typer.Argument(metavar="FORMAT", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="RELEASE", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
    table: Annotated[str | None, typer.Option("--table", metavar="NAME", show_default=False)] = None,
) -> None:
    """Write a release in the format that another office reads."""
    from sudare.export import export_format_named, export_format_names, export_release

    if form not in export_format_names():
        raise speaker.mistake("export.no_format", form=form, listed=list(export_format_names()))
    written = export_release(form, folder, out=out, table=table)
    speaker.say("export.done", style="green", words=export_format_named(form).words)
    values = {"file": str(written.file), "format": written.format, "bytes": written.bytes}
    speaker.give(values, str(written.file))
