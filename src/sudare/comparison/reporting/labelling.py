"""Where labels go in a picture: beside their points, and as little as possible on anything else.

Labels are placed one after another. Each tries places around its points and takes the one that covers least of what is there
already; one that finds no free place may be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Box", "Canvas", "width_of"]

WIDE, NARROW = 1.05, 0.66
"""Of a letter, in heights: of Chinese and Japanese ones, and of others."""

STEPS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True)
class Box:
    """A rectangle: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float

    def covered_by(self, other: Box) -> float:
        """The area that both share.

        Example:
            >>> Box(0, 0, 4, 2).covered_by(Box(3, 1, 4, 2))
            1
        """
        across = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        down = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(across, 0) * max(down, 0)


def width_of(text: str, height: float) -> float:
    """About how wide a text is.

    Example:
        >>> width_of("秘匿", 10) > width_of("ab", 10)
        True
    """
    return height * sum(WIDE if ord(letter) > 0x2E80 else NARROW for letter in text)


@dataclass
class Canvas:
    """A picture in which some places are taken.

    Attributes:
        frame: labels stay inside.
        taken: what they should not cover, with how much each matters.
    """

    frame: Box
    taken: list[tuple[Box, float]] = field(default_factory=list)

    def take(self, box: Box, weight: float = 1.0) -> None:
        """Something stands here."""
        self.taken.append((box, weight))

    def take_line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A thin line stands here."""
        length = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
        pieces = max(1, int(length / 6))
        for piece in range(pieces + 1):
            x = start[0] + (end[0] - start[0]) * piece / pieces
            y = start[1] + (end[1] - start[1]) * piece / pieces
            self.take(Box(x - 2, y - 2, 4, 4), 1.5)

    def place(
        self, points: Sequence[tuple[float, float]], text: str, height: float, *, gap: float, limit: float | None = None
    ) -> tuple[float, float] | None:
        """The left end of the line of letters, at its middle height.

        Args:
            points: the label may stand beside any of them; earlier ones are better.
            text: of the label.
            height: of its letters.
            gap: to its point.
            limit: the share of the label that may cover others; it is left out above. Never left out if None.
        """
        width, tall = width_of(text, height), height * 1.25
        best: tuple[float, Box] | None = None
        for rank, (x, y) in enumerate(points):
            for place, (right, down) in enumerate(STEPS):
                for far in (1.0, 2.2):
                    left = x + gap * far * right - (0.0 if right > 0 else width if right < 0 else width / 2)
                    top = y + (gap * far + tall / 2) * down - tall / 2
                    box = Box(left, top, width, tall)
                    outside = width * tall - box.covered_by(self.frame)
                    covered = sum(box.covered_by(other) * weight for other, weight in self.taken)
                    cost = 6 * outside + covered + 2 * rank + place + 6 * far
                    if best is None or cost < best[0]:
                        best = (cost, box)
        if best is None or (limit is not None and best[0] > limit * width * tall):
            return None
        self.take(best[1], 1.5)
        return best[1].x, best[1].y + tall / 2
