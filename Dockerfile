FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
# onnxruntime and libsndfile need no compiler; webrtcvad-wheels and the rest are wheels.
RUN useradd --create-home --uid 10001 frontdesk && install -d -o frontdesk /app /data
WORKDIR /app
COPY --chown=frontdesk . /app
USER frontdesk
# The index and the documents' sentences, rendered, are made here: the root is read-only later.
RUN python -m venv /app/.venv \
 && /app/.venv/bin/pip install --no-cache-dir -c constraints.txt -e '.[voice,whisper,sip,postgres]' \
 && /app/.venv/bin/frontdesk models \
 && /app/.venv/bin/frontdesk kb build
ENV PATH=/app/.venv/bin:$PATH FRONTDESK_SERVER__HOST=0.0.0.0 FRONTDESK_RECORDS__FOLDER=/data/calls
VOLUME /data
EXPOSE 8080 8090
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=2)"]
CMD ["frontdesk", "serve"]
