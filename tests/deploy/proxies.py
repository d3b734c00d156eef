"""A real nginx with the configuration that is handed out, in front of a server of the tests'."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parents[2] / "app" / "deploy"
SNIPPET: Final = FOLDER / "nginx.conf"

# What surrounds the snippet is as unkind to streams as an nginx may be, and heeds no wish of the
# server's: whatever passes at once does so through the snippet alone.
SURROUNDINGS: Final = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr notice;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on;
    gzip_types *;
    gzip_proxied any;
    gzip_min_length 0;
    proxy_ignore_headers X-Accel-Buffering;
    {snippet}
}}
"""


@contextmanager
def proxying(address: str, folder: Path) -> Iterator[str]:
    """Run nginx before the server at `address`; gives nginx's own address.

    Fails where there is no nginx: the tests' installer brings it.
    """
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert nginx is not None, "nginx is missing: make install-test, or apt-get install nginx"
    port = _find_free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(
        SURROUNDINGS.format(folder=folder, snippet=_place(address.removeprefix("http://"), port))
    )
    command = [nginx, "-p", str(folder), "-c", str(configuration), "-e", "stderr"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait_until_it_listens(process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.communicate()


def _place(upstream: str, port: int) -> str:
    """Put the snippet where the test wants it, and change nothing else."""
    snippet = SNIPPET.read_text()
    for said, meant in (
        ("server 127.0.0.1:8000;", f"server {upstream};"),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
    ):
        assert snippet.count(said) == 1
        snippet = snippet.replace(said, meant)
    return snippet


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """Read the log up to what nginx says once its sockets are open."""
    assert process.stderr is not None
    said = ""
    while "event method" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
