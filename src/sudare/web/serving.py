"""Starting the page: a free port of this machine, an address with a token, and a browser if there is one."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.extras import THE_PAGE, optional_module
from sudare.web.guard import Keys
from sudare.web.handover import hand_over

__all__ = ["serve_locally"]

HOST = "127.0.0.1"
TAKEN = Words(
    "Port {port} of this machine is taken. Name another one, or leave it out.",
    "ポート {port} は使用中です。別の番号を指定するか、省略してください。",
)


def serve_locally(folder: Path, *, port: int, opens_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve the page of a folder until it is interrupted.

    Args:
        folder: that it works in.
        port: to listen on; 0 for a free one.
        opens_browser: whether the browser of this machine is asked to show it.
        tell: is given the address, when the page answers.

    Raises:
        OutputError: if the port is taken.
    """
    uvicorn = optional_module("uvicorn", "web", THE_PAGE)
    optional_module("starlette", "web", THE_PAGE)
    from sudare.web.application import local_application

    listening = _listen(port)
    number = listening.getsockname()[1]
    keys = Keys()
    address = f"http://{HOST}:{number}/?token={keys.token}"
    config = uvicorn.Config(
        local_application(folder, keys, number, loads_ahead=True),
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    tell(address)
    with listening, hand_over(address, folder, keys) if opens_browser else nullcontext():
        server.run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """A socket that accepts connections of this machine alone. Requests wait in it until the server has started."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a page that was just closed may be opened again
    try:
        listening.bind((HOST, port))
    except OSError:
        listening.close()
        raise OutputError(TAKEN.format(port=port)) from None
    listening.listen()
    return listening
