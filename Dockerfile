# syntax=docker/dockerfile:1
# The current LTS line of Node. Nothing here is native: SQLite comes with this Node, so the optional driver stays out.
ARG NODE_IMAGE=node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43
FROM ${NODE_IMAGE} AS base
WORKDIR /app

# The builds share npm's cache, which stays out of the image.
FROM base AS install
ENV npm_config_cache=/var/cache/npm

FROM install AS build
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/var/cache/npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN node src/setup.mjs --build

FROM install AS packages
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/var/cache/npm \
    npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM base
ENV NODE_ENV=production \
    PORT=8080 \
    DATA_DIR=/app/data
RUN mkdir data && chown node:node data
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY config ./config
USER node
VOLUME /app/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD wget -q -O /dev/null "http://127.0.0.1:${PORT:-8080}/healthz" || exit 1
CMD ["node", "--single-threaded-gc", "--initial-old-space-size=128", "--max-semi-space-size=16", "dist/main.js"]
