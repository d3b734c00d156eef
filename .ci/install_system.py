"""Install what no Python wheel brings: a Fortran runtime, a Chromium, an nginx, an ffmpeg to beat.

Each is looked for first, then asked of the distribution's package manager where that may be done
without a password. What can't be installed is told with its cure.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

DOWNLOAD_SECONDS = 300


def run_as_root(*commands: list[str]) -> bool:
    """Run the commands as root, or through sudo where it asks for no password, until one fails."""
    sudo = shutil.which("sudo")
    if os.geteuid() != 0 and sudo is None:
        return False
    prefix = [] if os.geteuid() == 0 else [str(sudo), "-n"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return all(
        subprocess.run(
            [*prefix, *command], check=False, env=environment, stdout=subprocess.DEVNULL
        ).returncode
        == 0
        for command in commands
    )


def install_package(name: str) -> bool:
    """Install a Debian package, where that may be done without a password."""
    apt = shutil.which("apt-get")
    return apt is not None and run_as_root(
        [apt, "-qq", "update"], [apt, "-qq", "-y", "install", name]
    )


def has_libgfortran() -> bool:
    """Whether OpenBLAS will find its Fortran runtime; only Linux needs one."""
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL("libgfortran.so.5")
    except OSError:
        return False
    return True


def install_libgfortran() -> str | None:
    """Give MLX a fast BLAS; without it the server runs, many times slower, so this never fails."""
    if not has_libgfortran() and not (install_package("libgfortran5") and has_libgfortran()):
        print(
            "Legato will run slowly: libgfortran.so.5 is missing."
            " Install it (Debian, Ubuntu: apt-get install libgfortran5) and start again.",
            file=sys.stderr,
        )
    return None


def find_chromium() -> Path | None:
    """Look where the end-to-end tests look."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only tests have it

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    names = ("chromium", "chromium-browser", "google-chrome")
    found = [os.environ.get("CHROMIUM"), own, *map(shutil.which, names)]
    return next((Path(path) for path in found if path and Path(path).exists()), None)


def download_chromium() -> bool:
    """Ask Playwright for its own build."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=DOWNLOAD_SECONDS)
    except subprocess.SubprocessError:
        print("Playwright's own Chromium can't be downloaded here; asking the distribution.")
        return False
    return True


def install_chromium() -> str | None:
    """Give the end-to-end tests their browser; gives the message if that can't be done."""
    for attempt in (lambda: True, download_chromium, lambda: install_package("chromium")):
        if attempt() and find_chromium() is not None:
            return None
    return (
        "The end-to-end tests need a Chromium and none could be installed."
        " Install one (Debian: apt-get install chromium), or set CHROMIUM to its path."
    )


def install_ffmpeg() -> str | None:
    """Give the benchmark the ffmpeg that mlx-audio would start; without it a static one serves."""
    if shutil.which("ffmpeg") is None:
        install_package("ffmpeg")
    return None


def find_nginx() -> str | None:
    """Look where Debian puts it too, which an ordinary user's path lacks."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def install_nginx() -> str | None:
    """Give the tests the proxy that stands before them; gives the message if that can't be done."""
    if find_nginx():
        return None
    if install_package("nginx") and find_nginx():
        # Debian starts what it installs, and nobody asked for a web server.
        if shutil.which("systemctl"):
            run_as_root(["systemctl", "--quiet", "disable", "--now", "nginx"])
        return None
    return (
        "The tests need an nginx and none could be installed."
        " Install one (Debian: apt-get install nginx; macOS: brew install nginx)."
    )


INSTALLERS = {
    "libgfortran": install_libgfortran,
    "chromium": install_chromium,
    "nginx": install_nginx,
    "ffmpeg": install_ffmpeg,
}

if __name__ == "__main__":
    messages = [INSTALLERS[name]() for name in sys.argv[1:]]
    sys.exit("\n".join(message for message in messages if message) or None)
