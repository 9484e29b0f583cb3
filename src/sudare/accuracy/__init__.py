"""How accurate a release will be, before anything is spent: predicted from public facts alone.

- `groupings`: what people look at in a table: cells, areas, margins, levels of hierarchies, the total.
- `linear`: errors of mechanisms that add noise and do nothing else, by formula.
- `stand_in`: invented tables over any domain, and variants of public ones.
- `trials`: errors of a mechanism on a public table, signed.
- `predicting`: `predict_accuracy`, which takes the formula or the trials.
- `expected`: what it returns.

What is compared with the truth afterwards is in `sudare.evaluate`.
"""

from sudare.accuracy.expected import Accuracy, ExpectedError
from sudare.accuracy.predicting import predict_accuracy
from sudare.accuracy.stand_in import invent_table

__all__ = ["Accuracy", "ExpectedError", "invent_table", "predict_accuracy"]
