# Pointsman as an image: Node, the program, and no shell. Builds with BuildKit and with the classic builder, on amd64 and arm64.
#   docker build -t pointsman --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .

# With Node and npm; its /usr/local/bin/node goes into the image.
ARG BUILD_IMAGE=node:24-bookworm-slim
# With what Node needs of that distribution: glibc, libstdc++ and authorities; nothing else is asked of it.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
LABEL pointsman.stage=build
WORKDIR /build
COPY package.json package-lock.json ./
# No package that it is built with needs its installation script.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts ./
COPY src src
RUN npm run --silent build > build.log && rm dist/*.map dist/index.d.ts

FROM ${BUILD_IMAGE} AS app
LABEL pointsman.stage=app
WORKDIR /app
COPY package.json package-lock.json ./
# Without the sandbox's PostgreSQL (optional). What the packages bring for compilers and readers stays behind.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    && rm -rf package-lock.json node_modules/.package-lock.json node_modules/zod/src \
    && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' \) -delete
COPY --from=build /build/dist dist
COPY deploy/image/pointsman.yaml /etc/pointsman/pointsman.yaml
# Compiled once here instead of at each start. Node keeps this by user and by V8's options: only who has the same reads it.
RUN mkdir compile-cache && chown 65532:65532 compile-cache
USER 65532:65532
RUN export NODE_COMPILE_CACHE=/app/compile-cache \
    && node --max-semi-space-size=2 --liftoff-only --expose-gc dist/main.js version && ! node dist/healthcheck-main.js
USER root
RUN chown -R root:root compile-cache && chmod -R a+rX,go-w /app /etc/pointsman

FROM ${RUNTIME_IMAGE}
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Pointsman" \
      org.opencontainers.image.description="The database host that follows a PostgreSQL cluster's primary: a cluster-aware routing proxy" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
COPY --from=app /usr/local/bin/node /usr/local/bin/node
COPY --from=app /etc/pointsman /etc/pointsman
COPY --from=app /app /app
ENV POINTSMAN_CONFIG=/etc/pointsman/pointsman.yaml \
    NODE_COMPILE_CACHE=/app/compile-cache
# A number, so that runAsNonRoot can be checked.
USER 65532:65532
WORKDIR /app
EXPOSE 6432 6433 8432
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/node", "/app/dist/healthcheck-main.js"]
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=2", "--liftoff-only", "--expose-gc", "/app/dist/main.js"]
CMD ["run"]
