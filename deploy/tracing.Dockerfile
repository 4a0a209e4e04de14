# An image (IMAGE) with OpenTelemetry's SDK beside it, which sends traces to OTEL_EXPORTER_OTLP_ENDPOINT, in the name of
# OTEL_SERVICE_NAME: docker build -f deploy/tracing.Dockerfile --build-arg IMAGE=name -t name:tracing deploy
ARG IMAGE
ARG BUILD_IMAGE=node:24-trixie-slim

FROM ${BUILD_IMAGE} AS sdk
WORKDIR /sdk
COPY tracing/ .
RUN npm ci
RUN echo 'import { NodeSDK } from "@opentelemetry/sdk-node"; new NodeSDK().start();' > start.mjs

FROM ${IMAGE}
COPY --from=sdk /sdk /sdk
# The flags are those of the image.
ENTRYPOINT ["node", "--max-old-space-size-percentage=35", "--max-semi-space-size=2", "--no-concurrent-recompilation", "--import", "/sdk/start.mjs", "build/server/index.js"]
