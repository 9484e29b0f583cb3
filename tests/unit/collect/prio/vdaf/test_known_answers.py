"""The draft's published vectors behave as they say; the must-reject ones are rejected."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from sudare.collect.prio import KnownAnswers, check_known_answers
from sudare.errors import InputError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[6] / "shared" / "data")) / "vdaf_test_vectors"
needs_vectors = pytest.mark.skipif(not DATA.is_dir(), reason=f"the VDAF test vectors are not at {DATA}")


@needs_vectors
def test_every_vector_behaves_as_it_says() -> None:
    found = check_known_answers(DATA)
    print(
        f"vectors of Prio3: {found.passed} passed, {found.rejected} rejected as they must be; XOFs: {found.functions}"
    )
    assert found == KnownAnswers(passed=17, rejected=8, functions=3, wrong=())


@needs_vectors
@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Prio3Count_0", "input_shares"),
        ("Prio3Sum_0", "verifier_shares"),
        ("Prio3Histogram_0", "public_share"),
        ("Prio3Histogram_0", "verifier_messages"),
        ("Prio3SumVec_0", "out_shares"),
    ],
)
def test_a_vector_with_another_answer_is_wrong(tmp_path: Path, name: str, field: str) -> None:
    vector = json.loads((DATA / "cfrg" / "vdaf" / f"{name}.json").read_text())
    text = json.dumps(vector["reports"][0][field])
    place = next(i for i, letter in enumerate(text) if letter in "0123456789abcdef")
    changed = text[:place] + ("1" if text[place] == "0" else "0") + text[place + 1 :]
    vector["reports"][0][field] = json.loads(changed)
    (tmp_path / f"{name}.json").write_text(json.dumps(vector))
    assert check_known_answers(tmp_path).wrong == (name,)


@needs_vectors
def test_a_bad_report_that_is_said_to_be_good_is_wrong(tmp_path: Path) -> None:
    for path in (DATA / "cfrg" / "vdaf").glob("Prio3*_bad_*.json"):
        shutil.copy(path, tmp_path)
        copy = tmp_path / path.name
        copy.write_text(copy.read_text().replace('"success": false', '"success": true'))
    found = check_known_answers(tmp_path)
    assert (found.passed, len(found.wrong)) == (0, 8)


def test_a_folder_without_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no test vector of Prio3"):
        check_known_answers(tmp_path)
