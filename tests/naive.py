"""The bug that this project exists to end: a complete file for every piece of a response."""

from app.formats import AudioFormat
from app.speech.engine import Samples
from tests.files import encode_file


class NaiveEncoder:
    """StreamEncoder's interface around one finished file a feed."""

    def __init__(self, audio_format: AudioFormat, sample_rate: int) -> None:
        self._format = audio_format
        self._input_rate = sample_rate
        self.sample_rate = audio_format.coded_rate(sample_rate)

    def feed(self, samples: Samples) -> bytes:
        return encode_file(self._format, self._input_rate, [samples])

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass
