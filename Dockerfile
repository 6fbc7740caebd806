# Kibitz on the CPU: `docker build --tag kibitz .`, then `docker run --rm --interactive --tty kibitz play leduc`.
#
# The table in the browser: others may reach a container, so the server asks for a token, and prints it:
#   docker run --rm --publish 127.0.0.1:8600:8600 kibitz serve --host 0.0.0.0 --token new --no-open
# What is made lies in /home/kibitz: mount a volume there to keep runs, tables and compiled kernels.
FROM python:3.11-slim

# An index of CPU-only builds of torch makes the image smaller by gigabytes:
#   docker build --build-arg PIP_EXTRA_INDEX_URL=... .
ARG PIP_EXTRA_INDEX_URL=

RUN useradd --create-home --uid 1000 kibitz

COPY . /tmp/kibitz
RUN python -m pip install --no-cache-dir --constraint /tmp/kibitz/constraints.txt "/tmp/kibitz[cluster,envs,web]" \
    && rm -rf /tmp/kibitz && python -m kibitz.app.make_index

USER kibitz
WORKDIR /home/kibitz
VOLUME /home/kibitz
EXPOSE 8600

ENTRYPOINT ["kibitz"]
CMD ["--help"]
