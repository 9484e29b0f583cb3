"""All experiments by name, and a whole run: compute what is missing, write pages, and one page for all."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.io import atomically
from sudare_papers import errata
from sudare_papers.maps import data_fingerprint, data_in_words
from sudare_papers.pk import page as pk_page
from sudare_papers.pk import runs as pk_runs
from sudare_papers.power import page as power_page
from sudare_papers.power import runs as power_runs
from sudare_papers.pruning import page as pruning_page
from sudare_papers.pruning import runs as pruning_runs
from sudare_papers.recovery import page as recovery_page
from sudare_papers.recovery import runs as recovery_runs
from sudare_papers.report import PAGE, Report, page_of, write_report
from sudare_papers.settings import Settings
from sudare_papers.steps import Results, Step, run_steps
from sudare_papers.survey import page as survey_page
from sudare_papers.survey import runs as survey_runs
from sudare_papers.zcdp import page as zcdp_page
from sudare_papers.zcdp import runs as zcdp_runs

__all__ = ["EXPERIMENTS", "Experiment", "Reproduced", "machine_in_words", "reproduce"]

FOLDER, WHOLE_PAGE, RESULTS = "reproduction", "REPRODUCTION.md", "steps.jsonl"


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment.

    Attributes:
        steps: what there is to compute.
        report: what came out, from the results of all steps by name.
    """

    steps: Callable[[Settings], list[Step]]
    report: Callable[[Settings, Mapping[str, Any]], Report]


EXPERIMENTS: dict[str, Experiment] = {
    "zcdp": Experiment(zcdp_runs.steps, zcdp_page.report),
    "power": Experiment(power_runs.steps, power_page.report),
    "pruning": Experiment(pruning_runs.steps, pruning_page.report),
    "neg-l2": Experiment(recovery_runs.steps, recovery_page.report),
    "pk": Experiment(pk_runs.steps, pk_page.report),
    "survey": Experiment(survey_runs.steps, survey_page.report),
}


@dataclass(frozen=True)
class Reproduced:
    """What a run left behind.

    Attributes:
        reports: of each experiment.
        pages: the page of each, and that of all together where all were run.
    """

    reports: tuple[Report, ...]
    pages: tuple[Path, ...]


def reproduce(
    names: Sequence[str],
    settings: Settings,
    out: Path,
    language: str = "en",
    tell: Callable[[str, float], None] = lambda name, share: None,
) -> Reproduced:
    """Run experiments and write what came out. What an interrupted run had found is used.

    Args:
        names: of the experiments.
        settings: of the run.
        out: the folder; pages are written to ``reproduction/NAME`` in it, and ``REPRODUCTION.md`` if all were run.
        language: of the pages, ``"en"`` or ``"ja"``.
        tell: called with the name of an experiment and the share of it that is done.

    Raises:
        OutputError: if something cannot be written.
    """
    data = data_fingerprint(settings)
    reports, pages = [], []
    for name in names:
        folder = out / FOLDER / name
        experiment = EXPERIMENTS[name]

        def tell_share(done: int, steps: int, _: str, name: str = name) -> None:
            tell(name, done / steps)

        tell(name, 0.0)
        results = run_steps(experiment.steps(settings), settings, Results(folder / RESULTS), data, tell_share)
        report = experiment.report(settings, results)
        write_report(report, folder, language)
        reports.append(report)
        pages.append(folder / PAGE)
    if set(names) == set(EXPERIMENTS):
        with atomically(out / WHOLE_PAGE, replace=True) as temporary:
            temporary.write_text(_whole_page(reports, settings, language), encoding="utf-8")
        pages.insert(0, out / WHOLE_PAGE)
    return Reproduced(tuple(reports), tuple(pages))


def machine_in_words() -> str:
    """Processor, cores, memory, and the versions that matter."""
    model = platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        names = [
            line.split(":", 1)[1].strip() for line in cpus.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    cores = len(os.sched_getaffinity(0))
    return f"{model}, {cores} cores, {memory:.0f} GiB; Python {platform.python_version()}, {versions}"


def _whole_page(reports: Sequence[Report], settings: Settings, language: str) -> str:
    held = sum(finding.holds for report in reports for finding in report.findings)
    claims = sum(len(report.findings) for report in reports)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    quick = " --quick" if settings.is_quick else ""
    texts = (
        Words("# The papers, reproduced", "# 論文の再現"),
        Words(
            f"`sudare reproduce all{quick} --repeats {settings.repeats}` wrote this page on {date}.",
            f"このページは {date} に `sudare reproduce all{quick} --repeats {settings.repeats}` で作成しました。",
        ),
        Words(f"- Machine: {machine_in_words()}", f"- 計算機：{machine_in_words()}"),
        Words(f"- Data: {data_in_words(settings).english}", f"- データ：{data_in_words(settings).japanese}"),
        Words(f"- Findings that hold: {held} of {claims}", f"- 成立した所見：{claims} 件中 {held} 件"),
    )
    head = "\n\n".join(text.explain(language) for text in texts[:2])
    facts = "\n".join(text.explain(language) for text in texts[2:])
    pages = [page_of(report, language, f"{FOLDER}/{report.name}/", level=2) for report in reports]
    return "\n\n".join([head, facts, *pages, errata.page(language)])
