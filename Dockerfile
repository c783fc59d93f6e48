# syntax=docker/dockerfile:1
# The current LTS line of Node. Nothing here is native: SQLite comes with this Node, so the optional driver stays out.
ARG NODE_IMAGE=node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43
FROM ${NODE_IMAGE} AS base
WORKDIR /app

# The builds share npm's cache, which stays out of the image.
FROM base AS install
ENV npm_config_cache=/var/cache/npm
COPY package.json package-lock.json .npmrc ./

FROM install AS build
RUN --mount=type=cache,target=/var/cache/npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
RUN node src/setup.mjs --build && find dist -name '*.map' -delete

FROM install AS packages
RUN --mount=type=cache,target=/var/cache/npm \
    npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && \
    npm sbom --package-lock-only --omit dev --omit optional --sbom-format cyclonedx > sbom.cdx.json && \
    find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.md' \) -delete

# Node alone: without npm, yarn, headers and symbols, which are a third of it.
FROM base AS slim
RUN apk add --no-cache --virtual .strip binutils && strip /usr/local/bin/node && apk del .strip && \
    rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /usr/local/bin/npm /usr/local/bin/npx \
    /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* /tmp/*

# From scratch, so that what was removed is not in a layer below.
FROM scratch
COPY --from=slim / /
WORKDIR /app
ENV NODE_ENV=production \
    PORT=8080 \
    DATA_DIR=/app/data \
    ROOT_SHOW_SECRETS=false
RUN mkdir data && chown node:node data && ln -s /app/dist/cli.js /usr/local/bin/rerank-gateway
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/sbom.cdx.json ./
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
