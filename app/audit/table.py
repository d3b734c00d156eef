"""An audit in words: the bug report's table, what differs, and the verdict; or the same in JSON."""

from collections.abc import Generator
from dataclasses import asdict
from typing import Any, Final

from app.audit.comparison import Comparison
from app.audit.findings import MISSING_SECONDS, Findings, Row
from app.audit.silences import SilenceFinder

GAPLESS: Final = "GAPLESS"
NOT_GAPLESS: Final = "NOT GAPLESS"
_LINES: Final = 10
_HEADER: Final = "    #    start byte         bytes       samples   hidden     seconds    begins at"


def list_lines(findings: Findings) -> Generator[str]:
    """Yield the lines of the report; a sum of segments counts all that their frames hold."""
    plural = "" if findings.containers == 1 else "s"
    yield f"{findings.kind}, {findings.rate} Hz, {findings.containers} container{plural}"
    yield ""
    yield _HEADER
    yield from map(_format_row, findings.rows)
    last = findings.last_row
    if last is not None and last.number > len(findings.rows):
        if last.number > len(findings.rows) + 1:
            yield f"  ... {last.number - len(findings.rows) - 1} more"
        yield _format_row(last)
    yield (
        f"total {'':13} {findings.size_bytes:>13,} {findings.samples:>13,}"
        f" {findings.hidden_samples:>8,} {findings.seconds:>11.3f}"
    )
    if findings.silences is not None and findings.silences.found.count:
        yield _tell_silences(findings.silences)
    if findings.comparison is not None:
        yield ""
        yield from _tell_differences(findings.comparison)
    yield ""
    yield give_verdict(findings)


def give_verdict(findings: Findings) -> str:
    """Return the one line that says it all."""
    problems = list(findings.list_problems())
    if problems:
        return f"{NOT_GAPLESS}: {'; '.join(problems)}."
    compared = findings.comparison is not None
    return f"{GAPLESS}: one container{', nothing inserted, nothing lost' if compared else ''}."


def _format_row(row: Row) -> str:
    fault = f"  {row.fault}" if row.fault else ""
    return (
        f"{row.number:>5} {row.start_byte:>13,} {row.size_bytes:>13,} {row.samples:>13,}"
        f" {row.hidden_samples:>8,} {row.seconds:>11.3f} {row.begins_seconds:>12.3f}{fault}"
    )


def _tell_silences(silences: SilenceFinder) -> str:
    at_seams = sum(silence.at_seam for silence in silences.found.kept)
    runs = f"{silences.found.count} run{'s' if silences.found.count > 1 else ''}"
    where = f", {at_seams} at a seam" if at_seams else ""
    return (
        f"digital silence: {runs}{where}, {silences.total_seconds:.3f} s in all,"
        f" the longest {silences.longest_seconds * 1e3:.1f} ms"
    )


def _tell_differences(comparison: Comparison) -> Generator[str]:
    yield f"against the reference of {comparison.made_seconds:.3f} s:"
    if comparison.delay_seconds is None:
        yield "  it is not found"
        return
    yield f"  it begins at {comparison.delay_seconds * 1e3:.2f} ms"
    yield f"  first sample heard: {_tell_heard(comparison.missing_start_seconds)}"
    yield f"  last sample heard: {_tell_heard(comparison.missing_end_seconds)}"
    for found in comparison.breaks.kept[:_LINES]:
        word = "inserted" if found.size_seconds > 0 else "lost"
        seam = "" if found.seam is None else f", the seam after container {found.seam}"
        size = abs(found.size_seconds) * 1e3
        yield f"  {word} {size:.2f} ms at {found.at_seconds:.4f} s{seam}"
    for noise in comparison.disturbances.kept[:_LINES]:
        length = noise.length_seconds * 1e3
        yield f"  {noise.kind} of {length:.1f} ms at {noise.start_seconds:.4f} s"
    shown = min(comparison.breaks.count, _LINES) + min(comparison.disturbances.count, _LINES)
    more = comparison.breaks.count + comparison.disturbances.count - shown
    if more:
        yield f"  ... {more} more"
    inserted, lost = comparison.inserted_seconds * 1e3, comparison.lost_seconds * 1e3
    yield f"  in all {inserted:.2f} ms inserted, {lost:.2f} ms lost"


def _tell_heard(missing_seconds: float) -> str:
    missing = missing_seconds > MISSING_SECONDS
    return f"no, {missing_seconds * 1e3:.1f} ms are missing" if missing else "yes"


def make_document(findings: Findings) -> dict[str, Any]:
    """Return the report as what JSON can say; lists are cut as in `Findings` and `Tally`."""
    rows = [*findings.rows]
    if findings.last_row is not None and findings.last_row.number > len(rows):
        rows.append(findings.last_row)
    problems = list(findings.list_problems())
    return {
        "gapless": not problems,
        "problems": problems,
        "kind": findings.kind,
        "sample_rate": findings.rate,
        "containers": findings.containers,
        "bytes": findings.size_bytes,
        "samples": findings.samples,
        "hidden_samples": findings.hidden_samples,
        "seconds": findings.seconds,
        "segments": [asdict(row) for row in rows],
        "silences": _document_silences(findings.silences),
        "comparison": _document_comparison(findings.comparison),
    }


def _document_silences(silences: SilenceFinder | None) -> dict[str, Any] | None:
    if silences is None:
        return None
    return {
        "count": silences.found.count,
        "total_seconds": silences.total_seconds,
        "longest_seconds": silences.longest_seconds,
        "first": [asdict(silence) for silence in silences.found.kept],
    }


def _document_comparison(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {
        "reference_seconds": comparison.made_seconds,
        "delay_seconds": comparison.delay_seconds,
        "inserted_seconds": comparison.inserted_seconds,
        "lost_seconds": comparison.lost_seconds,
        "missing_start_seconds": comparison.missing_start_seconds,
        "missing_end_seconds": comparison.missing_end_seconds,
        "not_found_seconds": comparison.not_found_seconds,
        "tail_seconds": comparison.tail_seconds,
        "breaks": comparison.breaks.count,
        "first_breaks": [asdict(found) for found in comparison.breaks.kept],
        "disturbances": comparison.disturbances.count,
        "first_disturbances": [asdict(found) for found in comparison.disturbances.kept],
    }
