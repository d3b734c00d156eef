"""What holds for sound without a seam, as bounds on what was heard.

The bounds are those that one container at 64 kbit/s kept in every measurement; each law is broken
by one of the faults in test_control.py, so none of them is blind.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from app.audit.alignment import LagTrack, Samples, track_lag
from app.audit.gaps import Span, find_dips, find_heard, find_zero_runs
from app.formats import MP3_DECODER_DELAY_SAMPLES
from e2e.capture import Capture

Law = Literal["inserted", "jump", "correlation", "dip", "zeros", "start", "end", "tail", "duration"]
Voice = Literal["noise", "chirp"]

LONGEST_INSERTION_SECONDS: Final = 0.1e-3
LEAST_CORRELATION: Final = {"noise": 0.94, "chirp": 0.998}
EDGE_SECONDS: Final = 0.5e-3
SILENCE: Final = 2e-3
"""What a resampler's last ripples stay below, EDGE_SECONDS after the sound."""


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
    delay = _measure_delay_seconds(audio_format, rate)
    after = Span(sounding.end_seconds + delay + EDGE_SECONDS, len(capture.samples) / rate)
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
        "tail": _is_silent(_cut(capture.samples, after, rate)),
        "duration": abs(excess - delay) <= EDGE_SECONDS,
    }
    broken = frozenset(law for law, is_kept in kept.items() if not is_kept)
    return Findings(track, heard, zero_runs, dips, excess, broken)


def _cut(samples: Samples, span: Span, rate: int) -> Samples:
    return samples[max(round(span.start_seconds * rate), 0) : round(span.end_seconds * rate)]


def _is_silent(samples: Samples) -> bool:
    return not len(samples) or float(np.abs(samples).max()) <= SILENCE


def _measure_delay_seconds(audio_format: str, rate: int) -> float:
    """Give what may follow the last sample: of an mp3, what its decoder lags behind its frames.

    Chromium's append window cuts frames, and the decoder needs the next one for the rest of a cut
    one (media/base/audio_discard_helper.cc): an end any sooner would cost sound.
    """
    return MP3_DECODER_DELAY_SAMPLES / rate if audio_format == "mp3" else 0.0
