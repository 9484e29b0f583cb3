"""Compiled kernels: arrays in, arrays out.

Nothing here knows of privacy, budgets or units. Each kernel has a slow and obvious twin in ``tests/reference`` and
releases the GIL. This is the only package that imports numba, and it is imported on first use: ``import sudare``
does not load it.

- `sudare.kernels.sampling`: integers from uniform words, by inversion and by rejection.
- `sudare.kernels.exponentials`: exp(-x) in double precision with a proven error bound.
- `sudare.kernels.distributions`: limits of proportions, and Poisson numbers.
- `sudare.kernels.two_way_rounding`: the nearest whole table of given margins.
"""
