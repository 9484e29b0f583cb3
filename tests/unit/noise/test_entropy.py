"""Streams are never shared, never repeated, and never mistaken for one another."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.noise import ResearchEntropy, SecureEntropy, entropy_name, secure_entropy
from sudare.noise import entropy as entropy_module

FORK_WARNING = "ignore:This process.*is multi-threaded:DeprecationWarning"


def in_forked_child(work: object, count: int) -> list[np.ndarray]:
    """Words drawn in ``count`` children that were forked one after the other from this very state."""
    drawn = []
    for _ in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(work().tobytes())  # type: ignore[operator]
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            drawn.append(np.frombuffer(pipe.read(), dtype=np.uint64))
        os.waitpid(child, 0)
    return drawn


def all_different(arrays: list[np.ndarray]) -> bool:
    words = np.concatenate(arrays)
    return bool(np.unique(words).size == words.size)


@pytest.mark.filterwarnings(FORK_WARNING)
@pytest.mark.parametrize("source", [secure_entropy(), SecureEntropy()], ids=["default", "own"])
def test_forks_never_share_a_stream(source: SecureEntropy) -> None:
    source.words(3)
    children = in_forked_child(lambda: source.words(500), 3)
    assert all_different([*children, source.words(500)])


@pytest.mark.filterwarnings(FORK_WARNING)
def test_noise_drawn_after_a_fork_differs() -> None:
    noise = sudare.noise.discrete_gaussian(10**9)
    noise.draw(10)
    children = in_forked_child(lambda: noise.draw(50).view(np.uint64), 3)
    assert all_different([*children, noise.draw(50).view(np.uint64)])


@pytest.mark.filterwarnings(FORK_WARNING)
def test_a_broken_twin_that_ignores_forks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same test must fail for a source that carries its stream across the fork."""
    source = SecureEntropy()
    source.words(3)
    monkeypatch.setattr(entropy_module, "_this_process", lambda: source._own.stream.process)
    children = in_forked_child(lambda: source.words(500), 2)
    assert not all_different(children)


@pytest.mark.filterwarnings(FORK_WARNING)
@pytest.mark.parametrize("blind_to", ["getpid", "_forks"])
def test_repeated_process_ids_and_forks_unseen_by_python_do_no_harm(
    monkeypatch: pytest.MonkeyPatch, blind_to: str
) -> None:
    """Either of the two signs of a fork is enough: the id may repeat, and the count may not have been increased."""
    source = SecureEntropy()
    if blind_to == "getpid":
        monkeypatch.setattr(os, "getpid", lambda: 1)
    else:
        monkeypatch.setattr(entropy_module, "_this_process", lambda: os.getpid())
    source.words(3)
    children = in_forked_child(lambda: source.words(500), 2)
    assert all_different([*children, source.words(500)])


@pytest.mark.filterwarnings(FORK_WARNING)
def test_multiprocessing_workers_never_share_a_stream() -> None:
    secure_entropy().words(3)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        drawn = pool.map(draw_words, [200] * 6)
    assert all_different([*drawn, secure_entropy().words(200)])


def draw_words(count: int) -> np.ndarray:
    return secure_entropy().words(count)


def test_threads_never_share_a_stream() -> None:
    source = SecureEntropy()
    barrier = threading.Barrier(8)

    def work(_: int) -> np.ndarray:
        barrier.wait()
        return np.concatenate([source.words(100) for _ in range(20)])

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(work, range(8)))
    assert all_different([*drawn, source.words(2000)])


def test_threads_have_keys_of_their_own() -> None:
    source = SecureEntropy()
    source.words(1)
    streams = [source._own.stream]

    def work() -> None:
        source.words(1)
        streams.append(source._own.stream)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert streams[0] is not streams[1]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_copies_are_new_streams(duplicate: object) -> None:
    source = SecureEntropy()
    source.words(1)
    twin = duplicate(source)  # type: ignore[operator]
    assert type(twin) is SecureEntropy
    assert all_different([source.words(100), twin.words(100)])


def test_spawned_sources_are_independent() -> None:
    for source in (SecureEntropy(), ResearchEntropy(5)):
        assert all_different([child.words(100) for child in [source, *source.spawn(3), *source.spawn(2)]])


def test_key_is_replaced_before_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy_module, "REKEY_BYTES", 1000)
    source = SecureEntropy()
    source.words(100)
    first = source._own.stream
    source.words(100)
    assert source._own.stream is not first


