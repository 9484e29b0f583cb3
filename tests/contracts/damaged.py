"""Files that are damaged in many ways, and what reading them comes to: in a process of its own, which may not survive it."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

__all__ = ["SUFFIXES", "damage", "read_damaged", "write_people"]

SUFFIXES = {"arrow": ".arrow", "packed arrow": ".arrow", "parquet": ".parquet", "duckdb": ".duckdb"}
PEOPLE = 600


def write_people(path: Path, kind: str) -> None:
    """A sound file of people."""
    people = pa.table(
        {
            "id": [f"person {place}" for place in range(PEOPLE)],
            "sex": pa.array(["fm"[place % 2] for place in range(PEOPLE)]).dictionary_encode(),
            "town": [None if place % 7 == 0 else f"town {place % 5}" for place in range(PEOPLE)],
            "visits": [[place, place + 1][: place % 3] for place in range(PEOPLE)],
        }
    )
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("given", people)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
    elif kind == "parquet":
        pyarrow.parquet.write_table(people, path, row_group_size=200)
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd" if kind == "packed arrow" else None)
        with pa.ipc.new_file(str(path), people.schema, options=options) as writer:
            writer.write_table(people, max_chunksize=200)


def damage(content: bytes, dice: random.Random) -> bytes:
    """The same with a few bits or bytes changed, a stretch of zeros, or the end cut off."""
    changed = bytearray(content)
    way = dice.choice(("bit", "bytes", "zeros", "cut", "end"))
    if way == "cut":
        return bytes(changed[: dice.randrange(len(changed))])
    if way == "zeros":
        start = dice.randrange(len(changed))
        stretch = min(len(changed) - start, dice.randrange(1, 500))
        changed[start : start + stretch] = bytes(stretch)
    elif way == "bit":
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    else:
        for _ in range(dice.randrange(1, 20)):
            place = dice.randrange(len(changed)) if way == "bytes" else len(changed) - 1 - dice.randrange(1000)
            changed[place] = dice.randrange(256)
    return bytes(changed)


def read_damaged(told: Path, folder: Path, kind: str, seed: int, trials: int) -> None:
    """Read so many damaged files as counts and as records; tell each before it is read, and what came of it."""
    from sudare.domain import Category, Domain
    from sudare.errors import InputError
    from sudare.io import Source, read_counts
    from sudare.microdata.records import read_people

    dice = random.Random(seed)
    sound, file = folder / f"sound{SUFFIXES[kind]}", folder / f"damaged{SUFFIXES[kind]}"
    write_people(sound, kind)
    content, domain = sound.read_bytes(), Domain((Category("sex", ("f", "m")),))
    with told.open("a", buffering=1) as stream:
        for _ in range(trials):
            file.write_bytes(damage(content, dice))
            stream.write("reading\n")
            try:
                total = read_counts(Source(str(file), person="id"), domain, threads=1).total
                outcome = "sound" if total == PEOPLE else "other"
            except InputError:
                outcome = "refused"
            except Exception as error:
                outcome = f"unexpected {type(error).__name__}"
            stream.write(f"{outcome}\n")
            if kind != "duckdb":
                try:
                    read_people(file, columns=["id", "sex", "town"])
                except InputError:
                    pass
                except Exception as error:
                    stream.write(f"unexpected {type(error).__name__} of people\n")
