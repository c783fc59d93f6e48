import { describe, expect, it } from '@jest/globals';
import { Trace, type AttemptRecord } from '../../src/gateway/trace.js';

const record = (channelId: number, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  channelId,
  provider: `provider ${channelId}`,
  tag: `tag ${channelId}`,
  outcome: 'ok',
  status: 200,
  durationMs: 10,
  ...more,
});

describe('a trace', () => {
  it('of a request that reached no channel names none', () => {
    const trace = new Trace();

    expect(trace).toMatchObject({ attempts: 0, upstreamMs: 0 });
    expect([trace.channelId, trace.provider, trace.tag]).toEqual([undefined, undefined, undefined]);
  });

  it('counts calls that were made, and the time of all', () => {
    const trace = new Trace();
    trace.made.push(record(1, { outcome: 'transient' }));
    trace.made.push(record(2, { outcome: 'withdrawn', durationMs: 1 }));
    trace.made.push(record(3));

    expect(trace.attempts).toBe(2);
    expect(trace.upstreamMs).toBe(21);
  });

  it('names who was asked last, where nobody answered', () => {
    const trace = new Trace();
    trace.made.push(record(1, { outcome: 'transient' }), record(2, { outcome: 'timeout' }));

    expect([trace.channelId, trace.provider, trace.tag]).toEqual([2, 'provider 2', 'tag 2']);
  });

  it('names who answered, whoever was asked after', () => {
    const trace = new Trace();
    trace.made.push(record(1), record(2, { outcome: 'cancelled' }));
    trace.servedBy = [record(1)];

    expect(trace.channelId).toBe(1);
  });
});
