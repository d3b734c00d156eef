"""The one table of what a response can be: container, codec, types and priming by name.

Everything that differs between formats is declared here, so that the encoder, the server's headers,
the page and the tests all read the same numbers. Nothing is computed from a running encoder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from app.errors import InvalidRequestError

LOWEST_RATE: Final = 8_000
HIGHEST_RATE: Final = 192_000

OPUS_LOOKAHEAD_SAMPLES: Final = 312
"""libopus's lookahead at 48 kHz (OPUS_GET_LOOKAHEAD, 6.5 ms): the pre-skip of its streams."""

OPUS_FRAME_SAMPLES: Final = 960
"""20 ms at 48 kHz."""

AAC_FRAME_SAMPLES: Final = 1024
"""One AAC-LC frame; libavcodec's encoder also primes with one (`initial_padding`)."""

MP3_ENCODER_DELAY_SAMPLES: Final = 576
MP3_DECODER_DELAY_SAMPLES: Final = 529
"""LAME's ENCDELAY, and what every Layer III decoder adds: its DECDELAY, 528, and one."""

_NARROW_RATE: Final = 24_000
"""The highest rate of MPEG-2 Layer III, whose frames hold 576 samples, not 1152."""


@dataclass(frozen=True, slots=True)
class Priming:
    """What a plain decoder (ffmpeg, libsndfile) yields beyond the samples that went in.

    `lead_samples` come before the first one; `decoded` maps the samples put into the codec and
    the coded rate in Hz to all the samples that come out. Both count at the coded rate.
    """

    lead_samples: int
    decoded: Callable[[int, int], int]

    def tail_samples(self, coded: int, rate: int) -> int:
        """Return how many samples follow the last of `coded` ones at `rate` Hz."""
        return self.decoded(coded, rate) - self.lead_samples - coded


@dataclass(frozen=True, slots=True)
class Coding:
    """How libav makes a format; `muxer`, `codec` and the options are libav's own names.

    `rates` are those that the codec is run at in Hz, ascending, empty for any; `bit_rate` is in
    bits per second, 0 for lossless, and `wide_bit_rate` replaces it above 24 kHz. The muxer takes
    `stream_options` when the output is sent as it is made, `file_options` when it can seek back;
    "{rate}" in a value is the coded rate. `pre_skip` is False where an Opus header must say 0,
    because a pre-skip and the times of the blocks disagree in Firefox. `whole_packets` is True
    where a stream's last packet is declared as long as what it decodes to, padding included, since
    Chromium plays all of it and an append window cuts by what is declared.
    """

    muxer: str
    codec: str
    rates: tuple[int, ...] = ()
    bit_rate: int = 0
    wide_bit_rate: int = 0
    pre_skip: bool = True
    whole_packets: bool = False
    codec_options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)
    file_options: Mapping[str, str] = field(default_factory=dict)

    def choose_rate(self, input_rate: int) -> int:
        """Return the input's own rate where the codec has it, else the least lossy other one.

        That is the lowest multiple, else the next higher rate, else the highest.
        """
        above = [rate for rate in self.rates if rate >= input_rate]
        multiples = [rate for rate in above if rate % input_rate == 0]
        return (multiples or above or [*self.rates[-1:], input_rate])[0]

    def choose_bit_rate(self, coded_rate: int) -> int:
        """Return the bits per second for a coded rate in Hz, 0 where the codec has no choice."""
        return self.bit_rate if coded_rate <= _NARROW_RATE else self.wide_bit_rate


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A way to send audio, in 16-bit PCM where `coding` is None.

    `mse_type` is for `SourceBuffer`, None where MediaSource never takes the format;
    `mse_lead_samples` is the coded silence, in samples at the coded rate whatever that is, that it
    plays before the first sample. `stream_priming` and `file_priming` say what the streamed bytes
    and a complete file decode to.
    """

    name: str
    label: str
    media_type: str
    extension: str
    stream_priming: Priming
    file_priming: Priming
    coding: Coding | None = None
    mse_type: str | None = None
    mse_lead_samples: int = 0

    def coded_rate(self, input_rate: int) -> int:
        """Return the rate in Hz that input at `input_rate` Hz is coded at.

        Raises InvalidRequestError outside 8 to 192 kHz.
        """
        if not LOWEST_RATE <= input_rate <= HIGHEST_RATE:
            raise InvalidRequestError(
                f"A sample rate of {input_rate} Hz is outside {LOWEST_RATE} to {HIGHEST_RATE} Hz."
            )
        return input_rate if self.coding is None else self.coding.choose_rate(input_rate)

    def coded_samples(self, samples: int, input_rate: int) -> int:
        """Return how many samples enter the codec when `samples` at `input_rate` Hz are fed."""
        return -(-samples * self.coded_rate(input_rate) // input_rate)

    def decoded_samples(self, samples: int, input_rate: int) -> int:
        """Return what a plain decoder yields of a stream of `samples`, at the coded rate."""
        coded = self.coded_samples(samples, input_rate)
        return self.stream_priming.decoded(coded, self.coded_rate(input_rate))


def _keep(coded: int, _rate: int) -> int:
    return coded


def _count_mp3_samples(coded: int, rate: int) -> int:
    """Count the samples in LAME's frames (`lame_encode_flush`: the padding is at least 576)."""
    frame = 576 if rate <= _NARROW_RATE else 1152
    primed = coded + MP3_ENCODER_DELAY_SAMPLES
    padding = frame - primed % frame
    return primed + padding + (frame if padding < 576 else 0)


