# docker build --tag issuebot .
# docker run --read-only --env-file .env --volume issuebot:/data --publish 127.0.0.1:3000:3000 issuebot
#
# `.ci/renew-pins` renews the pins and their hashes.

FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements-build.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements-build.txt
COPY requirements.txt .
RUN python -m venv --without-pip /opt/issuebot \
    && pip --python /opt/issuebot install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
RUN pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels . \
    && pip --python /opt/issuebot install --no-deps --no-index wheels/*.whl

FROM python:3.11-slim
RUN useradd --uid 10001 --no-create-home --home-dir /data issuebot \
    && install --directory --owner issuebot --group issuebot /data
COPY --from=build /opt/issuebot /opt/issuebot
ENV PATH=/opt/issuebot/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATABASE_URL=sqlite:////data/issuebot.db
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open(f\"http://127.0.0.1:{os.environ.get('PORT') or 3000}/healthz\", timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["issuebot", "run"]
