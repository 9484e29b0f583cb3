"""Histograms: what is measured of a row of bins, what is published of it, and how accurate that is."""

from sudare.tables.histograms.mechanism import MAX_BINS, histogram
from sudare.tables.histograms.prediction import PredictedHistogram, predict_histogram

__all__ = ["MAX_BINS", "PredictedHistogram", "histogram", "predict_histogram"]