def test_keystream_is_aes_256_in_counter_mode() -> None:
    """NIST SP 800-38A, F.5.5: the key and counter of the CTR-AES256 example; keystream = plaintext xor ciphertext."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    cipher = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228")
    out = bytearray(16)
    entropy_module._Keystream(key, counter).write(memoryview(out))
    assert bytes(out) == bytes(a ^ b for a, b in zip(plain, cipher, strict=True))


def test_stream_does_not_depend_on_how_it_is_read() -> None:
    whole = ResearchEntropy(1).words(100_000)
    source = ResearchEntropy(1)
    pieces = np.concatenate([source.words(n) for n in (1, 7, 40_000, 59_992)])
    assert np.array_equal(whole, pieces)


def test_only_the_secure_source_is_called_secure() -> None:
    class Pretender(SecureEntropy):
        def fill(self, words: np.ndarray) -> None:
            words[:] = 4

    class Named(Pretender):
        name = "secure"

    assert entropy_name(SecureEntropy()) == "secure"
    assert entropy_name(ResearchEntropy(0)) == "research"
    assert entropy_name(Pretender()) == "research"
    assert entropy_name(Named()) == "research"
    assert entropy_name(copy.copy(Pretender())) == "research"
    with pytest.raises(AttributeError):
        SecureEntropy().fill = Pretender().fill  # type: ignore[method-assign]


def test_seed_for_the_secure_source_is_refused() -> None:
    for call in (lambda: SecureEntropy(42), lambda: SecureEntropy(seed=42)):
        with pytest.raises(
            sudare.errors.SeedError, match=r"The 'seed' parameter of SecureEntropy must be left out.*Got 42 instead"
        ):
            call()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_research_source_takes_whole_numbers_only(seed: object) -> None:
    with pytest.raises(sudare.errors.ParameterError, match="The 'seed' parameter of ResearchEntropy must be"):
        ResearchEntropy(seed)  # type: ignore[arg-type]


def test_different_seeds_give_different_streams() -> None:
    assert all_different([ResearchEntropy(seed).words(50) for seed in (0, 1, 2, 255, 256, 2**64, 2**200)])


@pytest.mark.filterwarnings(FORK_WARNING)
def test_research_source_refuses_to_go_on_in_a_child() -> None:
    source = ResearchEntropy(3)

    def attempt() -> np.ndarray:
        try:
            return source.words(1)
        except sudare.errors.EntropyError:
            return np.array([], dtype=np.uint64)

    assert in_forked_child(attempt, 1)[0].size == 0


def test_a_research_source_is_never_copied() -> None:
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(sudare.errors.EntropyError, match="cannot be copied"):
            duplicate(ResearchEntropy(1))


@pytest.mark.parametrize("count", [-1, 1.5, True, None])
def test_counts_of_words_and_sources_are_whole(count: object) -> None:
    for source in (SecureEntropy(), ResearchEntropy(1)):
        for method in (source.words, source.spawn):
            with pytest.raises(sudare.errors.ParameterError, match="The 'count' parameter"):
                method(count)  # type: ignore[arg-type]


ESTIMATES_FROM_REPORTS = {
    "collect/estimation/crosstab_intervals.py",
    "collect/transitions/kronecker.py",
    "collect/estimation/likelihood.py",
}
"""They draw to say how sure an estimate is: from reports alone, which are public, so nothing they draw protects anybody."""

CHOICES_OF_TARGETS = {"examination/people.py", "examination/private_tables.py"}
"""They draw whom to attack; what they attack was published before."""

STAND_INS = {"accuracy/stand_in.py"}
"""They invent tables to predict errors on, about nobody."""


def test_no_other_generator_exists_in_the_package() -> None:
    """Only invented tables, bootstraps and choices of whom to attack use an ordinary one.

    Keys, file names, tokens of pages and people's devices use the system's secrets.
    """
    from pathlib import Path

    package = Path(sudare.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(package).parts[0]
        if path.relative_to(package).as_posix() in ESTIMATES_FROM_REPORTS:
            assert "sudare.noise" not in text, f"{path} makes reports: it must not have an ordinary generator"
        elif place != "examples" and path.relative_to(package).as_posix() not in CHOICES_OF_TARGETS | STAND_INS:
            assert "np.random" not in text, path
            assert "import random\n" not in text, path
        if place not in ("collect", "ledger", "release", "storage", "io", "web") and path.parent.name != "pseudonyms":
            assert "import secrets" not in text, path


@pytest.mark.parametrize(
    "words",
    [
        np.zeros(4),
        np.zeros(4, dtype=np.uint32),
        np.zeros(4, dtype=">u8"),
        np.zeros(4, dtype=object),
        np.zeros(8, dtype=np.uint64)[::2],
        [1, 2],
        None,
    ],
    ids=["float64", "uint32", "big-endian", "object", "strided", "list", "None"],
)
def test_only_arrays_of_words_are_filled(words: Any) -> None:
    for source in (SecureEntropy(), ResearchEntropy(1)):
        with pytest.raises(
            sudare.errors.ParameterError, match="must be a writable, contiguous NumPy array of native uint64"
        ):
            source.fill(words)
