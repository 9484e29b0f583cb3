"""How an answer differs from the query as it was written because of what the metadata says of tables."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.bilingual import Words
from sudare.sql.measures.measures import Change, QuantileMeasure, SumMeasure
from sudare.sql.relations.interpretation import Reader

__all__ = ["changes_of_groups", "changes_of_tables"]


UNKNOWN_KEYS = Words(
    "groups whose keys are not public are published only where enough units are in them",
    "キーが公開でないグループは、十分な数の保護単位がある場合だけ公表されます",
)
PUBLIC_KEYS = Words(
    "every group of the public keys is published, also where nobody is; rows with other keys are left out",
    "公開キーのグループは該当者がいなくてもすべて公表され、それ以外のキーの行は除かれます",
)
EMPTY_GROUPS = Words(
    "medians, quantiles, MIN and MAX of a group that nobody is in look like those of others: ask for COUNT(*) beside them, and "
    "such groups are marked",
    "該当者のいないグループの中央値・分位数・MIN・MAX も他と同じように表示されます。COUNT(*) も併せて求めると、"
    "そのようなグループに印が付きます",
)


def changes_of_groups(
    public_keys: bool, sums: Sequence[SumMeasure], quantiles: Sequence[QuantileMeasure]
) -> list[Change]:
    """What groups of private rows are published, and what cannot be told apart in them.

    Args:
        public_keys: whether all groups are known without the data.
        sums: what is summed for each group.
        quantiles: what is chosen for each group.
    """
    if not public_keys:
        return [Change("unknown-keys", UNKNOWN_KEYS)]
    counted = any(measure.is_row_count for measure in sums)
    return [Change("public-keys", PUBLIC_KEYS)] + (
        [Change("empty-groups", EMPTY_GROUPS)] if quantiles and not counted else []
    )


def changes_of_tables(reader: Reader) -> list[Change]:
    """What the limits of the tables leave out, and what is clipped."""
    changes = []
    if reader.cut:
        listed = ", ".join(reader.cut)
        words = Words(
            f"{listed}: for each value that is joined on, only so many rows are kept as max_frequency says",
            f"{listed}: 結合する値ごとに max_frequency 行だけが残されます",
        )
        changes.append(Change("truncated", words))
    for name in reader.tables:
        table = reader.metadata.tables[name]
        if table.public or table.row_is_unit:
            continue
        if table.max_rows is not None:
            changes.append(
                Change(
                    "left-out",
                    Words(
                        f"{name}: whoever has more than {table.max_rows} rows is left out, and rows that belong to nobody",
                        f"{name}: {table.max_rows} 行を超える保護単位と、誰のものでもない行は除かれます",
                    ),
                )
            )
        without = list(reader.without_nulls.get(name, {}))
        if without:
            changes.append(
                Change(
                    "nulls",
                    Words(
                        f"{name}: rows with a NULL in {', '.join(without)} are left out: the metadata says that there are none",
                        f"{name}: {'、'.join(without)} に NULL のある行は、メタデータでないとされているため除かれます",
                    ),
                )
            )
        used = {
            column.name for column in table.columns.values() if reader.names.written(column.name) in reader.mentioned
        }
        numbers = ("integer", "decimal", "float", "date", "timestamp")
        bounds = [
            column.name
            for column in table.columns.values()
            if column.low is not None and column.name in used and column.type.kind in numbers
        ]
        if bounds:
            changes.append(
                Change(
                    "clipped",
                    Words(
                        f"{name}: values of {', '.join(bounds)} are clipped to their bounds wherever they are calculated with",
                        f"{name}: {'、'.join(bounds)} の値は計算に使う箇所で範囲に収められます",
                    ),
                )
            )
    return changes
