# The image of Pointsman: Node, the program, and no shell. Builds with BuildKit and with the classic builder.
#   docker build -t pointsman --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .

# Has Node and npm. Its /usr/local/bin/node goes into the image.
ARG BUILD_IMAGE=node:24-bookworm-slim
# Has the libraries that Node needs (glibc and libstdc++ of the same distribution) and the certificate authorities.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
LABEL pointsman.stage=build
WORKDIR /build
COPY package.json package-lock.json ./
# No package needs its install script for this build.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts rolldown.page.config.ts ./
COPY src src
RUN npm run --silent build > build.log && rm dist/*.map dist/index.d.ts

FROM ${BUILD_IMAGE} AS app
LABEL pointsman.stage=app
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are the sandbox's PostgreSQL. Type declarations and source maps stay out of the image.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    && rm -rf package-lock.json node_modules/.package-lock.json node_modules/zod/src \
    && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' \) -delete
COPY --from=build /build/dist dist
COPY deploy/image/pointsman.yaml /etc/pointsman/pointsman.yaml
# `pointsman` on the PATH, for docker exec and kubectl exec. The image has no /usr/bin/env, so the first line names Node.
RUN sed -i '1s|^#!.*|#!/usr/local/bin/node|' dist/main.js && chmod 755 dist/main.js \
    && mkdir /programs && cp /usr/local/bin/node /programs/ && ln -s /app/dist/main.js /programs/pointsman
# Compiles the program once, here, instead of at each start. Node keeps one cache for each user and each set of options
# that changes V8's code. That of ENTRYPOINT does not: so the health check and `pointsman` share it.
RUN mkdir compile-cache && chown 65532:65532 compile-cache
USER 65532:65532
RUN export NODE_COMPILE_CACHE=/app/compile-cache \
    && node --max-semi-space-size=4 dist/main.js version && ! node dist/healthcheck-main.js
USER root
RUN mkdir /state
RUN chown -R root:root compile-cache && chmod -R a+rX,go-w /app /etc/pointsman

FROM ${RUNTIME_IMAGE}
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Pointsman" \
      org.opencontainers.image.description="A cluster-aware routing proxy for PostgreSQL: one stable address for a cluster whose primary moves" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
# A directory is copied, because COPY follows a link that is named itself.
COPY --from=app /programs/ /usr/local/bin/
COPY --from=app /etc/pointsman /etc/pointsman
COPY --from=app /app /app
# For incidents.directory: mount a volume here, which then belongs to the user below.
COPY --from=app --chown=65532:65532 /state /var/lib/pointsman
ENV POINTSMAN_CONFIG=/etc/pointsman/pointsman.yaml \
    NODE_COMPILE_CACHE=/app/compile-cache
# A number, because Kubernetes cannot check runAsNonRoot for a name.
USER 65532:65532
WORKDIR /app
EXPOSE 6432 6433 8432
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/node", "/app/dist/healthcheck-main.js"]
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=4", "/app/dist/main.js"]
CMD ["run"]
