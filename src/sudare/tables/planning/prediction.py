"""How accurate a mechanism will be, from its noise alone.

Variances are those of areas where people live, so that no count is cut off at 0; refinement and empty surroundings only
lower them. An area is a node of the tree at some height: 2**height cells. Proof: ``prediction.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

Number = TypeVar("Number", float, Any)

__all__ = ["combined_noise", "flat_variances", "haar_variances", "level_variances", "wide_tree_variances"]


def wide_tree_variances(
    bits: Sequence[int], noise: Sequence[Number], heights: Sequence[int], *, combined: bool
) -> list[Number]:
    """Variances of areas published by a wide tree.

    Args:
        bits: how many halvings make up each level.
        noise: the variance of the noise on the total (0 if it is public) and on each level; numbers, or arrays of as many
            candidates.
        heights: of the areas asked for, from 0 (a cell) to the depth of the tree.
        combined: whether all levels are combined by least squares, else each meets its parent's count only.
    """
    own = combined_noise(bits, noise) if combined else list(noise)
    wanted: dict[int, Number] = {}
    height, final = sum(bits), own[0]
    wanted[height] = final
    for level, step in enumerate(bits, start=1):
        fan = 2.0**step
        for halvings in range(step):
            members = 2.0**halvings
            inside = members * own[level] * (1 - members / fan)
            wanted[height - step + halvings] = inside + (members / fan) ** 2 * final
        final = wanted[height - step]
        height -= step
    return [wanted[height] for height in heights]


def level_variances(fans: Sequence[float], noise: Sequence[Number]) -> list[Number]:
    """Variances of the nodes of each level of a tree, from the root, with all levels combined by least squares.

    Args:
        fans: how many children the nodes of each level have.
        noise: the variance of the noise on the root and on each level; numbers, or arrays of as many candidates.
    """
    own = list(noise)
    for level in range(len(fans) - 1, -1, -1):
        children = fans[level] * own[level + 1]
        own[level] = own[level] * children / (own[level] + children)
    final = own[:1]
    for fan, variance in zip(fans, own[1:], strict=True):
        final.append(variance * (1 - 1 / fan) + final[-1] / fan**2)
    return final


def combined_noise(bits: Sequence[int], noise: Sequence[Number]) -> list[Number]:
    """The variance of each level's nodes as told by their own noisy counts and by all below them."""
    own = list(noise)
    for level in range(len(bits) - 1, -1, -1):
        children = 2.0 ** bits[level] * own[level + 1]
        own[level] = own[level] * children / (own[level] + children)
    return own


def haar_variances(depth: int, noise: float, heights: Sequence[int]) -> list[float]:
    """Variances of areas published by halving, with the same noise on the total and on each difference."""
    wanted = {depth: noise}
    for height in range(depth - 1, -1, -1):
        wanted[height] = (wanted[height + 1] + noise) / 4
    return [wanted[height] for height in heights]


def flat_variances(noise: float, heights: Sequence[int]) -> list[float]:
    """Variances of sums of cells with independent noise."""
    return [2.0**height * noise for height in heights]
