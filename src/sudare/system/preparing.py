"""Whoever waits for compiled code is told so: those who make it and those who speak to people meet here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["tell_preparing", "when_preparing"]

_listeners: list[Callable[[str], None]] = []


@contextmanager
def when_preparing(tell: Callable[[str], None]) -> Iterator[None]:
    """Be told the name of each piece of code that is about to be compiled, as opposed to read from disk.

    Args:
        tell: called with the name, in the thread that compiles.
    """
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


def tell_preparing(name: str) -> None:
    """Tell that a piece of code is about to be compiled."""
    for tell in tuple(_listeners):
        tell(name)
