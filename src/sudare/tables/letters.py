"""Letters for pictures that are written point by point: digits, Latin letters and signs, of 5 x 7 points each.

A letter is seven signs, one for each row of points from the top to the bottom, each a number of five bits in base 32: ``e`` is
01110. They are the same on every machine, so that the same map is the same file everywhere. What they lack (Japanese) is drawn
by Pillow with a font of the system, where both are there.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ink = NDArray[np.float64]

__all__ = ["HEIGHT", "can_draw", "draw_text"]

WIDTH, HEIGHT = 5, 7

# fmt: off
LETTERS = {
    " ": "0000000", "!": "4444404", '"': "aa00000", "#": "aavavaa", "$": "4fke5u4", "%": "op248j3", "&": "cik8lid",
    "'": "4400000", "(": "2488842", ")": "8422248", "*": "04lel40", "+": "044v440", ",": "0000c48", "-": "000e000",
    ".": "00000cc", "/": "01248g0", "0": "ehjlphe", "1": "4c4444e", "2": "eh1248v", "3": "v2421he", "4": "26aiv22",
    "5": "vgu11he", "6": "68guhhe", "7": "v124888", "8": "ehhehhe", "9": "ehhf12c", ":": "0cc0cc0", ";": "0cc0c48",
    "<": "248g842", "=": "00v0v00", ">": "8421248", "?": "eh12404", "@": "eh1dlle", "A": "ehhvhhh", "B": "uhhuhhu",
    "C": "ehggghe", "D": "sihhhis", "E": "vgguggv", "F": "vgguggg", "G": "ehgnhhf", "H": "hhhvhhh", "I": "e44444e",
    "J": "72222ic", "K": "hikokih", "L": "ggggggv", "M": "hrllhhh", "N": "hhpljhh", "O": "ehhhhhe", "P": "uhhuggg",
    "Q": "ehhhlid", "R": "uhhukih", "S": "fgge11u", "T": "v444444", "U": "hhhhhhe", "V": "hhhhha4", "W": "hhhllla",
    "X": "hha4ahh", "Y": "hhha444", "Z": "v1248gv", "[": "e88888e", "\\": "0g84210", "]": "e22222e", "^": "4ah0000",
    "_": "000000v", "`": "8420000", "a": "00e1fhf", "b": "ggmphhu", "c": "00egghe", "d": "11djhhf", "e": "00ehvge",
    "f": "698s888", "g": "0fhhf1e", "h": "ggmphhh", "i": "40c444e", "j": "20622ic", "k": "ggikoki", "l": "c44444e",
    "m": "00qllhh", "n": "00mphhh", "o": "00ehhhe", "p": "00uhugg", "q": "00djf11", "r": "00mpggg", "s": "00fge1u",
    "t": "88s8896", "u": "00hhhjd", "v": "00hhha4", "w": "00hhlla", "x": "00ha4ah", "y": "00hhf1e", "z": "00v248v",
    "{": "2448442", "|": "4444444", "}": "8442448", "~": "008l200",
    "ε": "00fgegf", "δ": "684ehhe", "ρ": "0ehhugg", "×": "00ha4ah", "·": "0004000", "–": "000v000", "−": "000v000",
    "≥": "842480v", "…": "000000l",
}
# fmt: on

FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts")
FONTS = (
    "NotoSansCJK-Regular",
    "NotoSansCJKjp",
    "NotoSansJP",
    "ipaexg",
    "ipag",
    "TakaoPGothic",
    "VL-PGothic",
    "fonts-japanese",
)
"""Of Japanese, in the order of preference; any file whose name begins so."""


def can_draw(text: str) -> bool:
    """Whether a text can be drawn on this machine."""
    return _is_plain(text) or _japanese_font() is not None


def draw_text(text: str, scale: int) -> Ink:
    """How much of each point a text covers, from 0 to 1, ``HEIGHT * scale`` points high (more below, where a font needs it).

    Args:
        text: letters that `can_draw` names.
        scale: points for each point of a letter.
    """
    font = None if _is_plain(text) else _japanese_font()
    if font is not None:
        return _by_font(text, font, scale)
    ink = np.zeros((HEIGHT, max((WIDTH + 1) * len(text) - 1, 0)))
    for place, letter in enumerate(text):
        for row, sign in enumerate(LETTERS.get(letter, LETTERS["?"])):
            bits = int(sign, 32)
            ink[row, (WIDTH + 1) * place : (WIDTH + 1) * place + WIDTH] = [
                bits >> shift & 1 for shift in (4, 3, 2, 1, 0)
            ]
    return ink.repeat(scale, axis=0).repeat(scale, axis=1)


def _is_plain(text: str) -> bool:
    return all(letter in LETTERS for letter in text)


@lru_cache(maxsize=1)
def _japanese_font() -> Path | None:
    """A font of the system that has Japanese letters, if Pillow is there to draw with it."""
    try:
        import PIL.ImageFont  # noqa: F401 - only whether it is there
    except ImportError:
        return None
    files = [file for folder in FONT_FOLDERS if folder.is_dir() for file in sorted(folder.rglob("*.[to]t[fc]"))]
    return next((file for name in FONTS for file in files if file.name.startswith(name)), None)


def _by_font(text: str, file: Path, scale: int) -> Ink:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(str(file), size=round(1.35 * HEIGHT * scale))
    left, top, right, bottom = font.getbbox(text)
    picture = Image.new("L", (max(round(right - left), 1), max(round(bottom - top), 1)))
    ImageDraw.Draw(picture).text((-left, -top), text, fill=255, font=font)
    return np.asarray(picture, dtype=np.float64) / 255