def _fill_aac_frames(coded: int, _rate: int) -> int:
    return -(-coded // AAC_FRAME_SAMPLES) * AAC_FRAME_SAMPLES


def _prime_aac_frames(coded: int, rate: int) -> int:
    return AAC_FRAME_SAMPLES + _fill_aac_frames(coded, rate)


def _add_lookahead(coded: int, _rate: int) -> int:
    return coded + OPUS_LOOKAHEAD_SAMPLES


def _fill_opus_frames(coded: int, _rate: int) -> int:
    return -(-_add_lookahead(coded, _rate) // OPUS_FRAME_SAMPLES) * OPUS_FRAME_SAMPLES


_EXACT: Final = Priming(0, _keep)
_MP3: Final = Priming(MP3_ENCODER_DELAY_SAMPLES + MP3_DECODER_DELAY_SAMPLES, _count_mp3_samples)
_ADTS: Final = Priming(AAC_FRAME_SAMPLES, _prime_aac_frames)
# The edit list hides the priming; nothing in MP4 says how much of the last frame is sound.
_MP4_AAC: Final = Priming(0, _fill_aac_frames)
_MP4_OPUS: Final = Priming(OPUS_LOOKAHEAD_SAMPLES, _fill_opus_frames)
_WEBM_OPUS: Final = Priming(OPUS_LOOKAHEAD_SAMPLES, _add_lookahead)

# Without the bit reservoir a frame is on the wire when it is coded, up to 40 ms earlier, and needs
# none before it; the noise rises by 0.5 dB (measured on noise at 24 kHz). LAME's level 7 costs 0.6
# of its default, and without a reservoir, where a frame's bits cannot be saved for another, it is
# also nearer to the input: by 2 dB in most critical bands (measured on the embedded voice).
# A Xing frame sent before the length is known would be a false one, and decoders that believe it
# skip samples that MediaSource plays.
_MP3_CODING: Final = Coding(
    "mp3",
    "libmp3lame",
    rates=(16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
    bit_rate=64_000,
    wide_bit_rate=96_000,
    codec_options={"reservoir": "0", "compression_level": "7"},
    stream_options={"write_xing": "0", "id3v2_version": "0"},
    file_options={"write_xing": "1", "id3v2_version": "0"},
)
# Pages of 20 ms cost 15 % in bytes and leave at once; libav's default waits for a second.
_OGG_PAGES: Final = {"page_duration": "20000"}
_OGG_OPUS_CODING: Final = Coding(
    "ogg",
    "libopus",
    rates=(48_000,),
    bit_rate=64_000,
    wide_bit_rate=64_000,
    codec_options={"application": "audio", "frame_duration": "20"},
    stream_options=_OGG_PAGES,
)
_WEBM_CODING: Final = replace(
    _OGG_OPUS_CODING, muxer="webm", pre_skip=False, stream_options={"cluster_time_limit": "20"}
)
# At 44.1 kHz and above an AAC frame lasts 23 ms, so that two of encoder delay and one in the
# container stay well under 120 ms; at 16 kHz one alone lasts 64 ms.
_ADTS_CODING: Final = Coding(
    "adts",
    "aac",
    rates=(44_100, 48_000),
    bit_rate=96_000,
    wide_bit_rate=96_000,
    # libavcodec's default coder takes twice the time here and is 13 dB further from the input.
    codec_options={"aac_coder": "fast"},
)
# No index at the end (skip_trailer): a stream is not sought in.
_FRAGMENTS: Final = "default_base_moof+frag_every_frame+skip_trailer"
# An edit list in units of the coded rate; libav's default of 1 ms drops whole frames at the end.
_MP4_FILE: Final = {"movie_timescale": "{rate}"}
# The moov that waits for the first packet (delay_moov) holds the edit list that hides the priming.
_MP4_AAC_CODING: Final = replace(
    _ADTS_CODING,
    muxer="mp4",
    whole_packets=True,
    stream_options={"movflags": f"{_FRAGMENTS}+delay_moov", **_MP4_FILE},
    file_options=_MP4_FILE,
)
_MP4_OPUS_CODING: Final = replace(
    _WEBM_CODING,
    muxer="mp4",
    whole_packets=True,
    stream_options={"movflags": f"{_FRAGMENTS}+empty_moov"},
    file_options=_MP4_FILE,
)
# Levels 0 to 2 code blocks of 27 ms instead of 105 ms (libavcodec/flacenc.c), which matters where
# a page or fragment waits for the next block before it leaves.
_OGG_FLAC_CODING: Final = Coding(
    "ogg", "flac", codec_options={"compression_level": "2"}, stream_options=_OGG_PAGES
)
_MP4_FLAC_CODING: Final = replace(
    _OGG_FLAC_CODING,
    muxer="mp4",
    stream_options={"movflags": f"{_FRAGMENTS}+empty_moov"},
    file_options=_MP4_FILE,
)
_OGG_OPUS: Final = AudioFormat(
    "ogg", "Ogg / Opus", 'audio/ogg; codecs="opus"', "ogg", _EXACT, _EXACT, _OGG_OPUS_CODING
)
_WEBM: Final = AudioFormat(
    "webm", "WebM / Opus", 'audio/webm; codecs="opus"', "webm", _WEBM_OPUS, _WEBM_OPUS, _WEBM_CODING
)
_PCM: Final = AudioFormat("pcm", "Raw PCM, 16 bit", "audio/pcm", "pcm", _EXACT, _EXACT)


def _declare(audio_format: AudioFormat, *, lead: int) -> AudioFormat:
    """Return a format whose Content-Type is what a SourceBuffer is made with."""
    return replace(audio_format, mse_type=audio_format.media_type, mse_lead_samples=lead)


def _declare_mp4(
    name: str, label: str, codecs: str, *, priming: Priming, coding: Coding
) -> AudioFormat:
    extension = "m4a" if name == "mp4" else "mp4"
    media_type = f'audio/mp4; codecs="{codecs}"'
    declared = AudioFormat(name, label, media_type, extension, priming, priming, coding)
    return _declare(declared, lead=0)


_DECLARED: Final = (
    _declare(
        AudioFormat("mp3", "MP3", "audio/mpeg", "mp3", _MP3, _EXACT, _MP3_CODING),
        lead=MP3_ENCODER_DELAY_SAMPLES,
    ),
    _declare(_WEBM, lead=OPUS_LOOKAHEAD_SAMPLES),
    replace(_OGG_OPUS, name="opus", extension="opus"),
    _OGG_OPUS,
    # PyAV's wheels carry no libvorbis, and libavcodec's own Vorbis encoder is stereo only.
    AudioFormat(
        "vorbis", "Ogg / FLAC", 'audio/ogg; codecs="flac"', "ogg", _EXACT, _EXACT, _OGG_FLAC_CODING
    ),
    AudioFormat("flac", "FLAC", "audio/flac", "flac", _EXACT, _EXACT, Coding("flac", "flac")),
    AudioFormat("wav", "WAV", "audio/wav", "wav", _EXACT, _EXACT),
    _declare(
        AudioFormat("aac", "AAC (ADTS)", "audio/aac", "aac", _ADTS, _ADTS, _ADTS_CODING),
        lead=AAC_FRAME_SAMPLES,
    ),
    _declare_mp4("mp4", "MP4 / AAC", "mp4a.40.2", priming=_MP4_AAC, coding=_MP4_AAC_CODING),
    replace(
        _declare_mp4("mp4-opus", "MP4 / Opus", "opus", priming=_MP4_OPUS, coding=_MP4_OPUS_CODING),
        mse_lead_samples=OPUS_LOOKAHEAD_SAMPLES,
    ),
    _declare_mp4("mp4-flac", "MP4 / FLAC", "flac", priming=_EXACT, coding=_MP4_FLAC_CODING),
    _PCM,
    replace(_PCM, name="raw"),
)

FORMATS: Final[Mapping[str, AudioFormat]] = MappingProxyType(
    {declared.name: declared for declared in _DECLARED}
)
"""Every format by the name that a request gives as `response_format`."""


def find_format(name: str) -> AudioFormat:
    """Return the format of that name; raise InvalidRequestError, which lists them, for another."""
    try:
        return FORMATS[name]
    except KeyError:
        raise InvalidRequestError(
            f"Unknown response_format '{name}'. Known ones: {', '.join(FORMATS)}.",
            param="response_format",
        ) from None
