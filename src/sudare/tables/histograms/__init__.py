"""Histograms: what is measured of a row of bins (`strategy`), and what is published of it (`histogram`)."""

from sudare.tables.histograms.histogram import MAX_BINS, histogram

__all__ = ["MAX_BINS", "histogram"]
