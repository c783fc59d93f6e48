import { expect, it } from '@jest/globals';
import { startTraces } from '../../src/gateway/trace-context.js';
import { Trace, type AttemptRecord } from '../../src/gateway/trace.js';

const record = (given: Partial<AttemptRecord>): AttemptRecord => ({
  ...{ channelId: 1, provider: 'tei', tag: undefined },
  ...{ outcome: 'ok', status: 200, message: '', durationMs: 5 },
  ...given,
});

it('a request without attempts has no channel', () => {
  const { attempts, upstreamMs, channelId, provider, tag } = new Trace();

  expect([attempts, upstreamMs, channelId, provider, tag]).toEqual([0, 0, ...Array<undefined>(3)]);
});

it('a request has chosen with its first attempt, if it belongs to a trace', () => {
  const context = startTraces(1, () => 0)(undefined);
  const trace = new Trace(context);

  expect([trace.beginAttempt(5)?.trace, trace.beginAttempt(9)?.trace]).toEqual([context, context]);
  expect([context?.chosenMs, new Trace().beginAttempt(5)]).toEqual([5, undefined]);
});

it('a request that failed shows who was tried last, and counts only calls that were made', () => {
  const trace = new Trace();
  trace.made.push(record({ outcome: 'timeout', durationMs: 30 }));
  trace.made.push(record({ outcome: 'withdrawn', durationMs: 0 }));
  trace.made.push(record({ outcome: 'transient', durationMs: 12, channelId: 2, tag: 'eu' }));

  expect([trace.attempts, trace.upstreamMs]).toEqual([2, 42]);
  expect([trace.channelId, trace.tag]).toEqual([2, 'eu']);
});

it('a request that was served shows who served it, whoever else was tried', () => {
  const trace = new Trace();
  trace.made.push(record({ channelId: 1 }), record({ channelId: 2, outcome: 'withdrawn' }));
  trace.servedBy = [{ channelId: 1, provider: 'voyage', tag: 'us' }];

  expect([trace.channelId, trace.provider, trace.tag]).toEqual([1, 'voyage', 'us']);
});
