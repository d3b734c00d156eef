"""Runs an audit: a body of any length, container by container, beside its reference."""

from collections.abc import Generator
from contextlib import closing

from app.audit.comparison import Comparison
from app.audit.containers import BodyParting
from app.audit.findings import Findings, Row
from app.audit.reference import Reference
from app.audit.segments import Segment
from app.audit.silences import SilenceFinder
from app.audit.sources import Body
from app.errors import UnreadableAudioError
from app.speech.engine import Samples
from app.speech.resampling import create_resampler


def inspect(body: Body, kind: str, *, pcm_rate: int, reference: Reference | None) -> Findings:
    """Audit a body of a kind to its end; `pcm_rate` in Hz is for PCM.

    Raises UnreadableAudioError if no sound can be read from it, or none is in the reference.
    """
    findings = Findings(kind)
    parting = BodyParting(body.pieces, kind)
    ears = _Ears(findings, reference)
    with closing(parting.parts()) as parts, closing(ears):
        for number, part in enumerate(parts, 1):
            segment = Segment(part, kind, pcm_rate=pcm_rate)
            begins_seconds = findings.seconds
            with closing(segment.decode()) as blocks:
                ears.listen(number, segment, blocks)
            findings.add(_make_row(number, segment, begins_seconds))
        _judge_the_whole(findings, parting, body)
        ears.finish()
    return findings


def _make_row(number: int, segment: Segment, begins_seconds: float) -> Row:
    return Row(
        number=number,
        start_byte=segment.start_byte,
        size_bytes=segment.size_bytes,
        samples=segment.samples,
        hidden_samples=segment.hidden_samples,
        seconds=segment.seconds,
        begins_seconds=begins_seconds,
        fault=segment.fault,
    )


def _judge_the_whole(findings: Findings, parting: BodyParting, body: Body) -> None:
    if not findings.samples:
        fault = findings.faults.kept[0] if findings.faults.count else "it holds no sound"
        why = body.tell_why_it_ended()
        raise UnreadableAudioError(f"This is no readable {findings.kind}: {fault}{why}.")
    findings.containers = parting.containers
    if body.broken is not None:
        findings.faults.add(f"the body broke off: {body.broken}")
    if parting.torn:
        findings.faults.add("the end is torn: the last frame, page or box is not whole")
    if parting.stray_bytes:
        findings.faults.add(f"{parting.stray_bytes} bytes between frames belong to none")


class _Ears:
    """What listens to all containers as to one sound, at the rate of the first."""

    def __init__(self, findings: Findings, reference: Reference | None) -> None:
        self._findings = findings
        self._reference = reference
        self._made: Generator[Samples] | None = None
        self._silences: SilenceFinder | None = None
        self._comparison: Comparison | None = None
        self._heard = 0

    def listen(self, number: int, segment: Segment, blocks: Generator[Samples]) -> None:
        """Hear all of a container, which is the next one."""
        resampler = None
        for block in blocks:
            if not block.size:
                continue
            if self._silences is None:
                self._open(segment.rate)
            if resampler is None:
                resampler = create_resampler(segment.rate, self._findings.rate)
                self._note_seam(number - 1)
            self._hear(resampler.feed(block))
        if resampler is not None:
            self._hear(resampler.finish())

    def finish(self) -> None:
        """Hear that there is no more; raises UnreadableAudioError if the reference is silent."""
        if self._comparison is not None:
            self._comparison.finish()
            if self._comparison.silent:
                raise UnreadableAudioError("There is no sound in the reference.")

    def close(self) -> None:
        """Read no more of the reference."""
        if self._made is not None:
            self._made.close()

    def _open(self, rate: int) -> None:
        self._findings.rate = rate
        self._silences = self._findings.silences = SilenceFinder(rate)
        if self._reference is not None:
            self._made = self._reference.read(rate)
            self._comparison = self._findings.comparison = Comparison(self._made, rate)

    def _note_seam(self, number: int) -> None:
        if number and self._silences is not None:
            self._silences.note_seam(self._heard)
            if self._comparison is not None:
                self._comparison.note_seam(number, self._heard)

    def _hear(self, block: Samples) -> None:
        self._heard += block.size
        if self._silences is not None:
            self._silences.feed(block)
        if self._comparison is not None:
            self._comparison.feed(block)
