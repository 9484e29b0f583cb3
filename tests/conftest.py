"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# Machines are shared: no test asserts a time, so no example has a deadline.
settings.register_profile("sudare", deadline=None, max_examples=80, print_blob=True)
settings.load_profile("sudare")
