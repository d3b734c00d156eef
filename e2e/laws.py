"""What holds for sound without a seam, as bounds on what was heard.

The bounds are those that one container at 64 kbit/s kept in every measurement; each law is broken
by one of the faults in test_control.py, so none of them is blind.
"""

from dataclasses import dataclass
from typing import Final, Literal

from app.audit.alignment import LagTrack, Samples, track_lag
from app.audit.gaps import Span, find_dips, find_heard, find_zero_runs
from app.formats import MP3_DECODER_DELAY_SAMPLES
from e2e.capture import Capture

Law = Literal["inserted", "jump", "correlation", "dip", "zeros", "start", "end", "duration"]
Voice = Literal["noise", "chirp"]

LONGEST_INSERTION_SECONDS: Final = 0.1e-3
LEAST_CORRELATION: Final = {"noise": 0.94, "chirp": 0.998}
EDGE_SECONDS: Final = 0.5e-3
_CODEC_FRAME_SECONDS: Final = {
    "mp3": 576 / 24_000,
    "webm": 0.02,
    "mp4": 1024 / 44_100,
    "mp4-flac": 1 / 24_000,
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was measured on one capture."""

    track: LagTrack
    heard: Span
    zero_runs: tuple[Span, ...]
    dips: tuple[Span, ...]
    duration_excess_seconds: float
    broken: frozenset[Law]

    def __str__(self) -> str:
        """Tell the figures in one line."""
        track = self.track
        return (
            f"inserted {track.inserted_seconds * 1e3:.3f} ms,"
            f" dropped {track.dropped_seconds * 1e3:.3f} ms,"
            f" spread {track.spread_seconds * 1e3:.4f} ms,"
            f" correlation {track.minimum_correlation:.5f},"
            f" {len(track.steps)} jumps, {len(self.dips)} dips, {len(self.zero_runs)} zero runs,"
            f" heard {self.heard.start_seconds:.4f} to {self.heard.end_seconds:.4f} s,"
            f" duration {self.duration_excess_seconds * 1e3:+.2f} ms,"
            f" broken: {', '.join(sorted(self.broken)) or 'none'}"
        )


def judge(capture: Capture, reference: Samples, *, voice: Voice, audio_format: str) -> Findings:
    """Hold what was heard of a signal against what was made, and name the laws that it breaks."""
    rate = capture.rate
    track = track_lag(capture.samples, reference, rate=rate)
    heard = find_heard(capture.samples, reference, track)
    start = track.first_lag_seconds
    made_seconds = len(reference) / rate
    sounding = Span(start, start + made_seconds)
    dips = find_dips(capture.samples, sounding, rate=rate) if voice == "chirp" else ()
    zero_runs = find_zero_runs(_cut(capture.samples, sounding, rate), rate=rate)
    excess = capture.duration_seconds - made_seconds
    kept: dict[Law, bool] = {
        "inserted": track.inserted_seconds <= LONGEST_INSERTION_SECONDS
        and track.spread_seconds <= LONGEST_INSERTION_SECONDS,
        "jump": not track.steps,
        "correlation": track.minimum_correlation >= LEAST_CORRELATION[voice],
        "dip": not dips,
        "zeros": not zero_runs,
        "start": heard.start_seconds <= EDGE_SECONDS,
        "end": made_seconds - heard.end_seconds <= EDGE_SECONDS,
        "duration": abs(excess) <= _longest_excess_seconds(audio_format, rate),
    }
    broken = frozenset(law for law, is_kept in kept.items() if not is_kept)
    return Findings(track, heard, zero_runs, dips, excess, broken)


def _cut(samples: Samples, span: Span, rate: int) -> Samples:
    return samples[max(round(span.start_seconds * rate), 0) : round(span.end_seconds * rate)]


def _longest_excess_seconds(audio_format: str, rate: int) -> float:
    """One codec frame; an mp3's last frames must also cover its decoder's delay."""
    frame = _CODEC_FRAME_SECONDS[audio_format]
    return frame + MP3_DECODER_DELAY_SAMPLES / rate if audio_format == "mp3" else frame
