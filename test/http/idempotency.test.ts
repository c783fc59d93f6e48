import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import { onlyOnce, type KeptReply } from '../../src/http/idempotency.js';
import { freshManagement } from '../support/management.js';

const REQUEST = { key: 'once', scope: '1 createToken', request: '{"a":1}', secret: 'at-the-login' };
const REPLY: KeptReply = { status: 200, body: '{"key":"sk-hush"}' };
const CLAIM_MS = 60_000;
const KEEP_MS = 24 * 3_600_000;

describe('work under an Idempotency-Key', () => {
  const management = freshManagement();

  /** Runs it as often as it is asked to, and says how often that was. */
  function worker(answer: () => Promise<KeptReply> = () => Promise.resolve(REPLY)) {
    let runs = 0;
    const run = (given: Partial<typeof REQUEST> = {}): Promise<KeptReply> =>
      onlyOnce(management.store, management.deps.now, { ...REQUEST, ...given }, () => {
        runs += 1;
        return answer();
      });
    return { run, runs: () => runs };
  }

  it('is done once, and answered with the same reply for a day', async () => {
    const { run, runs } = worker();

    expect(await run()).toEqual(REPLY);
    management.pass(KEEP_MS - 1);
    expect(await run()).toEqual(REPLY);
    expect(runs()).toBe(1);
    management.pass(1);
    await run();
    expect(runs()).toBe(2);
  });

  it('keeps its claim after a 5xx, whose effect nobody knows, until the claim has run out', async () => {
    const failing = worker(() => Promise.reject(new GatewayError('store_unavailable', 'Gone.')));

    await expect(failing.run()).rejects.toMatchObject({ status: 503 });
    await expect(failing.run()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('still in progress') as unknown,
    });
    management.pass(CLAIM_MS - 1);
    await expect(failing.run()).rejects.toMatchObject({ code: 'conflict' });
    expect(failing.runs()).toBe(1);
    management.pass(1);
    await expect(failing.run()).rejects.toMatchObject({ status: 503 });
    expect(failing.runs()).toBe(2);
  });

  it.each([
    ['what nobody expected', new TypeError('a fault')],
    ['a fault within the gateway', new GatewayError('internal_error', 'a fault')],
  ])('keeps its claim after %s', async (_, error) => {
    const broken = worker(() => Promise.reject(error));

    await expect(broken.run()).rejects.toThrow('a fault');
    await expect(broken.run()).rejects.toMatchObject({ code: 'conflict' });
    expect(broken.runs()).toBe(1);
  });

  it('is free again after a refusal, which has changed nothing', async () => {
    const refused = worker(() => Promise.reject(new GatewayError('conflict', 'Not now.')));

    await expect(refused.run()).rejects.toThrow('Not now.');
    await expect(refused.run()).rejects.toThrow('Not now.');
    expect(refused.runs()).toBe(2);
  });

  it('is another one in another scope, and refused for another request', async () => {
    const { run, runs } = worker();

    await run();
    await run({ scope: '1 createChannel' });
    await run({ scope: '2 createToken' });
    await run({ scope: '1 create', key: 'Tokenonce' });
    expect(runs()).toBe(4);
    await expect(run({ request: '{"a":2}' })).rejects.toMatchObject({ param: 'Idempotency-Key' });
    expect(runs()).toBe(4);
  });

  it('shows its reply to the same login alone', async () => {
    const { run, runs } = worker();
    await run();

    await expect(run({ secret: 'at-another' })).rejects.toMatchObject({ code: 'conflict' });
    expect(runs()).toBe(1);
  });

  it.each(['', '   ', 'x'.repeat(256)])('needs a key of 1 to 255 characters: "%s"', async (key) => {
    const { run, runs } = worker();

    await expect(run({ key })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(runs()).toBe(0);
  });
});
