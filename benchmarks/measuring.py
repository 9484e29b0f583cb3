"""How time and memory are measured: best of several interleaved rounds, so that a busy moment hits nobody in particular."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def best_seconds(jobs: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """The shortest time of each job over several rounds, the jobs taking turns."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def in_new_process(code: str, python: str = sys.executable) -> str:
    """What a fresh Python process prints."""
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip()


def environment_with(package: str, version: str, *beside: str) -> str:
    """The Python of a virtual environment that has one peer package, made on first use in ``.bench``.

    Args:
        package: the peer.
        version: of the peer.
        beside: what it needs without saying so.
    """
    folder = ROOT / ".bench" / f"{package}-{version}"
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", f"{package}=={version}", *beside]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready.touch()
    return str(python)
