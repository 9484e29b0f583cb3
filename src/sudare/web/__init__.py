"""The local page (`sudare ui`): the same plan files, functions and ledger as the commands, for people who would rather look.

The page holds no state of its own. What it decides it writes into a plan file; what it carries out goes through
`sudare.releases.protocol`; what it shows it reads from the folder. A page that is closed, a second tab or a killed process
therefore loses nothing that was paid for. It listens on this machine alone (`sudare.web.guard`).

Starlette and uvicorn are the extra ``web``; nothing else in sudare loads them.
"""

from __future__ import annotations

__all__: list[str] = []
