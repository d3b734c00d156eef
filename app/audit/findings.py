"""What an audit found, and in which words it is no single gapless container."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.audit.comparison import Comparison
from app.audit.tally import Tally

if TYPE_CHECKING:
    from app.audit.silences import SilenceFinder

FIRST_ROWS: Final = 10
_FAULTS_SAID: Final = 3
MISSING_SECONDS: Final = 5e-3
"""From this on a start or an end counts as not heard; a codec blurs less."""


@dataclass(frozen=True, slots=True)
class Row:
    """One container of a body; see Segment. `begins_seconds` is its place in the whole sound."""

    number: int
    start_byte: int
    size_bytes: int
    samples: int
    hidden_samples: int
    seconds: float
    begins_seconds: float
    fault: str | None


class Findings:
    """All that an audit found; of many containers the first ten rows and the last are kept."""

    def __init__(self, kind: str) -> None:
        """Begin with nothing found."""
        self.kind = kind
        self.rate = 0
        self.containers = 0
        self.size_bytes = 0
        self.samples = 0
        self.hidden_samples = 0
        self.seconds = 0.0
        self.rows: list[Row] = []
        self.last_row: Row | None = None
        self.faults = Tally[str]()
        self.silences: SilenceFinder | None = None
        self.comparison: Comparison | None = None

    def add(self, row: Row) -> None:
        """Add the row of a container that was read to its end."""
        self.size_bytes += row.size_bytes
        self.samples += row.samples
        self.hidden_samples += row.hidden_samples
        self.seconds += row.seconds
        self.last_row = row
        if len(self.rows) < FIRST_ROWS:
            self.rows.append(row)
        if row.fault is not None:
            self.faults.add(f"container {row.number}: {row.fault}")

    def list_problems(self) -> Generator[str]:
        """Yield each reason for which this is not one gapless container, in words."""
        if self.containers != 1:
            yield f"{self.containers} containers where one belongs"
        yield from self.faults.kept[:_FAULTS_SAID]
        if self.faults.count > _FAULTS_SAID:
            yield f"{self.faults.count - _FAULTS_SAID} more faults"
        if self.comparison is not None:
            yield from _list_differences(self.comparison)


def _list_differences(comparison: Comparison) -> Generator[str]:
    if comparison.delay_seconds is None:
        yield "the reference is not heard in it"
        return
    if comparison.missing_start_seconds > MISSING_SECONDS:
        yield f"the first {comparison.missing_start_seconds * 1e3:.1f} ms are not heard"
    if comparison.inserted_seconds:
        yield f"{comparison.inserted_seconds * 1e3:.2f} ms inserted"
    if comparison.lost_seconds:
        yield f"{comparison.lost_seconds * 1e3:.2f} ms lost"
    if comparison.not_found_seconds:
        yield f"{comparison.not_found_seconds:.2f} s are not the reference's"
    for kind in ("dip", "click"):
        count = sum(found.kind == kind for found in comparison.disturbances.kept)
        if count:
            yield f"{count} {kind}{'s' if count > 1 else ''}"
    if comparison.missing_end_seconds > MISSING_SECONDS:
        yield f"the last {comparison.missing_end_seconds * 1e3:.1f} ms are not heard"
