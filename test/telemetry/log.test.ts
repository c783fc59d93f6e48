import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { RequestEvent } from '../../src/gateway/events.js';
import { createLogger, logEvents } from '../../src/telemetry/log.js';
import { attemptEvent, requestEvent } from '../support/events.js';

const EVENT = requestEvent({ requestId: 'req-"1"', tokenName: 'näme "quoted"\n' });

const GOOD_ATTEMPT = attemptEvent();

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

  it('is left out if the level says so', () => {
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

  it('those of attempts have the time at which these ended, even if they waited in a batch', () => {
    const { read, lines } = openLog();
    const atMs = EVENT.atMs;

    read([attemptEvent({ outcome: 'timeout', atMs, durationMs: 20 }), EVENT]);
    read([{ kind: 'fault', what: 'broken', error: new Error('x') }]);

    const times = lines().map((line) => (JSON.parse(line) as { time: string }).time);
    expect(times.slice(0, 2)).toEqual(['2023-11-14T22:13:20.020Z', '2023-11-14T22:13:20.021Z']);
    expect(Math.abs(Date.parse(times[2] ?? '') - Date.now())).toBeLessThan(60_000);
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
  it('has of an error what is readable, and not more than a screen of it', () => {
    const { logger, lines } = openLog();
    const sent = 'x'.repeat(100_000);
    const members = { code: 'E', rawPacket: Buffer.from(sent), command: { args: [sent] } };
    const error = Object.assign(new Error(sent), members);

    logger.error({ err: error }, 'failed');

    const [line = ''] = lines();
    expect(line.length).toBeLessThan(20_000);
    const { err } = JSON.parse(line) as { err: Record<string, unknown> };
    expect(Object.keys(err)).toEqual(['type', 'message', 'stack', 'code']);
    expect(err).toMatchObject({ type: 'Error', code: 'E' });
  });

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

it('does not hold the end of a process whose output nobody reads', async () => {
  const text = `
    import { createLogger, logWritten } from './src/telemetry/log.ts';
    const logger = createLogger('info');
    logger.info('one');
    logger.info('waits for it');
    await logWritten(logger);
    process.exit(3);`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', text];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.destroy();
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000);

  expect(await once(child, 'exit')).toEqual([3, null]);
  clearTimeout(limit);
});
