"""Tests of `sudare.tables.addressed`."""
