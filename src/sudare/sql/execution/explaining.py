"""What a query becomes, in words: for those who ask, and for those who check. No row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.bilingual import Words
from sudare.privacy.budget import Budget
from sudare.sql.execution.pricing import MeasurePrice, price_of
from sudare.sql.measures.allocating import Allocation, Share
from sudare.sql.measures.measures import Change, QuantileMeasure, SumMeasure
from sudare.sql.measures.planning import MeasuredTable, QueryPlan

__all__ = ["Explanation", "MeasureExplained", "TableExplained", "explain_query", "measure_values", "shown_number"]

HEADINGS = {
    "query": Words("The query as it was written", "元のクエリ"),
    "rewritten": Words("What the database is asked", "データベースに送られる SQL"),
    "left_out": Words("Left out, computed inside the database", "除かれるもの（データベースの中で計算されます）"),
    "rows": Words("How many rows one unit can change", "一つの保護単位が変えうる行数"),
    "measures": Words("What is measured, and its noise", "測る量とノイズ"),
    "post": Words("What is done with the noisy results", "ノイズを加えた結果に対する計算"),
    "changes": Words("How the meaning differs from the query as it was written", "元のクエリと意味が異なる点"),
    "cost": Words("Cost", "費用"),
}
NOTHING_CHANGES = Words("in nothing", "ありません")
MEASURED = Words(
    "{name} = {what}: sensitivity {sensitivity} ({reason}); {mechanism}{scale}; cost {budget}; ± {error} with 95 %",
    "{name} = {what}: 感度 {sensitivity}（{reason}）、{mechanism}{scale}、費用 {budget}、95 % の確率で誤差 ± {error}",
)
MEASURED_ROWS = Words(
    "{name} = {what}: sensitivity {sensitivity} ({reason}); {mechanism}{scale}; cost {budget}; ± {error} rows with 95 %",
    "{name} = {what}: 感度 {sensitivity}（{reason}）、{mechanism}{scale}、費用 {budget}、95 % の確率で誤差 ± {error} 行",
)
THRESHOLD = Words(
    "groups whose keys are not public are published where their noisy number reaches {threshold}",
    "キーが公開でないグループは、ノイズを加えた数が {threshold} 以上のときだけ公表されます",
)
FREE = Words(
    "nothing: only public tables are asked, and the answer is exact", "なし（公開の表だけを使い、正確に答えます）"
)
MECHANISMS = {
    "laplace": Words("Laplace noise", "ラプラスノイズ"),
    "gaussian": Words("Gaussian noise", "ガウスノイズ"),
    "exponential": Words("exponential mechanism", "指数メカニズム"),
}


@dataclass(frozen=True)
class MeasureExplained:
    """A measured number.

    Attributes:
        name: its column in the post-processing.
        what: the aggregate as the query has it.
        sensitivity: how far one unit can move it, all groups together, in the units of the number; for a quantile, how many
            rows.
        reason: how that came about.
        price: its noise, error and part of the cost; None if it is public.
    """

    name: str
    what: str
    sensitivity: Fraction
    reason: Words
    price: MeasurePrice | None


@dataclass(frozen=True)
class TableExplained:
    """A table of results that is measured.

    Attributes:
        name: in the post-processing.
        queries: that the database is asked.
        is_public: whether no private table is behind it.
        reasons: how the number of rows that one unit can change came about.
        measures: what is measured.
        threshold: what the noisy number of units in a group must reach so that it is published; None where keys are public.
    """

    name: str
    queries: tuple[str, ...]
    is_public: bool
    reasons: tuple[Words, ...]
    measures: tuple[MeasureExplained, ...]
    threshold: int | None


@dataclass(frozen=True)
class Explanation:
    """What a query becomes.

    Attributes:
        query: as it was written.
        left_out: queries for what is left out, by the name that the other queries call them.
        tables: what is measured.
        post: what is done with the noisy results, in DuckDB's SQL.
        changes: in which ways the answer means something else than the query.
        cost: what it costs; None if nothing.
    """

    query: str
    left_out: dict[str, str]
    tables: tuple[TableExplained, ...]
    post: str
    changes: tuple[Change, ...]
    cost: Budget | None

    def to_text(self, language: str = "en") -> str:
        """All of it in one text.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        parts = [self._part("query", self.query.strip(), language)]
        sql = [query for table in self.tables for query in table.queries]
        parts.append(self._part("rewritten", "\n\n".join(sql), language))
        if self.left_out:
            listed = "\n\n".join(f"{name}:\n{query}" for name, query in self.left_out.items())
            parts.append(self._part("left_out", listed, language))
        reasons = [reason.explain(language) for table in self.tables for reason in table.reasons if not table.is_public]
        if reasons:
            parts.append(self._part("rows", _listed(dict.fromkeys(reasons)), language))
        measures = [_told(measure, language) for table in self.tables for measure in table.measures]
        measures += [_threshold(table, language) for table in self.tables if table.threshold is not None]
        parts.append(self._part("measures", _listed(measures), language))
        parts.append(self._part("post", self.post, language))
        changes = [change.words.explain(language) for change in self.changes] or [NOTHING_CHANGES.explain(language)]
        parts.append(self._part("changes", _listed(changes), language))
        parts.append(self._part("cost", FREE.explain(language) if self.cost is None else str(self.cost), language))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.to_text()

    def to_dict(self) -> dict[str, object]:
        """The same for programs; sentences in English."""
        return {
            "query": self.query,
            "left_out": dict(self.left_out),
            "tables": [_table_values(table) for table in self.tables],
            "post": self.post,
            "changes": [{"reason": change.reason, "words": change.words.english} for change in self.changes],
            "cost": None if self.cost is None else self.cost.to_dict(),
        }

    def _part(self, heading: str, text: str, language: str) -> str:
        return f"{HEADINGS[heading].explain(language)}\n" + "\n".join(f"  {line}" for line in text.splitlines())


