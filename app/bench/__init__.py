"""Ratios, measured side by side in one run: `python -m app bench`."""

from app.bench.convolutions import measure_convolutions
from app.bench.encoding import measure_encoding
from app.bench.timing import Ratio
from app.bench.voice import measure_voice
from app.settings import Settings


def run(settings: Settings) -> None:
    """Measure each part and print its ratios, each beside the bound that the project sets."""
    print(f"{'measured':<62}{'ours':>11}{'theirs':>11}{'ratio':>9}   bound")
    for measure in (measure_encoding, measure_voice, measure_convolutions):
        for ratio in measure(settings):
            print(_describe(ratio))


def _describe(ratio: Ratio) -> str:
    bound = "" if ratio.bound is None else f"   <= {ratio.bound:.3g}"
    return (
        f"{ratio.name:<62}{ratio.ours_seconds * 1000:>8.1f} ms"
        f"{ratio.theirs_seconds * 1000:>8.1f} ms{ratio.value:>9.3f}{bound}"
    )
