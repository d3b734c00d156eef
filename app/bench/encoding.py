"""What a chunk costs through an encoder held open, beside a process a chunk and one pass."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import imageio_ffmpeg
import numpy as np

from app.bench.timing import Ratio, clock, time_in_turns
from app.formats import FORMATS, AudioFormat
from app.settings import Settings
from app.speech.encoder import StreamEncoder
from app.speech.engine import Samples

RATE: Final = 24_000
CHUNK: Final = RATE // 5
CHUNKS: Final = 150
PROCESSES: Final = 5


def measure_encoding(_: Settings) -> Iterator[Ratio]:
    """Encode 30 s in chunks of 0.2 s, as mp3 and as WebM."""
    noise = np.random.default_rng(1).standard_normal(CHUNK * CHUNKS).astype(np.float32) * 0.1
    for name in ("mp3", "webm"):
        yield from _measure_format(FORMATS[name], noise)


def _measure_format(audio_format: AudioFormat, noise: Samples) -> Iterator[Ratio]:
    name, ffmpeg = audio_format.name, find_ffmpeg()
    encode = clock(lambda: _encode(audio_format, noise, CHUNK))
    chunked, processes = time_in_turns(
        encode, clock(lambda: _encode_by_processes(ffmpeg, audio_format, noise))
    )
    yield Ratio(
        f"{name}: a 0.2 s chunk, encoder held open / {_describe(ffmpeg)} process a chunk",
        chunked / CHUNKS,
        processes / PROCESSES,
        bound=1 / 50,
    )
    chunked, one_pass = time_in_turns(
        encode, clock(lambda: _encode(audio_format, noise, noise.size))
    )
    yield Ratio(
        f"{name}: a 0.2 s chunk, encoder held open / its share of one pass",
        chunked / CHUNKS,
        one_pass / CHUNKS,
        bound=1.3,
    )


def _encode(audio_format: AudioFormat, samples: Samples, step: int) -> None:
    with closing(StreamEncoder(audio_format, RATE)) as encoder:
        for start in range(0, samples.size, step):
            encoder.feed(samples[start : start + step])
        encoder.finish()


def find_ffmpeg() -> str:
    """Find the ffmpeg that mlx-audio would start, else a static one, which starts faster."""
    return shutil.which("ffmpeg") or imageio_ffmpeg.get_ffmpeg_exe()


def _describe(ffmpeg: str) -> str:
    return "ffmpeg" if ffmpeg == shutil.which("ffmpeg") else "static ffmpeg"


def _encode_by_processes(ffmpeg: str, audio_format: AudioFormat, samples: Samples) -> None:
    """Encode a few chunks as mlx-audio's server does: a process and a file for each."""
    coding = audio_format.coding
    if coding is None:
        raise ValueError(f"{audio_format.name} needs no process")
    command = [
        *(ffmpeg, "-v", "error"),
        *("-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "pipe:0"),
        *("-c:a", coding.codec, "-f", coding.muxer, "pipe:1"),
    ]
    pcm = (samples[:CHUNK] * 32_767).astype(np.int16).tobytes()
    for _ in range(PROCESSES):
        subprocess.run(command, input=pcm, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
