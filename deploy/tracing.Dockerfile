# The image with OpenTelemetry's SDK beside it, which sends traces to OTEL_EXPORTER_OTLP_ENDPOINT:
# docker build -f deploy/tracing.Dockerfile --build-arg IMAGE=greeting -t greeting:tracing deploy
ARG IMAGE=greeting
ARG BUILD_IMAGE=node:24-trixie-slim

FROM ${BUILD_IMAGE} AS sdk
WORKDIR /sdk
RUN npm init -y && npm install --save-exact @opentelemetry/api@1.10.0 @opentelemetry/sdk-node@0.301.0
RUN echo 'import { NodeSDK } from "@opentelemetry/sdk-node"; new NodeSDK().start();' > start.mjs

FROM ${IMAGE}
COPY --from=sdk /sdk /sdk
ENV OTEL_SERVICE_NAME=greeting
ENTRYPOINT ["node", "--import", "/sdk/start.mjs", "build/server/index.js"]
