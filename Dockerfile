# Lodge in a container. What it needs of its host, and what a container changes: docs/guides/container.md.
# Any Debian with Node.js 20 or newer and npm will do.
ARG BASE=node:24-trixie-slim
FROM ${BASE}
ENV DEBIAN_FRONTEND=noninteractive
# Data folders belong to these users by number, so another image must have the same.
RUN for user in 970:lodge 971:lodge-control 972:lodge-relay; do \
      useradd --system --user-group --uid "${user%%:*}" --home-dir /nonexistent --no-create-home \
        --shell /usr/sbin/nologin -- "${user##*:}" || exit 1; \
    done
WORKDIR /opt/lodge
COPY . .
RUN bash scripts/setup.sh && node_modules/.bin/node scripts/build-web.ts && node_modules/.bin/node scripts/build-docs.ts \
    && apt-get clean && rm -rf /var/lib/apt/lists/* /root/.npm
ENV LODGE_HOST=0.0.0.0
EXPOSE 8080
# The database, agents' disks and the master key; then images and templates, which are made again where they are lost.
VOLUME ["/var/lib/lodge", "/var/cache/lodge"]
STOPSIGNAL SIGTERM
CMD ["bash", "scripts/start.sh"]
