"""Benchmarks: each prints ratios against a peer or a limit that is measured in the same run.

Run one with ``python -m benchmarks NAME [--json]``, all with ``make bench``. None is a test: machines are shared and noisy.
"""
