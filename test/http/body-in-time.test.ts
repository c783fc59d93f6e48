import { afterEach, expect, it, jest } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readJsonBody } from '../../src/http/body.js';
import { Load } from '../../src/http/load.js';

const WITHIN_MS = 5_000;

afterEach(() => {
  jest.useRealTimers();
});

it('a body that came in time leaves no timer behind, and nothing ends later', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const req = new IncomingMessage(new Socket());
  req.headers = { 'content-type': 'application/json' };
  const load = new Load(1, 1_000);

  const reading = readJsonBody(req, 1_000, load, load.enter(0, 1_000), WITHIN_MS);
  expect(jest.getTimerCount()).toBe(1);
  req.push('{}');
  req.push(null);
  const bytes = await reading;

  expect(bytes.toString()).toBe('{}');
  expect(jest.getTimerCount()).toBe(0);
});
