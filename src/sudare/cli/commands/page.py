"""The local page: everything from a file to a checked release, for people who would rather look than type."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.console.speaking import Speaker
from sudare.errors import OutputError

__all__ = ["ui"]


def ui(
    speaker: Speaker,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)] = Path(),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="NUMBER")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser")] = False,
) -> None:
    """Open the page of a folder, until it is interrupted."""
    from sudare.web.serving import serve_locally

    if not folder.is_dir():
        raise OutputError(
            f"There is no folder '{folder}'. Name one that exists.",
            f"フォルダ「{folder}」がありません。既にあるフォルダを指定してください。",
        )

    def tell(address: str) -> None:
        speaker.say("ui.open", style="green", folder=folder.resolve())
        speaker.give({"address": address}, address)
        speaker.say("ui.stop", style="dim")

    serve_locally(folder, port=port, opens_browser=not no_browser, tell=tell)
