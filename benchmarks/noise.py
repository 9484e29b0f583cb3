"""Speed and memory of the samplers, against NumPy's inexact noise, OpenDP's exact noise, and the cipher alone."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction

import numpy as np

import sudare
from benchmarks.measuring import best_seconds, environment_with, in_new_process
from sudare.noise import lattice
from sudare.noise.sampler import Sampler

DRAWS = 1 << 24
PEER_DRAWS = 1 << 16
OPENDP = "0.16.0"
SCALE = 10
WIDE_SCALE = 10**6

TARGETS = {
    "laplace_vs_numpy": "at most 1.5 (time for 2^24 draws / Generator.laplace)",
    "gaussian_vs_numpy": "at most 2 (time for 2^24 draws / Generator.normal)",
    "wide_laplace_vs_numpy": "the same at scale 10^6",
    "wide_gaussian_vs_numpy": "the same at sigma 10^6",
    "two_threads_speedup": "one thread / two threads",
    "opendp_vs_ours": "at least 300 (OpenDP's discrete Laplace / ours, per draw)",
    "opendp_gaussian_vs_ours": "at least 300 (OpenDP's discrete Gaussian / ours, per draw)",
    "cipher_share": "cipher's own time for the bytes used / our time; 1 is the limit",
    "wide_cipher_share": "the same at scale 10^6",
    "extra_memory_mb": "at most 64 (peak above the array that is filled, two threads)",
    "import_vs_numpy": "at most 2 (import sudare / import numpy)",
    "new_scale_ms": "at most 50 (slowest of the samplers for scales up to 10^4)",
    "first_draw_s": "first draw of a fresh process, kernels compiled before",
    "first_draw_numba_s": "of that, importing numba",
    "laplace_ns": "one draw",
    "gaussian_ns": "one draw",
}

OPENDP_CODE = f"""
import time, opendp.prelude as dp
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
laplace = dp.m.make_laplace(*space, scale={SCALE}.0)
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
gaussian = dp.m.make_gaussian(*space, scale={SCALE}.0)
zeros = [0] * {PEER_DRAWS}
best = []
for noise in laplace, gaussian:
    times = []
    for _ in range(3):
        start = time.perf_counter(); noise(zeros); times.append(time.perf_counter() - start)
    best.append(min(times))
print(*best)
"""

MEMORY_CODE = f"""
import numpy as np
from sudare.noise import discrete_gaussian, discrete_laplace
def memory(field):
    lines = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)
    return int(lines[field].split()[0]) / 1024
