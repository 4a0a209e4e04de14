# Arguments, so that you can pin them by digest or use a mirror's.
ARG BUILD_IMAGE=node:24-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# The last release's image: open tabs and caches may still request its assets. The default has none.
ARG PREVIOUS_IMAGE=${BUILD_IMAGE}

FROM ${PREVIOUS_IMAGE} AS previous

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
# Docker reuses this layer until the lockfile changes. Without the engine's manifest, npm would skip its dependencies,
# and without bin/, it would link no commands.
COPY package.json package-lock.json ./
COPY packages/server/package.json packages/server/
COPY packages/server/bin packages/server/bin
RUN npm ci
COPY . .
# The commit that is built; /metrics and the image's label name it.
ARG REVISION=unknown
RUN --mount=type=bind,from=previous,target=/previous \
    PREVIOUS_BUILD=/previous/app/build npm run build && rm -r build/source-maps
# npm sbom --omit=dev would also leave out the packages that both kinds of dependencies need.
RUN npm pkg delete devDependencies --workspaces --include-workspace-root && npm prune && \
    npm sbom --sbom-format=cyclonedx > build/sbom.cdx.json

FROM ${RUNTIME_IMAGE}
ARG RUNTIME_IMAGE
ARG REVISION=unknown
# When the commit was made (RFC 3339): the build's own time would differ with each build.
ARG CREATED=1970-01-01T00:00:00Z
# The repository's address.
ARG SOURCE=unknown
LABEL org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.documentation="${SOURCE}#readme" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="${RUNTIME_IMAGE}"
# Distroless has node in /nodejs/bin, and other images in one of the usual folders.
# Several glibc arenas fragment the memory (https://sourceware.org/bugzilla/show_bug.cgi?id=11261).
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 PATH=/nodejs/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /app
COPY --from=build /app/build build
COPY LICENSE .
# A number, so that Kubernetes can check runAsNonRoot.
USER 65532
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
# http.get takes less memory than fetch, and this process counts against the container's limit. If OPS_PORT is 0, the
# check requests / at PORT.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "const { HOST, PORT, OPS_HOST, OPS_PORT } = process.env; const [host, port, path] = OPS_PORT === '0' ? [HOST, PORT || 3000, '/'] : [OPS_HOST || HOST, OPS_PORT || 3001, '/readyz']; http.get({ host: host || '127.0.0.1', port, path }, ({ statusCode }) => process.exit(statusCode < 500 ? 0 : 1))"]
# The heap gets 40 % of the memory limit; buffers and connections need the rest. A large young generation and compiler
# threads don't fit into 128 MiB. The options are arguments, so that setting NODE_OPTIONS doesn't replace them.
ENTRYPOINT ["node", "--max-old-space-size-percentage=40", "--max-semi-space-size=2", "--no-concurrent-recompilation", "build/server/index.js"]
