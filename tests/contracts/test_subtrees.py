"""Subtrees on Spark: equal to one machine, whatever the partitions; bound to one input; a driver that is stopped goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable
from sudare.errors import DatabaseError, LedgerError
from sudare.ledger import open_ledger
from sudare.ledger.records import TickRefusedError
from sudare.noise.addressed import NoiseKey
from sudare.releases.subtrees.cluster_settings import REQUIRED, missing_settings, require_protected
from sudare.releases.subtrees.confidential_folder import ConfidentialFolder
from sudare.releases.subtrees.job import read_cells, release_subtrees
from sudare.releases.subtrees.plan import SubtreePlan
from sudare.tables.addressed.mechanism import addressed_wide_tree
from tests.contracts.sql_servers import running_servers
from tests.contracts.subtree_runs import KEY, PEOPLE, digest_of_folder, frame_of, people, plan_in

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with running_servers() as servers:
        yield servers.spark()._session  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def known_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoiseKey, "fresh", classmethod(lambda cls: NoiseKey(KEY)))


def expected() -> CountTable:
    table = addressed_wide_tree(people(), Budget(epsilon=1), NoiseKey(KEY), unit=PEOPLE).table
    assert isinstance(table, CountTable)
    return table


def spent(plan: SubtreePlan) -> Any:
    with open_ledger(plan.ledger) as ledger:
        state = ledger.dataset("people")
        return state.spent or state.reserved


class StopError(Exception):
    """Stands for a driver that ends."""


def test_it_equals_one_machine_and_leaves_no_key(session: Any, tmp_path: Path) -> None:
    tables = []
    for number, (partitions, most) in enumerate([(1, 10**9), (4, 4000), (2, 50)]):
        (tmp_path / str(number)).mkdir()
        plan = plan_in(tmp_path / str(number), people_per_subtree=most)
        released = release_subtrees(plan, frame_of(session, people()).repartition(partitions))
        assert not released.is_repeated
        tables.append(read_cells(plan.folder, plan.domain))
        assert len(list(plan.folder.glob("cells-*"))) == (2 if most == 10**9 else len(released.document["files"]))
        assert [path.name for path in plan.folder.parent.iterdir() if path.name.startswith(".sudare")] == []
        assert not ConfidentialFolder(plan.folder, plan.fingerprint("release")).path.exists()
        assert release_subtrees(plan, frame_of(session, people())).is_repeated
        assert str(spent(plan)) == "epsilon = 1"
    wanted = expected()
    for table in tables:
        assert table.keys.tobytes() == wanted.keys.tobytes()
        assert table.counts.tobytes() == wanted.counts.tobytes()


def test_a_driver_that_is_stopped_at_any_step_goes_on(session: Any, tmp_path: Path) -> None:
    """It is stopped at each step, one after the other; the published bytes are those of a run that was not disturbed."""
    plan, counts = plan_in(tmp_path), frame_of(session, people())
    for wanted in (("count", None), ("bind", None), ("draw", 0.0), ("draw", 0.1), ("write", None)):

        def stop(stage: str, done: float | None, at: Any = wanted) -> None:
            if (stage, done) == at:
                raise StopError

        with pytest.raises(StopError):
            release_subtrees(plan, counts, progress=stop)
        assert not plan.folder.exists()
        is_bound = wanted[0] in ("draw", "write")
        assert str(spent(plan)) == ("epsilon = 1" if is_bound else "None"), "it stays charged once noise can be drawn"
        assert ConfidentialFolder(plan.folder, plan.fingerprint("release")).path.exists() == is_bound
    stages: list[str] = []
    release_subtrees(plan, counts, progress=lambda stage, done: stages.append(stage))
    assert "count" not in stages, "the counts of before are used, and not counted again"
    table, wanted_table = read_cells(plan.folder, plan.domain), expected()
    assert table.keys.tobytes() == wanted_table.keys.tobytes()
    assert table.counts.tobytes() == wanted_table.counts.tobytes()
    assert digest_of_folder(plan.folder)


def stopped_after_binding(plan: SubtreePlan, counts: Any) -> ConfidentialFolder:
    def stop(stage: str, done: float | None) -> None:
        if stage == "draw":
            raise StopError

    with pytest.raises(StopError):
        release_subtrees(plan, counts, progress=stop)
    return ConfidentialFolder(plan.folder, plan.fingerprint("release"))


def test_other_counts_never_meet_the_key(session: Any, tmp_path: Path) -> None:
    plan, table = plan_in(tmp_path), people()
    folder = stopped_after_binding(plan, frame_of(session, table))
    (folder.path / "counts.json").unlink()
    one_more = CountTable(table.domain, table.keys, table.counts + (np.arange(table.keys.size) == 5))
    with pytest.raises(TickRefusedError) as refused:
        release_subtrees(plan, frame_of(session, one_more))
    assert refused.value.kind == "other input"
    assert not folder.path.exists()
    assert str(spent(plan)) == "epsilon = 1"
    with pytest.raises(LedgerError):
        release_subtrees(plan, frame_of(session, table))
    assert not plan.folder.exists()


def test_a_task_refuses_counts_that_changed_after_they_were_bound(session: Any, tmp_path: Path) -> None:
    import pyarrow.parquet

    plan, counts = plan_in(tmp_path), frame_of(session, people())
    folder = stopped_after_binding(plan, counts)
    for file in folder.counts.glob("*.parquet"):
        table = pyarrow.parquet.read_table(file)
        changed = table.set_column(2, "count", pyarrow.compute.add(table.column("count"), 1))
        pyarrow.parquet.write_table(changed, file)
        (folder.counts / f".{file.name}.crc").unlink(missing_ok=True)
    with pytest.raises(DatabaseError):
        release_subtrees(plan, counts)
    assert not plan.folder.exists()
    assert list(folder.parts.iterdir()) == []


def test_a_lost_key_is_not_replaced_once_counts_are_bound(session: Any, tmp_path: Path) -> None:
    plan, counts = plan_in(tmp_path), frame_of(session, people())
    stopped_after_binding(plan, counts)
    (key,) = (tmp_path / ".sudare-keys").iterdir()
    assert KEY not in key.read_bytes()
    assert key.stat().st_mode & 0o077 == 0
    key.unlink()
    with pytest.raises(LedgerError, match="key"):
        release_subtrees(plan, counts)


class Settings(dict[str, str]):
    """Stands for the settings of a session."""

    @property
    def conf(self) -> Settings:
        return self


def test_a_cluster_must_protect_what_it_carries() -> None:
    assert missing_settings(Settings({"spark.master": "local[4]"})) == ()
    bare: Any = Settings({"spark.master": "spark://somewhere:7077"})
    assert missing_settings(bare) == tuple(REQUIRED)
    assert missing_settings(Settings({"spark.master": "local-cluster[2,1,512]"})) == tuple(REQUIRED)
    assert missing_settings(Settings()) == tuple(REQUIRED), "a session of Spark Connect does not say where it works"
    assert missing_settings(Settings(dict.fromkeys(REQUIRED, "true"))) == ()
    with pytest.raises(DatabaseError, match=r"spark\.io\.encryption\.enabled"):
        require_protected(bare, ("spark.authenticate", "spark.network.crypto.enabled"))
    require_protected(bare, tuple(REQUIRED))