out = np.zeros({DRAWS}, dtype=np.int64); out[:] = 1
small = out[:1000]
samplers = [discrete_laplace({SCALE}), discrete_gaussian({SCALE}), discrete_laplace({WIDE_SCALE})]
for sampler in samplers: sampler.fill(small)
open("/proc/self/clear_refs", "w").write("5")  # start the high-water mark anew
before = memory("VmRSS")
for sampler in samplers: sampler.fill(out, threads=2)
print(memory("VmHWM") - before)
"""

FIRST_DRAW_CODE = """
import time
start = time.perf_counter()
import numba
imported = time.perf_counter() - start
import sudare
sudare.noise.discrete_laplace(10).draw(1000)
print(time.perf_counter() - start, imported)
"""


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    out = np.zeros(DRAWS, dtype=np.int64)
    generator = np.random.default_rng()
    laplace, gaussian = sudare.noise.discrete_laplace(SCALE), sudare.noise.discrete_gaussian(SCALE)
    wide_laplace, wide_gaussian = sudare.noise.discrete_laplace(WIDE_SCALE), sudare.noise.discrete_gaussian(WIDE_SCALE)
    for sampler in (laplace, gaussian, wide_laplace, wide_gaussian):
        sampler.fill(out[: 1 << 16])
    entropy = sudare.noise.SecureEntropy()
    words = np.zeros(1 << 15, dtype=np.uint64)

    def cipher(count: int) -> None:
        for _ in range(count // words.size):
            entropy.fill(words)

    seconds = best_seconds(
        {
            "laplace": lambda: laplace.fill(out),
            "numpy laplace": lambda: generator.laplace(scale=SCALE, size=DRAWS),
            "gaussian": lambda: gaussian.fill(out),
            "numpy normal": lambda: generator.normal(scale=SCALE, size=DRAWS),
            "wide laplace": lambda: wide_laplace.fill(out),
            "wide gaussian": lambda: wide_gaussian.fill(out),
            "two threads": lambda: laplace.fill(out, threads=2),
            "cipher": lambda: cipher(DRAWS),
            "wide cipher": lambda: cipher(int(2 * DRAWS / _acceptance(wide_laplace))),
        }
    )
    opendp_laplace, opendp_gaussian = map(
        float, in_new_process(OPENDP_CODE, environment_with("opendp", OPENDP)).split()
    )
    first_draw, numba_import = _best_pair(FIRST_DRAW_CODE)
    per_draw = {name: value / DRAWS for name, value in seconds.items()}
    return {
        "laplace_vs_numpy": seconds["laplace"] / seconds["numpy laplace"],
        "gaussian_vs_numpy": seconds["gaussian"] / seconds["numpy normal"],
        "wide_laplace_vs_numpy": seconds["wide laplace"] / seconds["numpy laplace"],
        "wide_gaussian_vs_numpy": seconds["wide gaussian"] / seconds["numpy normal"],
        "two_threads_speedup": seconds["laplace"] / seconds["two threads"],
        "opendp_vs_ours": opendp_laplace / PEER_DRAWS / per_draw["laplace"],
        "opendp_gaussian_vs_ours": opendp_gaussian / PEER_DRAWS / per_draw["gaussian"],
        "cipher_share": seconds["cipher"] / seconds["laplace"],
        "wide_cipher_share": seconds["wide cipher"] / seconds["wide laplace"],
        "extra_memory_mb": float(in_new_process(MEMORY_CODE)),
        "import_vs_numpy": _import_seconds("sudare") / _import_seconds("numpy"),
        "new_scale_ms": 1000 * _slowest_build(),
        "first_draw_s": first_draw,
        "first_draw_numba_s": numba_import,
        "laplace_ns": 1e9 * per_draw["laplace"],
        "gaussian_ns": 1e9 * per_draw["gaussian"],
    }


def _acceptance(sampler: Sampler) -> float:
    """Share of trials that give a value, counted through the words that a draw reads."""
    words = sudare.noise.secure_entropy().words(1 << 18)
    out = np.zeros(words.size, dtype=np.int64)
    _, filled, _ = sampler._fill_from(words, 0, out, 0)
    return filled * sampler.words_per_trial / words.size


def _best_pair(code: str) -> tuple[float, float]:
    in_new_process(code)
    total, part = min(tuple(map(float, in_new_process(code).split())) for _ in range(5))
    return total, part


def _import_seconds(module: str) -> float:
    """Time of a fresh process that imports a module, less that of one that imports nothing."""

    def process(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    process(f"import {module}")
    return min(process(f"import {module}") for _ in range(15)) - min(process("pass") for _ in range(15))


def _slowest_build() -> float:
    """The slowest sampler to build: each kind, scales from the smallest to 10^4, none of them built before."""
    slowest = 0.0
    for kind in (sudare.noise.discrete_laplace, sudare.noise.discrete_gaussian, sudare.noise.geometric):
        for scale in (Fraction(1, 1000), Fraction(1, 7), 1, 8, 32, 60, 63, 64, 127, 200, 1000, 5000, 10**4):
            best = float("inf")
            for attempt in range(3):
                lattice._lattice.cache_clear()
                start = time.perf_counter()
                kind(scale + Fraction(attempt, 10**9))
                best = min(best, time.perf_counter() - start)
            slowest = max(slowest, best)
    return slowest
