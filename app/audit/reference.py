"""What a sound should have been: any file that libav reads, at the rate of what is compared."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import av
from av.container import InputContainer

from app.audit.decoding import to_float
from app.audit.segments import HIGHEST_RATE, LOWEST_RATE, UNREADABLE, find_codec
from app.errors import UnreadableAudioError
from app.speech.engine import Samples
from app.speech.resampling import create_resampler


class Reference:
    """An open audio file, to be read once."""

    def __init__(self, path: str, container: InputContainer) -> None:
        """Read the first audio stream of a container, which stays the caller's to close."""
        self._path = path
        self._container = container

    def read(self, rate: int) -> Generator[Samples]:
        """Yield its mono float samples at `rate` Hz, as a plain player plays it.

        Raises UnreadableAudioError where it is damaged.
        """
        try:
            own_rate = find_codec(self._container).sample_rate
            if not LOWEST_RATE <= own_rate <= HIGHEST_RATE:
                raise UnreadableAudioError(f"{self._path} has a sample rate of {own_rate} Hz.")
            resampler = create_resampler(own_rate, rate)
            for frame in self._container.decode(audio=0):
                yield resampler.feed(to_float(frame))
            yield resampler.finish()
        except UNREADABLE as error:
            raise UnreadableAudioError(f"{self._path} is damaged: {error}.") from error


@contextmanager
def open_reference(path: str) -> Generator[Reference]:
    """Open a file of any format; raises UnreadableAudioError for what is no audio."""
    with ExitStack() as opened:
        try:
            # libav would open URLs as well, so it gets the file and not its name.
            file = opened.enter_context(Path(path).open("rb"))
            container = opened.enter_context(av.open(file, "r"))
            find_codec(container)
        except (OSError, *UNREADABLE) as error:
            raise UnreadableAudioError(f"{path} cannot be read as audio: {error}.") from error
        yield Reference(path, container)
