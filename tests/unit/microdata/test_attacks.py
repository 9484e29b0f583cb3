"""Attacks on what is protected inside a data set; each of them got through once."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from sudare.errors import InputError, OutputError, ParameterError, PlanError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import KAnonymity
from sudare.microdata.models.sizes import KMap, Presence
from sudare.microdata.perturb.noisy_values import add_noise_to_numbers
from sudare.microdata.perturb.sampling import sample_of_strata
from sudare.microdata.perturb.swapping import swap_ranks
from sudare.microdata.pseudonyms import (
    Design,
    Register,
    make_register,
    new_key,
    pseudonymize_file,
    register_beside,
)
from sudare.microdata.pseudonyms.identifiers import NORMALIZATIONS, canonical_texts
from sudare.microdata.pseudonyms.keys import SecretKey, destroy_epoch, rotate_key
from sudare.microdata.pseudonyms.mapping import Mapping, Scope, make_mapping
from sudare.microdata.pseudonyms.notation import TextForm
from sudare.microdata.pseudonyms.registers.rights import PersonDesk
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.anonymizing import anonymize, satisfies
from sudare.releases.kinds.records import read_people_plan, run_people_plan


@pytest.fixture
def key(tmp_path: Path) -> SecretKey:
    (tmp_path / "keys").mkdir()
    (tmp_path / "out").mkdir()
    made = new_key(tmp_path / "keys" / "study.key")
    make_register(register_beside(made.path), made)
    return made


def opened(key: SecretKey) -> Register:
    return Register(register_beside(key.path), key)


def tamper(path: Path, *statements: str) -> None:
    """As somebody would who can write to the file and has no key."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# Pseudonyms and rights


def test_how_identifiers_are_normalised_cannot_be_changed_without_the_key(tmp_path: Path, key: SecretKey) -> None:
    """With another normalisation the register does not recognise who opted out."""
    first, raw = tmp_path / "first.csv", tmp_path / "raw.csv"
    first.write_text("patient,age\n99,forty-four\n")
    raw.write_text("patient,age\n 17,forty-four\n18,51\n")
    columns = {"patient": Design("university", "patient", 1, normalize=("strip",))}
    with opened(key) as register:
        pseudonymize_file(first, tmp_path / "out" / "1.csv", columns, key=key, register=register)
        PersonDesk(key, register, "patient", "17").opt_out()
    tamper(
        register_beside(key.path),
        "UPDATE kinds SET normalize = '[]'",
        """UPDATE designs SET design = replace(design, '["strip"]', '[]')""",
    )
    with suppress(InputError), opened(key) as register:
        settled = register.design("university", "patient", 1)
        assert settled is not None
        out = tmp_path / "out" / "2.csv"
        pseudonymize_file(raw, out, {"patient": settled}, key=key, register=register)
        assert "forty-four" not in out.read_text(), "a person who opted out is published"


def test_files_cannot_be_hidden_from_a_deletion_without_the_key(tmp_path: Path, key: SecretKey) -> None:
    raw, out = tmp_path / "raw.csv", tmp_path / "out" / "1.csv"
    raw.write_text("patient,age\n17,forty-four\n18,51\n")
    with opened(key) as register:
        columns = {"patient": Design("university", "patient", 1)}
        pseudonymize_file(raw, out, columns, key=key, register=register)
    tamper(register_beside(key.path), "DELETE FROM files")
    with suppress(InputError), opened(key) as register:
        PersonDesk(key, register, "patient", "17").delete()
        assert "forty-four" not in out.read_text(), "the deletion did not reach a file that was made with the key"


def test_a_damaged_file_does_not_keep_a_deletion_from_the_others(tmp_path: Path, key: SecretKey) -> None:
    raw, first, second = tmp_path / "raw.csv", tmp_path / "out" / "1.csv", tmp_path / "out" / "2.csv"
    raw.write_text("patient,age\n17,forty-four\n18,51\n")
    with opened(key) as register:
        for out in (first, second):
            columns = {"patient": Design("university", "patient", 1)}
            pseudonymize_file(raw, out, columns, key=key, register=register)
        first.write_bytes(b"patient,age\n\xff\xfe,forty-four\n")
        with suppress(InputError):
            PersonDesk(key, register, "patient", "17").delete()
    assert "forty-four" not in second.read_text()


def test_a_destroyed_epoch_does_not_keep_people_in_the_mapping_for_ever(tmp_path: Path, key: SecretKey) -> None:
    """Nobody can find the person in files of that epoch again, so they are no reason to keep the identifier."""
    raw, path = tmp_path / "raw.csv", tmp_path / "names.db"
    raw.write_text("patient,age\n17,forty-four\n18,51\n")
    make_mapping(path, key)
    with opened(key) as register, Mapping(path, key) as mapping:
        for epoch in (1, 2):
            out, columns = tmp_path / "out" / f"{epoch}.csv", {"patient": Design("clinic", "patient", epoch, "table")}
            pseudonymize_file(raw, out, columns, key=key, register=register, mapping=mapping)
            key = rotate_key(key)
        key = destroy_epoch(key, 1)
        mapping.forget_epoch(1)
        PersonDesk(key, register, "patient", "17", mapping).delete()
        assert [name for name, _ in mapping.entries(Scope("clinic", "patient", 2))] == ["18"]


def test_nobody_who_opted_out_is_in_a_file_that_appears_later(
    tmp_path: Path, key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashing a large file takes long, and comes after the register was looked at for the last time."""
    raw, out = tmp_path / "raw.csv", tmp_path / "out" / "1.csv"
    raw.write_text("patient,age\n17,forty-four\n18,51\n")
    hash_file = Register.file_hash

    def ask() -> None:
        with opened(key) as other:
            PersonDesk(key, other, "patient", "17").opt_out(only_future=True)

    asking = threading.Thread(target=ask, daemon=True)
    was_noted_before: list[bool] = []

    def slow_hash(register: Register, path: Path) -> str:
        if not was_noted_before:
            asking.start()
            asking.join(3)
            was_noted_before.append(not asking.is_alive())
        return hash_file(register, path)

    monkeypatch.setattr(Register, "file_hash", slow_hash)
    with opened(key) as register, suppress(OutputError):
        columns = {"patient": Design("university", "patient", 1)}
        pseudonymize_file(raw, out, columns, key=key, register=register)
    asking.join(10)
    assert was_noted_before
    assert not (was_noted_before[0] and out.exists() and "forty-four" in out.read_text())


@pytest.mark.parametrize(
    ("person", "normalize"),
    [("0 17", ("strip", "no-leading-zeros")), ("i\u0307x", ("nfkc", "upper"))],
    ids=["space after zeros", "dotted i"],
)
def test_normalising_twice_changes_nothing(person: str, normalize: tuple[str, ...]) -> None:
    once = canonical_texts([person], normalize)
    assert canonical_texts(once, normalize).to_pylist() == once.to_pylist()


def test_normalising_twice_changes_nothing_for_random_texts() -> None:
    rng = np.random.default_rng(5)
    letters = [*"0 iIsSaA1\u0307\u0301\u3000\uff10\u017f\u0345\u00df"]
    texts = ["".join(rng.choice(letters, size=rng.integers(1, 7))) for _ in range(5000)]
    once = canonical_texts(texts, NORMALIZATIONS)
    assert canonical_texts(once, NORMALIZATIONS).to_pylist() == once.to_pylist()


def test_a_deletion_finds_everybody_whatever_the_normalisation(tmp_path: Path, key: SecretKey) -> None:
    raw, out = tmp_path / "raw.csv", tmp_path / "out" / "1.csv"
    raw.write_text("patient,age\n0 17,forty-four\n18,51\n")
    columns = {"patient": Design("university", "patient", 1, normalize=("strip", "no-leading-zeros"))}
    with opened(key) as register:
        pseudonymize_file(raw, out, columns, key=key, register=register)
        PersonDesk(key, register, "patient", "0 17").delete()
    assert "forty-four" not in out.read_text()


def test_a_mapping_without_its_key_does_not_tell_how_long_an_identifier_is(tmp_path: Path, key: SecretKey) -> None:
    """The pseudonym with the one very long name would be known to whoever knows the names."""
    path = tmp_path / "names.db"
    make_mapping(path, key)
    with Mapping(path, key) as mapping:
        names = ["Li", "Wolfeschlegelsteinhausenbergerdorff"]
        mapping.pseudonyms(Scope("university", "patient", 1), names, TextForm("digits", 8))
        assert {name for name, _ in mapping.entries(Scope("university", "patient", 1))} == set(names)
    connection = sqlite3.connect(path)
    lengths = {length for (length,) in connection.execute("SELECT length(sealed) FROM names")}
    connection.close()
    assert len(lengths) == 1


def test_the_register_does_not_tell_that_one_identifier_is_of_two_kinds(key: SecretKey) -> None:
    with opened(key) as register:
        register.leave_out("patient", "17", "opt-out")
        register.leave_out("doctor", "17", "opt-out")
        assert not register.opted_out("patient").digests & register.opted_out("doctor").digests


# Models of classes


def test_presence_holds_for_what_is_published_after_suppression() -> None:
    """A class that is suppressed is published to a share of 0, which is below the smallest that was asked for."""
    town = Generalization.of_paths("town", [("a", "*"), ("b", "*")])
    records = Records.of_columns({"town": ["a"] * 9 + ["b"] * 5})
    others = Records.of_columns({"town": ["a"] + ["b"] * 5})
    made = anonymize(records, {"town": town}, [Presence(0.3, 0.8)], suppression=0.7, others=others)
    assert made.search is not None
    level = made.search.levels["town"]
    published = town.generalized(records.column("town"), level).texts()[made.kept].tolist()
    everybody = town.generalized(Records.of_columns({"town": ["a"] * 10 + ["b"] * 10}).column("town"), level)
    for label in everybody.labels:
        assert 0.3 <= published.count(label) / everybody.texts().tolist().count(label) <= 0.8, label


def test_presence_holds_where_another_model_suppresses() -> None:
    town = Generalization.of_paths("town", [("a", "*"), ("b", "*")])
    records = Records.of_columns({"town": ["a"] * 2 + ["b"] * 10})
    others = Records.of_columns({"town": ["a"] * 2 + ["b"] * 10})
    models = [Presence(0.25, 0.75), KAnonymity(3)]
    made = anonymize(records, {"town": town}, models, suppression=0.5, others=others)
    texts = made.records.column("town").texts().tolist()
    assert texts == ["*"] * 12, "of four people in town a nobody is published, which is less than 0.25"


def test_missing_and_empty_values_are_one_class_in_the_search_and_in_what_is_published(tmp_path: Path) -> None:
    """A CSV file has both: an empty field is missing, a quoted empty one is a text."""
    file = tmp_path / "people.csv"
    file.write_text('town,age\n,1\n"",2\nb,3\nb,4\n')
    records = read_people(file)
    town = Generalization.of_paths("town", [("", "*"), ("b", "*")])
    others = Records.of_columns({"town": ["b"]})
    made = anonymize(records, {"town": town}, [KMap(2)], others=others)
    labels = made.records.column("town").texts().tolist()
    whole = [
        *labels,
        *town.generalized(others.column("town"), (made.search.levels if made.search else {})["town"]).texts(),
    ]
    assert all(whole.count(label) >= 2 for label in labels)


def test_missing_and_empty_values_can_be_made_k_anonymous() -> None:
    town = Generalization.of_paths("town", [("", "*"), ("b", "*")])
    made = anonymize(Records.of_columns({"town": [None, "", "b", "b"]}), {"town": town}, [KAnonymity(2)])
    assert satisfies(made.records, ["town"], [KAnonymity(2)])


def test_a_single_starred_record_does_not_give_its_person_away() -> None:
    """Whoever is 90 is in no class; so the only starred record, with what it says about illness, is theirs."""
    age = Generalization.of_paths("age", [("30", "30s"), ("31", "30s"), ("90", "90s")])
    records = Records.of_columns({"age": ["30", "31"] * 5 + ["90"], "ill": ["no"] * 10 + ["yes"]})
    with suppress(InputError):
        made = anonymize(records, {"age": age}, [KAnonymity(5)], suppression=0.1, suppressed="starred")
        starred = made.records.take(np.flatnonzero(~made.kept))
        is_told = "yes" in starred.column("ill").labels
        assert satisfies(made.records, ["age"], [KAnonymity(5)]) or not is_told


# What a method says that it protects


def test_rank_swapping_that_swaps_nothing_does_not_claim_that_it_did() -> None:
    """10 records, and ranks that may differ by 5 % of them: nobody has a partner."""
    wages = Records.of_columns({"wage": range(10)})
    with suppress(InputError, ParameterError):
        made = swap_ranks(wages, "wage", distance=0.05)
        assert made.changed > 0 or "is not that of its record" not in made.protects.english


def test_noise_that_changes_nothing_does_not_claim_that_it_did() -> None:
    wages = Records.of_columns({"wage": range(1000)})
    with suppress(InputError, ParameterError):
        made = add_noise_to_numbers(wages, "wage", scale=0.02)
        assert made.changed > 0.5 or "hardly ever the same" not in made.protects.english


def test_nobody_is_in_a_sample_of_strata_for_certain() -> None:
    """At a share of one half the only record of a stratum is drawn every second time, or the method says otherwise."""
    people = Records.of_columns({"town": ["a"] * 6 + ["z"]})
    samples = [sample_of_strata(people, "town", 0.5) for _ in range(64)]
    is_certain = all("z" in sample.records.column("town").labels for sample in samples)
    assert not (is_certain and "cannot be sure that the record is there" in samples[0].protects.english)


def test_a_report_does_not_claim_groups_of_k_that_a_later_step_took_apart(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("wage\n" + "".join(f"{wage}\n" for wage in range(12)))
    (tmp_path / "plan.toml").write_text(
        """title = "wages"
[source]
path = "people.csv"
[columns.wage]
role = "quasi-identifier"
[[steps]]
method = "microaggregate"
columns = ["wage"]
k = 3
[[steps]]
method = "noise"
column = "wage"
scale = 50
"""
    )
    with suppress(PlanError):
        made = run_people_plan(read_people_plan(tmp_path / "plan.toml"))
        report = json.loads((made.folder / "release.json").read_text())
        claimed = any("equal to at least k - 1 others" in step["protects"]["english"] for step in report["steps"])
        assert not claimed or report["risks"]["after"]["k"] >= 3
