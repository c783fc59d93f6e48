import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fc } from '../support/property.js';
import { exampleCall, exampleOf } from '../../src/http/docs-example.js';
import type { JsonSchema } from '../../src/http/json-schema.js';
import { apiOperations, describeApi, publishedApi } from '../../src/http/openapi.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { OPERATIONS } from '../../src/operations/index.js';
import { createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { ingressFixture } from '../support/ingress-fixtures.js';
import { runs } from '../support/long.js';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

/** Drives every operation of the document with requests that are made from it, right ones and wrong ones. */

/** How many requests each operation gets. */
const RUNS = runs(4, 400);
const TIMEOUT_MS = 60_000 + RUNS * 200;

const api = await describeApi(OPERATIONS);
const ajv = new Ajv2020({ code: { optimize: false }, strict: false });

let gateway: TestGateway;
let upstream: TestUpstream;
beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    gateway: { default_model: 'local' },
    callers: { aliases: { 'my-model': 'local' } },
    channels: [
      { name: 'local', provider: 'local', models: ['local'] },
      {
        name: 'remote',
        provider: 'cohere',
        base_url: upstream.url,
        api_key: 'k',
        models: ['remote'],
      },
    ],
    accounts: { attempts_per_address: 100_000, attempts_per_account: 100_000 },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const JUNK = fc.oneof(
  fc.constantFrom<unknown>(null, '', '__proto__', -1, 1.5, 2 ** 53, true, [], {}, [[]], '\u0000'),
  fc.string(),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values of a schema, and now and then something else. */
function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: rightValueOf(schema) }, { weight: 1, arbitrary: JUNK });
}

function rightValueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf));
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.[0] ?? 'string');
  switch (type) {
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(schema.minimum ?? 0, -1_000),
        max: Math.min(schema.maximum ?? 1_000, Math.max(1_000, schema.minimum ?? 0)),
      });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: 3,
      });
    case 'object':
      return objectOf(schema);
    default:
      return fc.string({ minLength: 1, maxLength: 30 });
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<object> {
  const members = Object.entries(properties).map(([name, member]) => [name, valueOf(member)]);
  return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [...required],
  });
}

/** Of a user of its own: what was tried before may have deleted the others. */
async function newKey(): Promise<string> {
  const { user } = await createAccount(gateway.store, { quota: 1_000_000 });
  return (await gateway.createKey({ userId: user.id })).key;
}

async function credentials(security: readonly object[]): Promise<Record<string, string>> {
  const ways = security.flatMap((scheme) => Object.keys(scheme));
  if (ways.includes('apiKey')) return { authorization: `Bearer ${await newKey()}` };
  if (!ways.includes('session')) return {};
  return { cookie: (await createAccount(gateway.store, { role: 100 })).cookie };
}

