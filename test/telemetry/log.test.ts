import { describe, expect, it } from '@jest/globals';
import type { AttemptEvent, RequestEvent } from '../../src/gateway/events.js';
import { createLogger, logEvents } from '../../src/telemetry/log.js';

const EVENT: RequestEvent = {
  kind: 'request',
  requestId: 'req-"1"',
  atMs: 1_700_000_000_000,
  method: 'POST',
  route: '/v1/rerank',
  status: 200,
  outcome: 'ok',
  userId: 1,
  tokenId: 2,
  tokenName: 'näme "quoted"\n',
  model: 'moon',
  knownModel: true,
  channelId: 3,
  provider: 'cohere',
  tag: undefined,
  attempts: 1,
  documents: 10,
  inputTokens: 12,
  searchUnits: 1,
  quota: 5,
  admitted: true,
  durationMs: 21,
  upstreamMs: 20,
};

const GOOD_ATTEMPT: AttemptEvent = {
  kind: 'attempt',
  requestId: 'req-1',
  channelId: 3,
  provider: 'cohere',
  tag: undefined,
  outcome: 'ok',
  status: 200,
  message: '',
  durationMs: 20,
};

function openLog(level = 'info') {
  const written: string[] = [];
  const logger = createLogger(level, { write: (text) => written.push(text) });
  return {
    logger,
    read: logEvents(logger),
    writes: () => written.length,
    lines: () => written.join('').trimEnd().split('\n'),
  };
}

describe('the line of a request', () => {
  it('is what the logger itself would write', () => {
    const { logger, read, lines } = openLog();
    const { kind, atMs, knownModel, ...members } = EVENT;

    read([EVENT]);
    logger.info(members, 'request');

    const [byHand, byLogger] = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(byHand).toEqual({ ...byLogger, time: '2023-11-14T22:13:20.021Z' });
    expect(Object.keys(byHand ?? {})).toEqual(Object.keys(byLogger ?? {}));
  });

  it('is an error from status 500 on', () => {
    const { read, lines } = openLog();

    read([{ ...EVENT, status: 502, outcome: 'upstream_error' }]);

    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 'error', status: 502 });
  });

  it('is left out where the level says so', () => {
    const { read, lines } = openLog('error');

    read([EVENT, { ...EVENT, requestId: 'failed', status: 500, outcome: 'internal_error' }]);

    expect(lines().map((line) => (JSON.parse(line) as RequestEvent).requestId)).toEqual(['failed']);
  });

  it('leaves with the others of its batch, whatever attempts lie between', () => {
    const { read, lines, writes } = openLog();

    read([GOOD_ATTEMPT, EVENT, GOOD_ATTEMPT, EVENT, GOOD_ATTEMPT]);

    expect(lines()).toHaveLength(2);
    expect(writes()).toBe(1);
  });

  it('has a line beside it for each attempt that failed, and none for good ones', () => {
    const { read, lines } = openLog();

    read([GOOD_ATTEMPT, { ...GOOD_ATTEMPT, outcome: 'timeout', status: undefined }, EVENT]);

    expect(lines().map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'attempt failed',
      'request',
    ]);
  });

  it('stands in the order in which things happened', () => {
    const { read, lines } = openLog();

    read([EVENT, { kind: 'fault', what: 'broken', error: new Error('x') }, EVENT]);

    expect(lines().map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'request',
      'broken',
      'request',
    ]);
  });
});

describe('a line of anything', () => {
  it.each(['authorization', 'apiKey', 'key', 'password', 'token', 'credentials', 'cookie'])(
    'shows nothing of its member %s',
    (member) => {
      const { logger, lines } = openLog();

      logger.info({ [member]: 'opensesame', requestId: 'req-1' }, 'done');

      expect(lines().join('')).not.toContain('opensesame');
      expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
        [member]: '[secret]',
        requestId: 'req-1',
        msg: 'done',
      });
    },
  );
});
