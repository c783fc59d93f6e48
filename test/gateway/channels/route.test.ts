import { describe, expect, it } from '@jest/globals';
import { joinPaths } from '../../../src/gateway/channels/route.js';
import { MODEL, offer } from '../../support/offers.js';

describe('joinPaths', () => {
  it.each([
    ['', '/v1/rerank', '/v1/rerank'],
    ['/v1', '/v1/rerank', '/v1/rerank'],
    ['/v1/rerank', '/v1/rerank', '/v1/rerank'],
    ['/proxy', '/v1/rerank', '/proxy/v1/rerank'],
    ['/proxy/v1', '/v1/rerank', '/proxy/v1/rerank'],
    ['/api/v1', '/v1/models/rerank', '/api/v1/models/rerank'],
    ['/v1', '/v2/rerank', '/v1/v2/rerank'],
    ['/ml', '/ml/v1/text/rerank?version=2026-01-01', '/ml/v1/text/rerank?version=2026-01-01'],
    ['/x1', '/1/rerank', '/x1/1/rerank'],
  ])('below %j, %s is %s', (basePath, path, expected) => {
    expect(joinPaths(basePath, path)).toBe(expected);
  });
});

describe('the path of a request', () => {
  it.each([
    ['', '/rerank'],
    ['/', '/rerank'],
    ['//', '/rerank'],
    ['/api/', '/api/rerank'],
    ['/api//', '/api/rerank'],
  ])('begins with that of the base URL %j, without its last slashes', (path, expected) => {
    const { route } = offer(1, { baseUrl: `http://127.0.0.1:9001${path}` });

    expect(route.pathOf({ model: MODEL, settings: {} })).toBe(expected);
  });
});