describe.each(
  apiOperations(api).map((entry) => ({ ...entry, name: `${entry.method} ${entry.path}` })),
)('$name', ({ method, path, operation }) => {
  it(
    'answers as the document says, whatever is sent',
    async () => {
      const { parameters = [], requestBody, responses } = operation;
      const bodySchema = requestBody?.content['application/json']?.schema;
      const requests = fc.record({
        parameters: fc.record(
          Object.fromEntries(parameters.map(({ name, schema }) => [name, valueOf(schema)])),
        ),
        body: bodySchema === undefined ? fc.constant(undefined) : valueOf(bodySchema),
      });
      const headers = await credentials(operation.security);
      const surprises: unknown[] = [];
      for (const request of fc.sample(requests, RUNS)) {
        const url = new URL(gateway.url);
        url.pathname = path;
        for (const parameter of parameters) {
          const value = textOf(request.parameters[parameter.name]);
          if (parameter.in === 'query') url.searchParams.set(parameter.name, value);
          if (parameter.in === 'path') {
            // An empty or dotted segment is another path.
            const segment = /^\.*$/.test(value) ? '1' : value.replaceAll('/', '');
            url.pathname = path.replace(`{${parameter.name}}`, encodeURIComponent(segment || '1'));
          }
        }
        const response = await fetch(url, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        });
        const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
        const text = await response.text();
        const reply: unknown = type.endsWith('json') ? JSON.parse(text) : text;
        const { status } = response;
        const described = responses[String(status)] ?? responses[`${String(status).charAt(0)}XX`];
        const schema = described?.content?.[type]?.schema;
        const codes = described?.description.split(', ') ?? [];
        const isNamed = response.ok || codes.some((code) => text.includes(`"${code}"`));
        const right = schema !== undefined && response.status < 500 && ajv.validate(schema, reply);
        const isManaged = OPERATIONS.some(({ id }) => id === operation.operationId);
        if (!right || (isManaged && !isNamed))
          surprises.push({ request, status: response.status, reply, errors: ajv.errors });
      }

      expect(surprises).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('POST /v1/rerank', () => {
  const operation = api.paths['/v1/rerank']?.post;
  const bodySchema = operation?.requestBody?.content['application/json']?.schema ?? {};
  const valid = { model: 'local', query: 'moon', documents: ['Moon', 'Mars'] };

  it.each([
    [{}, 200],
    [{ model: 'm'.repeat(257) }, 400],
    [{ query: '' }, 400],
    [{ documents: [] }, 400],
    [{ documents: [1] }, 400],
    [{ top_n: 0 }, 400],
    [{ priority: 999 }, 200],
    [{ priority: 1000 }, 400],
  ])('with %j is judged by its schema as by the gateway', async (members, status) => {
    const key = await newKey();
    const body = { ...valid, ...members };

    expect((await gateway.post(key, body)).status).toBe(status);
    expect(ajv.validate(bodySchema, body)).toBe(status === 200);
  });

  it.each([400, 413, 422])('describes what an upstream refuses with %i', async (status) => {
    const key = await newKey();
    upstream.answer((_request, res) => sendJson(res, { message: 'not like that' }, status));

    const reply = await gateway.post(key, { ...valid, model: 'remote' });

    expect(reply.status).toBe(status);
    const schema = operation?.responses[String(status)]?.content?.['application/json']?.schema;
    expect(schema && ajv.validate(schema, reply.body)).toBe(true);
  });

  it('names the headers that it reads', () => {
    const headers = operation?.parameters?.filter((parameter) => parameter.in === 'header') ?? [];

    expect(headers.map(({ name }) => name)).toEqual([
      ...['X-Rerank-Tag', 'X-Request-Id', 'X-Rerank-Explain', 'X-Request-Timeout-Ms'],
      'Cache-Control',
    ]);
  });
});

it('is served, with a page for people that loads nothing', async () => {
  const served = await fetch(`${gateway.url}/openapi.json`);
  const page = await fetch(`${gateway.url}/docs/`);

  expect(await served.json()).toEqual(JSON.parse(JSON.stringify(await publishedApi(api))));
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 's/);
  const html = await page.text();
  for (const { path } of apiOperations(api)) expect(html).toContain(`<span>${path}</span>`);
  expect(html).not.toMatch(/<script|<link|<img|https?:\/\//);
});

it('says what is there for older clients alone', async () => {
  const page = await fetch(`${gateway.url}/docs/`);
  const old = apiOperations(api).flatMap(({ operation: { operationId, parameters = [] } }) =>
    parameters.filter(({ deprecated }) => deprecated).map(({ name }) => [operationId, name]),
  );

  expect(old).toEqual([['searchTokens', 'token']]);
  expect(await page.text()).toContain('query, string, deprecated');
});

describe.each(DIALECTS.map(({ id, examples }) => ({ id, examples })))(
  'the form $id',
  ({ id, examples }) => {
    const { schemas } = ingressFixture(id);
    const own = apiOperations(api).filter(
      ({ operation: { operationId } }) =>
        operationId.replace(/-\d+$/, '') === (id === 'cohere' ? 'rerank' : `rerankAs-${id}`),
    );

    it('is documented as it is spoken', async () => {
      const key = await newKey();
      expect(own.length).toBeGreaterThan(0);
      for (const { path, operation } of own) {
        const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
        expect(id === 'cohere' || example === examples[0]).toBe(true);
        const { responses } = operation;
        const reply = responses['200']?.content?.['application/json']?.schema ?? {};
        for (const body of examples) {
          expect([ajv.validate(schema ?? {}, body), ajv.errors]).toEqual([true, null]);
          const sent = await fetch(`${gateway.url}${path.replaceAll(/\{\w+\}/g, 'my-model')}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
          const answered: unknown = await sent.json();
          expect([path, sent.status, answered]).toEqual([path, 200, answered]);
          expect([ajv.validate(reply, answered), ajv.errors]).toEqual([true, null]);
          expect([ajv.validate(schemas.reply, answered), ajv.errors]).toEqual([true, null]);
        }
      }
    });
  },
);

it.each(['1', 'after'])('documents what explain=%s answers', async (explain) => {
  const { key } = await gateway.createKey({ policy: { mayExplain: true } });
  const { responses } = api.paths['/v1/rerank']?.post ?? {};
  const schema = responses?.['200']?.content?.['application/json']?.schema ?? {};

  const reply = await fetch(`${gateway.url}/v1/rerank?explain=${explain}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local', query: 'moon', documents: ['Moon', 'Mars'] }),
  });

  expect([reply.status, ajv.validate(schema, await reply.json())]).toEqual([200, true]);
});

it('names every operation once', () => {
  const names = apiOperations(api).map(({ operation }) => operation.operationId);

  expect(new Set(names).size).toBe(names.length);
});

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

it('has an example of each request and reply, which its schema accepts', async () => {
  const wrong: string[] = [];
  for (const { method, path, operation } of apiOperations(api)) {
    const { requestBody, responses } = operation;
    const body = requestBody?.content['application/json'];
    const reply = responses['200']?.content?.['application/json']?.schema;
    const given = [
      ['body', body?.schema, body && (body.example ?? exampleOf(body.schema, '', true))],
      ['reply', reply, reply && exampleOf(reply)],
    ] as const;
    for (const [what, schema, example] of given) {
      if (schema === undefined || ajv.validate(schema, example)) continue;
      wrong.push(`${operation.operationId} ${what}: ${ajv.errorsText()}`);
    }
    expect(exampleCall(method, path, operation)).toMatch(
      /^curl (?:-X [A-Z]+ )?"\$GATEWAY\/[^{}]*"/,
    );
  }
  expect(wrong).toEqual([]);
  const html = await (await fetch(`${gateway.url}/docs/`)).text();
  expect(html.match(/<h4>Example<\/h4><pre><code>curl /g)).toHaveLength(apiOperations(api).length);
});

it('documents that an access token in the address is refused, also of what takes nothing there', async () => {
  const self = apiOperations(api).find(({ operation }) => operation.operationId === 'getSelf');
  const reply = await fetch(`${gateway.url}/api/user/self?access_token=at-x`);

  expect(reply.status).toBe(400);
  expect(self?.operation.responses).toHaveProperty('400');
});
