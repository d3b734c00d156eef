"""Complete files, as `stream: false` sends them."""

from collections.abc import Iterable
from contextlib import closing
from io import BytesIO

from app.formats import AudioFormat
from app.speech.encoder import FileEncoder
from app.speech.engine import Samples


def encode_file(audio_format: AudioFormat, sample_rate: int, chunks: Iterable[Samples]) -> bytes:
    file = BytesIO()
    with closing(FileEncoder(audio_format, sample_rate, file)) as encoder:
        for chunk in chunks:
            encoder.feed(chunk)
        encoder.finish()
    return file.getvalue()
