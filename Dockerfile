# docker build --tag legato .
# docker run --init --publish 127.0.0.1:8000:8000 --stop-timeout 45 --read-only --tmpfs /tmp legato
#
# Behind a proxy on the host, add --env LEGATO_TRUSTED_PROXIES with the address of the bridge that
# the proxy connects from, for example 172.17.0.1.
FROM python:3.12-slim

# The Fortran runtime of OpenBLAS, without which the voice is many times slower.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgfortran5 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/cache/legato legato

WORKDIR /opt/legato
COPY pyproject.toml README.md LICENSE ./
COPY .ci/constraints.txt .ci/
COPY app app
COPY static static
COPY templates templates
RUN pip install --no-cache-dir --constraint .ci/constraints.txt --editable .

ENV LEGATO_HOST=0.0.0.0 \
    LEGATO_CACHE_FOLDER=/var/cache/legato \
    PYTHONUNBUFFERED=1
USER legato
# Converts the embedded voice once for all containers, and proves that it speaks.
RUN python -m app say "Ready." --output /tmp/ready.wav && rm /tmp/ready.wav

EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/livez', timeout=4)"]
CMD ["python", "-m", "app", "serve"]