def explain_query(plan: QueryPlan, allocation: Allocation) -> Explanation:
    """Explain a plan.

    Args:
        plan: of the query.
        allocation: of the budget.
    """
    return Explanation(
        query=plan.text,
        left_out={name: listed.query.sql(plan.dialect, pretty=True) for name, listed in plan.left_out.items()},
        tables=tuple(_table(table, plan, allocation) for table in plan.tables),
        post=plan.post.sql("duckdb", pretty=True),
        changes=plan.changes,
        cost=allocation.cost,
    )


def shown_number(number: Fraction | float) -> str:
    """A number with four digits, and commas.

    Example:
        >>> shown_number(Fraction(123456, 10)), shown_number(0.001234567)
        ('12,346', '0.001235')
    """
    value = float(number)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _table(table: MeasuredTable, plan: QueryPlan, allocation: Allocation) -> TableExplained:
    trees = [*([] if table.query is None else [table.query]), *table.quantile_queries.values()]
    found: list[SumMeasure | QuantileMeasure] = [*table.sums, *table.quantiles]
    measures = tuple(_measure(measure, allocation.shares.get((table.name, measure.name))) for measure in found)
    return TableExplained(
        name=table.name,
        queries=tuple(tree.sql(plan.dialect, pretty=True) for tree in trees),
        is_public=table.is_public,
        reasons=table.reasons,
        measures=measures,
        threshold=allocation.thresholds.get(table.name),
    )


def _measure(measure: SumMeasure | QuantileMeasure, share: Share | None) -> MeasureExplained:
    if isinstance(measure, QuantileMeasure):
        sensitivity = Fraction(measure.rows)
    else:
        sensitivity = Fraction(measure.sensitivity.l1 * 10**measure.coarse, 10**measure.scale)
    price = None if share is None else price_of(share)
    return MeasureExplained(measure.name, measure.what, sensitivity, measure.reason, price)


def _told(measure: MeasureExplained, language: str) -> str:
    if measure.price is None:
        return f"{measure.name} = {measure.what}"
    price = measure.price
    scale = "" if price.scale is None else f" ({shown_number(price.scale)})"
    words = MEASURED_ROWS if price.unit_of_error == "rows" else MEASURED
    return words.format(
        name=measure.name,
        what=measure.what,
        sensitivity=shown_number(measure.sensitivity),
        reason=measure.reason,
        mechanism=MECHANISMS[price.mechanism],
        scale=scale,
        budget=price.budget,
        error=shown_number(price.error),
    ).explain(language)


def _threshold(table: TableExplained, language: str) -> str:
    return THRESHOLD.format(threshold=table.threshold).explain(language)


def _listed(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table_values(table: TableExplained) -> dict[str, object]:
    return {
        "name": table.name,
        "queries": list(table.queries),
        "is_public": table.is_public,
        "reasons": [reason.english for reason in table.reasons],
        "threshold": table.threshold,
        "measures": [
            {
                "name": measure.name,
                "what": measure.what,
                "sensitivity": float(measure.sensitivity),
                "reason": measure.reason.english,
                "noise": None if measure.price is None else measure_values(measure.price),
            }
            for measure in table.measures
        ],
    }


def measure_values(price: MeasurePrice) -> dict[str, object]:
    """A measure's price as it stands in JSON."""
    return {
        "what": price.what,
        "mechanism": price.mechanism,
        "scale": price.scale,
        "error": float(price.error),
        "unit_of_error": price.unit_of_error,
        "budget": price.budget.to_dict(),
    }
