import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { askExample, ingressFixture, ownPath } from '../support/ingress-fixtures.js';
import { runs } from '../support/long.js';
import { brokenBytes, mutatedJson } from '../support/mutated.js';
import { fc } from '../support/property.js';

const BODIES = runs(40, 5_000);
const AT_ONCE = 8;
const TIMEOUT_MS = 60_000 + BODIES * 100;
const ajv = new Ajv2020({ strict: false });

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway({
    gateway: { default_model: 'local' },
    channels: [{ name: 'local', provider: 'local', models: ['local'] }],
  });
  ({ key } = await gateway.createKey());
});
afterAll(() => gateway.close());

describe.each(DIALECTS.map(({ id }) => id))('%s', (id) => {
  const { example, schemas } = ingressFixture(id);
  const isReply = ajv.compile(schemas.reply);
  const isError = ajv.compile(schemas.error);
  const sample = askExample(id, example, {
    model: 'local',
    query: 'most moons',
    documents: ['no moons', 'many moons', 'no'],
  });
  // On a path that others share a body may become one of theirs.
  const isShared = ['/v1/rerank', '/rerank'].includes(sample.path);
  const path = isShared ? `/${id}${ownPath(id)}` : sample.path;
  const bodies = fc.oneof(
    { weight: 6, arbitrary: mutatedJson(sample.body).map((text) => Buffer.from(text)) },
    { weight: 2, arbitrary: brokenBytes(sample.body, 255) },
    { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  );

  /** What is wrong with the answer to a body; `undefined` where it is a ranking or a refusal in the form's own words. */
  async function wrongWith(body: Buffer): Promise<string | undefined> {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        ...sample.headers,
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      },
      body: new Uint8Array(body),
    });
    const text = await reply.text();
    kinds.add(reply.ok ? 'served' : 'refused');
    const answered: unknown = JSON.parse(text);
    const isRight = reply.ok
      ? isReply(answered)
      : reply.status >= 400 && reply.status < 500 && isError(answered);
    return isRight ? undefined : `${body.toString()} -> ${reply.status} ${text}`;
  }
  const kinds = new Set<string>();

  it(
    'answers whatever is sent with 2xx or 4xx, in its own form',
    async () => {
      const wrong: string[] = [];
      const queue = fc.sample(bodies, BODIES);
      const work = async (): Promise<void> => {
        for (let body = queue.pop(); body !== undefined; body = queue.pop()) {
          const found = await wrongWith(body);
          if (found !== undefined) wrong.push(found);
        }
      };

      await Promise.all(Array.from({ length: AT_ONCE }, work));

      expect(wrong.slice(0, 20)).toEqual([]);
      expect([...kinds].sort()).toEqual(['refused', 'served']);
    },
    TIMEOUT_MS,
  );
});
