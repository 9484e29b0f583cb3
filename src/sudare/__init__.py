"""sudare (簾): publish statistics about people with a proven privacy guarantee.

Start here, by what you have and what you want:

- `sudare.tables`: counts of people, published with noise. `plan_table`, `publish`; their cells are a `sudare.domain.Domain`.
- `sudare.series`: the same people published again and again, under one promise. `plan_series`.
- `sudare.sql`: a database that is asked in SQL and answers with noise. `connect`.
- `sudare.collect`: answers that are randomized before anybody sees them. `randomize_answers`.
- `sudare.microdata`: records of people, made coarser, sampled or synthetic; pseudonyms. `anonymize`.
- `sudare.disclosure`: tables with hidden, rounded or merged cells: statistical disclosure control. `suppress`.
- `sudare.attacks`: what an adversary finds in all of these. `audit_function`.
- `sudare.ledger`: what was spent on whom, kept through crashes. `open_ledger`.
- `sudare.releases`: a plan file carried out: charged, drawn, attacked, written, reported. `run_plan`.
- `sudare.evaluate`: how far published numbers are from the true ones. `measure_errors`.
- `sudare.privacy`, `sudare.noise`: units, budgets, events and accountants; exact samplers. `compose`, `add_noise`.
- `sudare.errors`: everything that is raised on purpose, as a tree.

Names are loaded on first use, so that ``import sudare`` costs next to nothing. The command is ``sudare --help``.

Examples:
    Publish a table. The budget is what anybody may learn of one person; the event says what was drawn and what it cost:

    >>> import numpy as np, sudare
    >>> people = np.array([[0, 12, 340], [3, 58, 1205]])
    >>> published = sudare.publish(people, sudare.Budget(epsilon=1), unit=sudare.Unit("person"))
    >>> published.to_dense().shape, published.event.cost
    ((2, 3), Budget(epsilon=1))

    Ask how accurate it will be, before anything is spent:

    >>> plan = sudare.plan_table(np.zeros((256, 256), int), sudare.Budget(epsilon=1))
    >>> plan.mechanism
    'wide-tree'

    Collect answers that say little of whoever gave them, and estimate how many gave which:

    >>> smoking = sudare.KaryResponse(["daily", "never"], 1)
    >>> reports = smoking.randomize(["daily"] * 3_000 + ["never"] * 7_000)
    >>> bool(abs(smoking.estimate(reports).unbiased[0] - 3_000) < 1_000)
    True

    Make records coarser until each is like at least two others:

    >>> records = sudare.Records.of_columns({"age": ["31", "35", "38", "62", "64", "67"]})
    >>> age = sudare.microdata.interval_hierarchy("age", range(100), widths=[10, 50])
    >>> sudare.anonymize(records, {"age": age}, [sudare.KAnonymity(3)]).search.levels
    {'age': 1}

    Doubt a claim. Noise of scale 1 on a count of people costs epsilon = 1, not 0.1:

    >>> noise = sudare.noise.discrete_laplace(1)
    >>> sudare.audit_function(lambda count: count + noise.draw(), 7, 8, runs=2_000, claimed=0.1).is_broken
    True

To read the code: ``ARCHITECTURE.md`` (one page, one picture), `sudare.privacy.events` (where a mechanism meets whoever
accounts for it), `sudare.noise.selection` (a mechanism, its proof page ``noise/selection.md`` beside it),
`sudare.noise.inversion` (where noise comes from), `sudare.kernels.sampling` (the compiled loops, whose naive twins are in
``tests/reference``), and `sudare.releases.protocol` (how anything is published, and why no crash gives anything away).
"""

import sys as _sys

from sudare.lazy import MovedModules as _MovedModules
from sudare.lazy import loaded_on_use as _loaded_on_use
from sudare.version import __version__ as __version__

__getattr__, __dir__ = _loaded_on_use(__name__, __file__)

if _MovedModules not in _sys.meta_path:
    _sys.meta_path.append(_MovedModules)
