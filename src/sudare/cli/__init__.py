"""The command ``sudare``: plan, charge, release, report and check, in English and Japanese.

`sudare.cli.app` puts the commands together; each module named after what is done holds the commands of one kind, and
`sudare.cli.english` and `sudare.cli.japanese` hold every word that is shown. Nothing heavy is loaded before a command
needs it.
"""

from sudare.cli.app import build_app, main

__all__ = ["build_app", "main"]
