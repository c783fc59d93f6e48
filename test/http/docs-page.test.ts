import { expect, it } from '@jest/globals';
import { docsPage } from '../../src/http/docs-page.js';
import type { ApiOperation, OpenApi } from '../../src/http/openapi-parts.js';

const OPEN: ApiOperation = {
  ...{ operationId: 'health', tags: ['about'], summary: 'Whether it runs', security: [] },
  responses: {
    200: { description: 'Yes.', content: { 'application/json': { schema: { type: 'boolean' } } } },
  },
};
const CHANGE: ApiOperation = {
  ...{ operationId: 'change', tags: ['keys'], summary: 'Change a `key`', description: 'A & <b>.' },
  security: [{ session: [] }, { accessToken: [] }],
  parameters: [
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    {
      ...{
        name: 'all',
        in: 'query',
        required: false,
        deprecated: true,
        schema: { type: 'boolean' },
      },
      description: 'For "old" clients.',
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', description: 'Not `blank`.' },
            state: { type: 'string', enum: ['on', 'off'], default: 'on' },
            end: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
            rules: {
              type: 'array',
              items: { type: 'object', properties: { most: { type: ['integer', 'null'] } } },
            },
            owner: { type: 'object', properties: { id: { type: 'integer' } } },
            some: { type: 'array' },
            any: {},
          },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'Done.',
      content: {
        'application/json': {
          schema: { type: 'object', properties: { done: { type: 'boolean' } } },
        },
      },
    },
    400: { description: 'invalid_request' },
    '5XX': { description: '500 internal_error; 503 overloaded' },
  },
};
const API: OpenApi = {
  ...{ openapi: '3.1.0', servers: [], components: {} },
  info: { title: 'A gateway', version: '1', description: 'First.\n\nSecond.' },
  paths: { '/healthz': { get: OPEN }, '/api/key/{id}': { put: CHANGE } },
};

/** What people read, a line for each row of a table. */
function readable(html: string): string[] {
  const [, body = ''] = html.split('<body>');
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return body
    .replaceAll(/<\/(tr|p|h\d|ul|pre|summary)>/g, '\n')
    .replaceAll('<pre><code>', '')
    .replaceAll(/<code>(\w+)<\/code>/g, '_$1_')
    .replaceAll('</td><td>', ' | ')
    .replaceAll('</th><td>', ' | ')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&(\w+);/g, (_, name: string) => entities[name] ?? name)
    .split('\n')
    .filter((line) => line !== '');
}

it('shows each operation with its parameters, body, example, reply and errors', () => {
  const page = docsPage(API);

  expect(page.match(/href="#[^"]+"/g)).toEqual(['href="#about"', 'href="#keys"']);
  expect(page.match(/ id="[^"]+"/g)).toEqual([
    ...[' id="about"', ' id="health"', ' id="keys"', ' id="change"'],
  ]);
  const lines = readable(page);
  expect(lines.slice(0, 3)).toEqual(['A gateway', 'First.', 'Second.']);
  expect(lines.slice(lines.indexOf('about'))).toEqual([
    'about',
    'GET /healthz',
    'Whether it runs.  No login.',
    'Example',
    'curl "$GATEWAY/healthz"',
    'Reply',
    'true',
    'Fails with: ',
    'keys',
    'PUT /api/key/{id}',
    'Change a _key_. A & <b>. With session or accessToken.',
    'Parameters',
    '_id_ | path, integer | required',
    '_all_ | query, boolean, deprecated | For "old" clients.',
    'Body',
    '_name_ | string | required; Not _blank_.',
    '_state_ | string | default "on"; one of on, off',
    '_end_ | integer or null | ',
    '_rules_ | list of object | ',
    'rules[].most | integer or null | ',
    '_owner_ | object | ',
    'owner.id | integer | ',
    '_some_ | list of anything | ',
    '_any_ | anything | ',
    'Example',
    'curl -X PUT "$GATEWAY/api/key/1" \\',
    '  -H "Authorization: Bearer $TOKEN" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"name":"name"}'`,
    'Reply',
    '_done_ | boolean | ',
    '{',
    '  "done": true',
    '}',
    'Fails with: 400 invalid_request; 500 internal_error; 503 overloaded',
  ]);
});
