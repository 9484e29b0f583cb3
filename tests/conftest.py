"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock, local

import pytest
from hypothesis import settings
from tools.durations import slow_tests

from sudare.noise import ResearchEntropy, secure_entropy
from tests.run_servers import TestRun

# Machines are shared: no test asserts a time, so no example has a deadline. The same examples are tried in every run, so that
# no run fails by chance, and trying them again tells nothing new: forty are enough. `make fuzz` looks for new ones, five times
# as many.
settings.register_profile("repeatable", deadline=None, max_examples=40, print_blob=True, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=200, print_blob=True)
settings.load_profile(os.environ.get("SUDARE_EXAMPLES", "repeatable"))

RUN = pytest.StashKey[TestRun]()

# Modules and collected tests stay until the end. Looking through them again and again for garbage took a third of the
# collection and a tenth of the tests.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run; processes that xdist starts take part in it."""
    run = TestRun.begin()
    if run is not None:
        config.stash[RUN] = run


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers of the run, when no process needs them any more."""
    gc.unfreeze()  # what is left is given back in order: packages of others complain of what is not
    if RUN in config.stash:
        config.stash[RUN].end()


def pytest_sessionfinish() -> None:
    """Stop this process's Spark and browser, which no other one can use."""
    for module, function in (("tests.contracts.sql_servers", "stop_spark"), ("tests.browser", "close_browser")):
        if module in sys.modules:
            getattr(sys.modules[module], function)()


@cache
def _slow() -> frozenset[str]:
    """What took a tenth of a second or more when durations were recorded, fixtures included."""
    return slow_tests(Path(__file__).with_name("durations.tsv").read_text(encoding="utf-8"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what is slow by measurement; what is so by nature says so itself."""
    if item.nodeid in _slow():
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs Spark comes first, then what needs a browser: one process of a run has it all, and starts each once."""
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in ("spark", "browser")])


def pytest_collection_finish() -> None:
    """From here on garbage is looked for among what tests make, and not among what there is by now."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def hangups_count() -> Iterator[None]:
    """A run that outlives its terminal ignores their signal, and so would every command that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def repeatable_noise(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise in every run of a test, from its name: what it concludes from many draws does not change by chance.

    The operating system's bytes, which key the secure source, are replaced; all else is as in a release.
    """
    source = ResearchEntropy(int.from_bytes(blake2b(request.node.nodeid.encode(), digest_size=8).digest()))
    lock = Lock()

    def repeated_bytes(size: int) -> bytes:
        with lock:
            return source.words(-(-size // 8)).tobytes()[:size]

    monkeypatch.setattr("os.urandom", repeated_bytes)
    # Streams that were keyed before the test are put aside.
    monkeypatch.setattr(secure_entropy(), "_own", local())
