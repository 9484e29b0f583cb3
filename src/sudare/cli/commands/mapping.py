"""A published table as a picture: a PNG or SVG file with title, legend and scale, or half blocks in the terminal."""

from __future__ import annotations

import hashlib
import math
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sudare.cli.console.speaking import Speaker
from sudare.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.text import Text

    from sudare.domain.sparse_table import SparseTable
    from sudare.tables.map_frames import FramedMap

    Grid = NDArray[np.float64]

__all__ = ["draw_map", "half_blocks"]

DOCUMENT = "release.json"
MAX_WIDTH, MAX_HEIGHT = 100, 40
"""Of a map in the terminal, in characters."""

UPPER_HALF, BACKGROUND = "▀", (24, 24, 27)
SHADES = " ·:-=+*#%@"
"""From nobody to many, where there are no colours."""

BELOW = "n"
"""Where a sum is below 0."""


def draw_map(
    speaker: Speaker,
    place: Annotated[Path, typer.Argument(metavar="FOLDER_OR_FILE", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE.png|.svg", show_default=False)] = None,
    plan: Annotated[Path | None, typer.Option("--plan", metavar="PLAN.toml", show_default=False)] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", show_default=False)] = None,
    bare: Annotated[bool, typer.Option("--bare", show_default=False)] = False,
) -> None:
    """Draw the map of a release, or of a data file."""
    from sudare.tables.map_frames import FramedMap
    from sudare.tables.maps import find_map, pixels_of

    if out is None and not speaker.as_json and not speaker.out.is_terminal:
        raise speaker.mistake("map.no_out")
    table, is_public, told_title, note = _read_table(speaker, place, plan)
    axes = find_map(table.domain)
    if axes is None:
        raise InputError(
            f"The table in '{place}' cannot be drawn as a map: it has no mesh, and not just two long axes.",
            f"「{place}」の表は地図にできません。メッシュがなく、長い2軸の表でもありません。",
        )
    pixels = pixels_of(table, axes)
    if not is_public:
        speaker.warn_of("map.confidential", file=place)
    height, width = pixels.counts.shape
    values = {
        "source": str(place),
        "is_release": is_public,
        "height": height,
        "width": width,
        "cells_per_pixel": pixels.block,
    }
    if out is None:
        speaker.give({**values, "picture": None}, *([] if speaker.as_json else [_in_terminal(speaker, pixels.counts)]))
        return
    framed = FramedMap(
        pixels=pixels,
        axes=axes,
        title=told_title if title is None else title,
        note=note,
        language=speaker.language,
        is_confidential=not is_public,
    )
    _write_picture(speaker, out, framed, bare=bare)
    speaker.say("map.done", style="green", width=width, height=height, block=pixels.block)
    speaker.give({**values, "picture": str(out)}, str(out))


def _write_picture(speaker: Speaker, out: Path, framed: FramedMap, *, bare: bool) -> None:
    from sudare.io import atomically
    from sudare.tables.map_frames import framed_png, framed_svg, undrawn_texts
    from sudare.tables.maps import png_of

    form = out.suffix.lower()
    if form not in (".png", ".svg") or (bare and form == ".svg"):
        raise speaker.mistake("map.bare_is_png" if bare else "map.no_picture", file=out)
    if bare and framed.is_confidential:
        raise speaker.mistake("map.bare_is_public")
    if form == ".svg":
        content = framed_svg(framed).encode()
    elif bare:
        content = b64decode(png_of(framed.pixels, framed.pixels.most))
    else:
        for text in undrawn_texts(framed):
            speaker.warn_of("map.no_letters", text=text)
        content = framed_png(framed)
    with atomically(out) as temporary:
        if framed.is_confidential:
            temporary.chmod(0o600)
        temporary.write_bytes(content)


def half_blocks(counts: Grid, *, with_colour: bool) -> Text:
    """A map in characters, north at the top, on a logarithmic scale; with colours two rows of the map share a line.

    Args:
        counts: people in each place, first row in the south; of a signed table some are below 0.
        with_colour: whether there are colours; without them, denser signs mean more people, and ``BELOW`` fewer than 0.
    """
    import numpy as np
    from rich.text import Text

    sizes = np.abs(counts[::-1])
    shades = np.sign(counts[::-1]) * np.log1p(sizes) / max(float(np.log1p(sizes.max(initial=0))), 1e-9)
    text = Text(no_wrap=True)
    if not with_colour:
        for row in shades:
            text.append("".join(map(_sign_of, row.tolist())) + "\n")
        return text
    colours = _colours(shades)
    if len(colours) % 2:
        colours.append([BACKGROUND] * len(colours[0]))
    for upper, lower in zip(colours[::2], colours[1::2], strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append(
                UPPER_HALF, style=f"rgb({above[0]},{above[1]},{above[2]}) on rgb({below[0]},{below[1]},{below[2]})"
            )
        text.append("\n")
    return text


def _sign_of(shade: float) -> str:
    return BELOW if shade < 0 else SHADES[min(math.ceil(shade * (len(SHADES) - 1)), len(SHADES) - 1)]


def shrink(counts: Grid, height: int, width: int) -> Grid:
    """The counts summed into squares, so that they fit into this many rows and columns."""
    import numpy as np

    block = max(-(-counts.shape[0] // height), -(-counts.shape[1] // width), 1)
    for axis in (0, 1):
        counts = np.add.reduceat(counts, np.arange(0, counts.shape[axis], block), axis=axis)
    return counts


def _in_terminal(speaker: Speaker, counts: Grid) -> Text:
    console = speaker.out
    with_colour = console.color_system is not None and not console.no_color
    width, height = min(console.width - 1, MAX_WIDTH), min(console.height - 4, MAX_HEIGHT)
    # A character is about twice as high as wide: two rows of the map in a line, or each cell two characters wide.
    if with_colour:
        return half_blocks(shrink(counts, 2 * height, width), with_colour=True)
    small = shrink(counts, height, width // 2)
    return half_blocks(small.repeat(2, axis=1), with_colour=False)


def _colours(shades: Grid) -> list[list[tuple[int, int, int]]]:
    import numpy as np

    from sudare.tables.palettes import COLD_COLOURS, COLOURS

    mixed = np.where((shades < 0)[..., None], _mixed(COLD_COLOURS, -shades), _mixed(COLOURS, shades))
    mixed[shades == 0] = BACKGROUND
    return [[(int(r), int(g), int(b)) for r, g, b in row] for row in mixed]


def _mixed(colours: Sequence[str], shades: Grid) -> NDArray[np.int64]:
    import numpy as np

    # Bright means many on the dark ground of a terminal.
    given = np.array(
        [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in reversed(colours)], dtype=np.float64
    )
    steps = np.linspace(0, 1, len(given))
    return np.stack([np.interp(shades, steps, given[:, part]) for part in range(3)], axis=-1).round().astype(np.int64)


class _Shown(NamedTuple):
    """A table, whether it is public, and what to write above its map."""

    table: SparseTable
    is_public: bool
    title: str
    note: str


def _read_table(speaker: Speaker, place: Path, plan: Path | None) -> _Shown:
    """The table of a release folder, of a file of one, or of any file as a plan lays it out."""
    from sudare.releases.kinds.counts import read_plan

    if plan is None and (place.is_dir() or _is_published(place)):
        return _read_release(speaker, place if place.is_dir() else place.parent)
    if plan is None:
        if not place.exists():
            raise InputError(f"There is no '{place}'.", f"「{place}」がありません。")
        raise speaker.mistake("map.no_plan", file=place)
    from sudare.io import read_counts
    from sudare.releases.kinds.counts.running import limits_of

    release_plan = read_plan(plan)
    source = replace(release_plan.source, path=(str(place),), query=None)
    table = read_counts(source, release_plan.domain, **limits_of(release_plan))
    return _Shown(table, is_public=False, title=release_plan.title, note="")


def _read_release(speaker: Speaker, folder: Path) -> _Shown:
    from sudare.privacy import guarantee_words
    from sudare.releases.kinds.counts import read_document, read_published_table
    from sudare.releases.page_numbers import show_budget

    document: Any = read_document(folder)
    table = read_published_table(folder, document)
    event = document.get("event") or {}
    who = guarantee_words.of_unit_that_changes(str((event.get("unit") or {}).get("who", "person")))
    note = speaker.words("map.note", budget=show_budget(event.get("cost") or {}), who=who)
    return _Shown(table, is_public=True, title=str(document.get("title") or folder.resolve().name), note=note)


def _is_published(file: Path) -> bool:
    """Whether a file is the very one that a release beside it lists."""
    from sudare.releases.kinds.counts import read_document
    from sudare.releases.registry import find_kind_of_folder

    if not file.is_file() or not (file.parent / DOCUMENT).is_file():
        return False
    if find_kind_of_folder(file.parent).name != "counts":
        return False
    listed: Any = read_document(file.parent).get("files", [])
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return any(entry.get("name") == file.name and entry.get("sha256") == digest for entry in listed)
