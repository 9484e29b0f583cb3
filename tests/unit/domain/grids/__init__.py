"""Tests of `sudare.domain.grids`."""
