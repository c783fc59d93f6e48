import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { JsonSchema } from '../../src/http/json-schema.js';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { resolved } from '../support/openapi.js';
import { runs } from '../support/long.js';
import { fc } from '../support/property.js';

const ROLES = [1, 5, 10, 100] as const;
const CASES = runs(1, 12);
/** Statuses that the document names for what lies outside of the gateway. */
const OUTSIDE = [502, 503, 504];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    channels: [{ name: 'a', provider: 'local', models: ['moon'], tag: 't' }],
    accounts: {
      registration: true,
      attempts_per_address: 1_000_000,
      attempts_per_account: 1_000_000,
    },
  });
});
afterAll(async () => {
  await gateway.close();
});

interface Described {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: JsonSchema;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
}

const ODD = fc.constantFrom<unknown>(
  ...[null, true, -1, 0, 1.5, 1e308, '', ' ', '0', '\0', '\ud800', '__proto__', "' OR 1=1 --"],
  ...['%', '*', '(a+)+$', 'a'.repeat(3_000), [], {}, [[]], { constructor: 1 }],
);

/** Mostly what the schema wants, so that what comes after the validation is reached. */
function valueFor(schema: JsonSchema | undefined): fc.Arbitrary<unknown> {
  const right = rightFor(schema);
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: ODD });
}

function rightFor(schema: JsonSchema | undefined): fc.Arbitrary<unknown> {
  if (schema === undefined) return ODD;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueFor));
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, minLength = 0 } = schema;
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.constantFrom(minimum, Math.min(maximum, minimum + 1), maximum),
        fc.integer({ min: minimum, max: Math.min(maximum, minimum + 10) }),
      );
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.oneof(
        fc.constantFrom('a', 't', 'root', '127.0.0.1', 'a@example.com', 'moon', '(a*)*b'),
        fc.string({ minLength, maxLength: minLength + 20 }),
      );
    case 'array':
      return fc.array(valueFor(schema.items), { minLength: schema.minItems ?? 0, maxLength: 3 });
    case 'object':
      return objectFor(schema);
    case undefined:
    default:
      return ODD;
  }
}

function objectFor({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(
    ([name, schema]) => [name, valueFor(schema)] as const,
  );
  return fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
}

/** Path with query, and body, for one operation. */
function requestFor(path: string, { parameters = [], requestBody }: Described) {
  const schema = requestBody?.content['application/json']?.schema;
  const given = parameters.filter((each) => each.in === 'query' || each.in === 'path');
  const values = fc.record(
    Object.fromEntries(given.map((each) => [each.name, valueFor(each.schema)])),
    { requiredKeys: given.filter((each) => each.required === true).map(({ name }) => name) },
  );
  const asText = (value: unknown): string => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return encodeURIComponent(text.toWellFormed());
  };
  return fc
    .tuple(values, schema === undefined ? fc.constant(undefined) : valueFor(schema))
    .map(([chosen, body]) => {
      let target = path;
      const query: string[] = [];
      for (const [name, value] of Object.entries(chosen)) {
        if (target.includes(`{${name}}`)) target = target.replace(`{${name}}`, asText(value));
        else query.push(`${name}=${asText(value)}`);
      }
      return { target: query.length === 0 ? target : `${target}?${query.join('&')}`, body };
    });
}

it('every operation answers whatever comes, from every role, in its own form and in time', async () => {
  const served = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as object;
  const document = resolved(served) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ path, method, described })),
    );
  const accounts = new Map<number, Account>();
  let isDoubtful = false;
  const accountOf = async (role: (typeof ROLES)[number]): Promise<Account> => {
    // Cases log out, delete accounts and end logins: what is gone is made anew, or the rest would test the login alone.
    const known = accounts.get(role);
    if (known !== undefined) {
      if (!isDoubtful) return known;
      const { status } = await callApi(gateway.url, 'GET', '/api/user/self', known);
      if (status === 200) return known;
    }
    const made = await createAccount(gateway.store, { role, quota: 1_000_000 });
    accounts.set(role, made);
    return made;
  };
  let sent = 0;
  let reached = 0;
  const wrong: unknown[] = [];
  for (const { path, method, described } of operations) {
    const cases = fc.sample(requestFor(path, described), ROLES.length * CASES);
    for (const [index, { target, body }] of cases.entries()) {
      // What only reads ends no login.
      isDoubtful ||= method !== 'get';
      const { token } = await accountOf(ROLES[index % ROLES.length] ?? 1);
      const startedMs = performance.now();
      const reply = await fetch(`${gateway.url}${target}`, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { status } = reply;
      const text = await reply.text();
      const tookMs = performance.now() - startedMs;
      sent += 1;
      if (![401, 403, 429].includes(status)) reached += 1;
      const isAnswer = status < 500 || OUTSIDE.includes(status);
      if (!isAnswer || tookMs > 15_000) {
        wrong.push({ method, target: target.slice(0, 200), body, status, text, tookMs });
      }
    }
  }

  expect(wrong).toEqual([]);
  expect(gateway.log.filter((line) => line.includes('"err"'))).toEqual([]);
  expect(reached / sent).toBeGreaterThan(0.5);
}, 600_000);
