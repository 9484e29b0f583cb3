"""Attacks on published tables: intervals, differences, reconstruction, and the solvers behind them."""
