"""Which word each phoneme belongs to.

espeak runs words together ("of the"), takes numbers apart and says a word otherwise in company
than alone, so the groups of a clause's phonemes are matched with its words said one by one.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

STRESS: Final = str.maketrans("", "", "ˈˌ")
"""Stress changes with company, so it counts for nothing in a comparison."""

MOVES: Final = ((1, 1), (2, 1), (3, 1), (1, 2), (1, 0), (0, 1))
"""How many groups said alone may stand against how many said in company."""
UNEVEN_COST: Final = 0.5
"""What it costs to match unevenly: less than any phoneme, enough to prefer one to one."""

Segment = tuple[slice, slice]
"""Groups said alone, and the groups said in company that belong to them."""


def assign_owners(symbols: str, spoken: Sequence[str], owners: Sequence[int]) -> list[int]:
    """Return the owner of each of `symbols`, which say the words `spoken`, owned by `owners`.

    A space belongs to what is before it; owners never go back, if `owners` does not.
    """
    groups = symbols.split(" ")
    pairs = zip(spoken, owners, strict=True)
    alone = [(group, owner) for word, owner in pairs for group in word.translate(STRESS).split()]
    known = [owner for _, owner in alone]
    found: list[int] = []
    for mine, there in pair_groups(
        [group for group, _ in alone], [group.translate(STRESS) for group in groups]
    ):
        candidates = alone[mine] or [("", found[-1] if found else known[0] if known else owners[0])]
        for group in groups[there]:
            found += _assign_within(group, candidates)
            found.append(found[-1])
    return found[:-1]


def pair_groups(alone: Sequence[str], groups: Sequence[str]) -> Iterator[Segment]:
    """Cut both sequences into segments that belong together, anchored where they are equal."""
    here, there = 0, 0
    for block in SequenceMatcher(None, alone, groups, autojunk=False).get_matching_blocks():
        for mine, theirs in _pair_gap(alone[here : block.a], groups[there : block.b]):
            yield _shift(mine, here), _shift(theirs, there)
        for step in range(block.size):
            yield _shift(slice(0, 1), block.a + step), _shift(slice(0, 1), block.b + step)
        here, there = block.a + block.size, block.b + block.size


def _shift(cut: slice, offset: int) -> slice:
    return slice(cut.start + offset, cut.stop + offset)


def _pair_gap(alone: Sequence[str], groups: Sequence[str]) -> list[Segment]:
    """Find the cheapest segmentation of unequal stretches, by dynamic programming."""
    best: dict[tuple[int, int], tuple[float, tuple[int, int]]] = {(0, 0): (0.0, (0, 0))}
    for here in range(len(alone) + 1):
        for there in range(len(groups) + 1):
            for move in MOVES:
                end = here + move[0], there + move[1]
                if end[0] <= len(alone) and end[1] <= len(groups):
                    cost = best[here, there][0] + (move != (1, 1)) * UNEVEN_COST
                    cost += count_edits("".join(alone[here : end[0]]), groups[there : end[1]])
                    if end not in best or cost < best[end][0]:
                        best[end] = cost, move
    return _trace(best, (len(alone), len(groups)))


def _trace(
    best: dict[tuple[int, int], tuple[float, tuple[int, int]]], end: tuple[int, int]
) -> list[Segment]:
    """Walk back from `end` along the best moves."""
    segments: list[Segment] = []
    while end != (0, 0):
        move = best[end][1]
        start = end[0] - move[0], end[1] - move[1]
        segments.insert(0, (slice(start[0], end[0]), slice(start[1], end[1])))
        end = start
    return segments


def count_edits(left: str, groups: Sequence[str]) -> int:
    """Return Levenshtein's distance between `left` and the joined `groups`."""
    right = "".join(groups)
    row = list(range(len(right) + 1))
    for number, symbol in enumerate(left, 1):
        diagonal, row[0] = row[0], number
        for place, other in enumerate(right, 1):
            change = diagonal + (symbol != other)
            diagonal = row[place]
            row[place] = min(change, diagonal + 1, row[place - 1] + 1)
    return row[-1]


def _assign_within(group: str, candidates: Sequence[tuple[str, int]]) -> list[int]:
    """Return the owner of each symbol of one group that says one word or several."""
    if len({owner for _, owner in candidates}) == 1:
        return [candidates[0][1]] * len(group)
    symbols = [(symbol, owner) for word, owner in candidates for symbol in word]
    joined = "".join(symbol for symbol, _ in symbols)
    matcher = SequenceMatcher(None, group, joined, autojunk=False)
    found = {
        block.a + step: symbols[block.b + step][1]
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }
    return _fill(group, found, candidates)


def _fill(group: str, found: dict[int, int], candidates: Sequence[tuple[str, int]]) -> list[int]:
    """Give unmatched symbols the owner before them, and stress that of the symbol after it."""
    filled = [candidates[-1][1]] * len(group)
    owner = candidates[0][1]
    for index in range(len(group)):
        owner = found.get(index, owner)
        filled[index] = owner
    for index in reversed(range(len(group) - 1)):
        if not group[index].translate(STRESS):
            filled[index] = filled[index + 1]
    return filled
