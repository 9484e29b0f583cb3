"""A published release in the format that another office reads."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.console.speaking import Speaker

__all__ = ["export"]

EXAMPLES = {"delta": "lake/people", "iceberg": "lake/census.people"}
"""A place for a table of each format of lakehouses."""


def export(
    speaker: Speaker,
    form: Annotated[str, typer.Argument(metavar="FORMAT", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="RELEASE", show_default=False)],
    out: Annotated[str | None, typer.Option("--out", metavar="PLACE", show_default=False)] = None,
    table: Annotated[str | None, typer.Option("--table", metavar="NAME", show_default=False)] = None,
) -> None:
    """Write a release in the format that another office reads."""
    from sudare.export import export_format_named, export_format_names, export_release, lake_format_names

    if form in lake_format_names():
        _commit(speaker, form, folder, out, table)
        return
    if form not in export_format_names():
        listed = [*export_format_names(), *lake_format_names()]
        raise speaker.mistake("export.no_format", form=form, listed=listed)
    written = export_release(form, folder, out=out, table=table)
    speaker.say("export.done", style="green", words=export_format_named(form).words)
    values = {"file": str(written.file), "format": written.format, "bytes": written.bytes}
    speaker.give(values, str(written.file))


def _commit(speaker: Speaker, form: str, folder: Path, out: str | None, table: str | None) -> None:
    from sudare.export import commit_release, lake_format_named

    if out is None:
        raise speaker.mistake("export.no_place", example=EXAMPLES[form])
    done = commit_release(form, folder, out=out, table=table)
    if done.is_new:
        speaker.say("export.committed", style="green", words=lake_format_named(form).words, version=done.version)
    elif done.version is None:
        speaker.say("export.committed_long_ago", latest=done.latest)
    else:
        speaker.say("export.committed_before", version=done.version, latest=done.latest)
    speaker.give(asdict(done), done.place)
