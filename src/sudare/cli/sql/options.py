"""The options of the commands that ask a database, and what they stand for: a query, a budget, a connection that charges."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sudare.cli.console.budgets import read_budget
from sudare.cli.console.speaking import Speaker
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from sudare.privacy import Budget
    from sudare.sql.execution.connection import Connection

__all__ = [
    "BudgetOptions",
    "ConnectionOptions",
    "Database",
    "LedgerOptions",
    "MethodOptions",
    "QueryOptions",
    "Seconds",
    "SourceOptions",
    "UnusedOptions",
]

PLAIN: Any = {"show_default": False, "show_envvar": False}
"""The help says itself which variable counts, in its language."""

Database = Annotated[str, typer.Option("--data", metavar="DATABASE", envvar="SUDARE_SQL_DATA", **PLAIN)]
MetadataFile = Annotated[
    Path, typer.Option("--metadata", metavar="METADATA.toml", envvar="SUDARE_SQL_METADATA", **PLAIN)
]
LedgerPlace = Annotated[str, typer.Option("--ledger", metavar="LOCATION", envvar="SUDARE_SQL_LEDGER", **PLAIN)]
DatasetName = Annotated[str, typer.Option("--dataset", metavar="DATASET", envvar="SUDARE_SQL_DATASET", **PLAIN)]
Analyst = Annotated[str | None, typer.Option("--analyst", metavar="NAME", envvar="SUDARE_SQL_ANALYST", **PLAIN)]
UnusedLedger = Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", **PLAIN)]
UnusedDataset = Annotated[str | None, typer.Option("--dataset", metavar="DATASET", **PLAIN)]
UnusedAnalyst = Annotated[str | None, typer.Option("--analyst", metavar="NAME", **PLAIN)]
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", show_default=False)]
Delta = Annotated[str | None, typer.Option("--delta", metavar="NUMBER", show_default=False)]
Rho = Annotated[str | None, typer.Option("--rho", metavar="NUMBER", show_default=False)]
NoiseKind = Annotated[Literal["auto", "laplace", "gaussian"], typer.Option("--noise")]
JoinKind = Annotated[Literal["truncated", "elastic"], typer.Option("--joins")]
Answers = Annotated[Path | None, typer.Option("--answers", metavar="FOLDER", show_default=False)]
Seconds = Annotated[float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, show_default=False)]
OptOutsRemoved = Annotated[bool, typer.Option("--opt-outs-removed")]
QueryText = Annotated[str | None, typer.Argument(metavar="QUERY", show_default=False)]
QueryFile = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE.sql", show_default=False)]


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Where the data is, and the file that says who is protected."""

    database: Database
    metadata: MetadataFile


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """Where queries are charged."""

    ledger: LedgerPlace
    sql_dataset: DatasetName


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """A query: typed, in a file, or on the standard input."""

    query: QueryText = None
    query_file: QueryFile = None

    def read(self, speaker: Speaker) -> str:
        """The text of the query.

        Raises:
            UsageError: if there is none, or there are two.
        """
        if self.query is not None and self.query_file is not None:
            raise speaker.mistake("sql.two_queries")
        if self.query_file is not None:
            try:
                return read_regular_file(self.query_file).decode("utf-8")
            except (OSError, UnicodeDecodeError):
                raise speaker.mistake("sql.no_file", file=self.query_file) from None
        if self.query is not None and self.query != "-":
            return self.query
        if self.query is None and sys.stdin.isatty():
            raise speaker.mistake("sql.no_query")
        return sys.stdin.read()


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What a query may cost."""

    query_epsilon: Epsilon = None
    query_delta: Delta = None
    query_rho: Rho = None

    def read(self) -> Budget | None:
        """The budget that the options state; None where the query states its own."""
        if self.query_epsilon is None and self.query_delta is None and self.query_rho is None:
            return None
        return read_budget(self.query_epsilon, self.query_delta, self.query_rho)


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """How a query is answered."""

    noise: NoiseKind = "auto"
    joins: JoinKind = "truncated"


@dataclass(frozen=True, kw_only=True)
class UnusedOptions:
    """What only charging needs: taken and ignored, so that the options of one command can be used with another."""

    ledger: UnusedLedger = None
    sql_dataset: UnusedDataset = None
    analyst: UnusedAnalyst = None


@dataclass(frozen=True, kw_only=True)
class ConnectionOptions:
    """Who asks, and what is kept of the answers."""

    analyst: Analyst = None
    answers: Answers = None
    opt_outs_removed: OptOutsRemoved = False

    def open(
        self,
        source: SourceOptions,
        account: LedgerOptions,
        budget: BudgetOptions,
        method: MethodOptions,
        timeout: float | None = None,
        *,
        reads_later: bool = False,
    ) -> Connection:
        """Open a connection that charges; with ``reads_later``, one that only tells prices, for which no row is needed."""
        from sudare.sql.execution.connection import connect
        from sudare.sql.execution.opening import open_described
        from sudare.sql.metadata.file import read_metadata

        known = read_metadata(source.metadata)
        return connect(
            open_described(source.database, known, reads_later=True) if reads_later else source.database,
            known,
            budget.read(),
            ledger=account.ledger,
            dataset=account.sql_dataset,
            analyst=self.analyst,
            answers=self.answers,
            timeout=timeout,
            noise=method.noise,
            joins=method.joins,
            opt_outs_removed=self.opt_outs_removed,
        )
