import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { CHANNEL_AUTO_DISABLED, CHANNEL_ENABLED } from '../../src/core/channel.js';
import type {
  ChannelsEvent,
  FaultEvent,
  GatewayEvent,
  RequestEvent,
} from '../../src/gateway/events.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { attemptEvent, requestEvent } from '../support/events.js';

const REQUEST = requestEvent({ tag: 'blue', durationMs: 20, upstreamMs: 15 });
const FAILED: RequestEvent = { ...REQUEST, status: 502, outcome: 'upstream_error' };

const ATTEMPT = attemptEvent({ tag: 'blue', durationMs: 15 });

const FAULT: FaultEvent = { kind: 'fault', what: 'broken', error: undefined };

function channels(...states: readonly (readonly [string, string | undefined, boolean])[]) {
  return {
    kind: 'channels',
    version: 1,
    channels: states.map(([name, tag, live], id) => ({
      ...{ id, name, provider: 'tei', tag, live },
      status: live ? CHANNEL_ENABLED : CHANNEL_AUTO_DISABLED,
    })),
    unusable: [],
  } satisfies ChannelsEvent;
}

function openMetrics(sources: Partial<Parameters<typeof createMetrics>[0]> = {}) {
  const metrics = createMetrics({
    inFlight: () => 0,
    maxInFlight: () => 100,
    bytesInFlight: () => 0,
    maxBytesInFlight: () => 1_000,
    waiting: () => 0,
    maxWaiting: () => 10,
    pendingSettlements: () => 0,
    storeUp: () => 1,
    clockOffsetSeconds: () => 0,
    release: '1.2.3',
    store: {
      getToken: () => Promise.resolve(undefined),
      getUser: () => Promise.resolve(undefined),
    },
    now: () => 0,
    catchUp: () => undefined,
    ...sources,
  });
  return {
    read: (...events: readonly GatewayEvent[]) => {
      metrics.read(events);
    },
    /** Every sample whose name begins with `prefix`, by the rest of its name and its labels. */
    samples: async (prefix: string): Promise<Record<string, number>> => {
      const { text } = await metrics.render();
      return Object.fromEntries(
        text
          .split('\n')
          .filter((line) => line.startsWith(prefix))
          .map((line) => {
            const end = line.lastIndexOf(' ');
            return [line.slice(prefix.length, end), Number(line.slice(end + 1))];
          }),
      );
    },
  };
}

describe('the table of metrics in docs/operations.md', () => {
  it('has each of them and no other', async () => {
    const [, table = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Metrics\n');
    const shown = [...(table.split('\n## ')[0] ?? '').matchAll(/`(rerank_\w+)`/g)];
    const { samples } = openMetrics();
    const declared = Object.keys(await samples('# TYPE rerank_'));

    expect(shown.map(([, name]) => name).sort()).toEqual(
      declared.map((line) => `rerank_${line.split(' ')[0]}`).sort(),
    );
  });
});

describe('requests', () => {
  it('are counted by model, provider, tag and outcome', async () => {
    const { read, samples } = openMetrics();

    read(
      REQUEST,
      FAILED,
      REQUEST,
      { ...REQUEST, model: 'sun' },
      { ...REQUEST, provider: 'jina' },
      { ...REQUEST, tag: undefined },
      { ...REQUEST, provider: undefined, tag: undefined, outcome: 'insufficient_user_quota' },
    );

    expect(await samples('rerank_requests_total')).toEqual({
      '{model="moon",provider="cohere",tag="blue",outcome="ok"}': 2,
      '{model="moon",provider="cohere",tag="blue",outcome="upstream_error"}': 1,
      '{model="sun",provider="cohere",tag="blue",outcome="ok"}': 1,
      '{model="moon",provider="jina",tag="blue",outcome="ok"}': 1,
      '{model="moon",provider="cohere",tag="none",outcome="ok"}': 1,
      '{model="moon",provider="none",tag="none",outcome="insufficient_user_quota"}': 1,
    });
  });

  it('share one label if no channel knows their model, whatever callers name it', async () => {
    const { read, samples } = openMetrics();
    const refused = { ...FAILED, knownModel: false, outcome: 'model_not_found' } as const;

    read({ ...refused, model: 'made up' }, { ...refused, model: 'made up too' });

    const labels = '{model="unknown",provider="cohere",tag="blue",outcome="model_not_found"}';
    expect(await samples('rerank_requests_total')).toEqual({ [labels]: 2 });
    expect(await samples('rerank_request_duration_seconds_count')).toEqual({
      '{model="unknown",outcome="model_not_found"}': 2,
    });
  });

  it('add their documents and their quota to those of the model if they succeed', async () => {
    const { read, samples } = openMetrics();

    read(
      REQUEST,
      { ...REQUEST, provider: 'jina', documents: 4, quota: 2 },
      { ...REQUEST, model: 'sun', documents: 100, quota: 70 },
      { ...FAILED, model: 'sun' },
      FAILED,
    );

    expect(await samples('rerank_documents_total')).toMatchObject({
      '{model="moon"}': 14,
      '{model="sun"}': 100,
    });
    expect(await samples('rerank_quota_spent_total')).toMatchObject({
      '{model="moon"}': 7,
      '{model="sun"}': 70,
    });
  });

  it('are timed by model and outcome, in seconds', async () => {
    const { read, samples } = openMetrics();

    read(
      REQUEST,
      { ...REQUEST, durationMs: 40 },
      { ...REQUEST, model: 'sun', durationMs: 250 },
      { ...FAILED, durationMs: 2_000 },
    );

    const name = 'rerank_request_duration_seconds';
    expect(await samples(`${name}_count`)).toEqual({
      '{model="moon",outcome="ok"}': 2,
      '{model="sun",outcome="ok"}': 1,
      '{model="moon",outcome="upstream_error"}': 1,
    });
    expect(await samples(`${name}_sum`)).toEqual({
      '{model="moon",outcome="ok"}': 0.06,
      '{model="sun",outcome="ok"}': 0.25,
      '{model="moon",outcome="upstream_error"}': 2,
    });
    expect(await samples(`${name}_bucket`)).toMatchObject({
      '{le="0.01",model="moon",outcome="ok"}': 0,
      '{le="0.025",model="moon",outcome="ok"}': 1,
      '{le="0.05",model="moon",outcome="ok"}': 2,
      '{le="+Inf",model="moon",outcome="ok"}': 2,
    });
  });

  it('count once each, in however many batches they are read', async () => {
    const { read, samples } = openMetrics();

    read(REQUEST, REQUEST);
    read({ ...REQUEST, model: 'sun' });
    read();
    read(FAILED, REQUEST);

    expect(await samples('rerank_requests_total')).toEqual({
      '{model="moon",provider="cohere",tag="blue",outcome="ok"}': 3,
      '{model="moon",provider="cohere",tag="blue",outcome="upstream_error"}': 1,
      '{model="sun",provider="cohere",tag="blue",outcome="ok"}': 1,
    });
    expect(await samples('rerank_documents_total')).toEqual({
      '{model="moon"}': 30,
      '{model="sun"}': 10,
    });
    expect(await samples('rerank_quota_spent_total')).toEqual({
      '{model="moon"}': 15,
      '{model="sun"}': 5,
    });
  });
});

describe('attempts', () => {
  it('are timed by provider, tag and outcome, in seconds', async () => {
    const { read, samples } = openMetrics();

    read(ATTEMPT, { ...ATTEMPT, provider: 'jina' }, { ...ATTEMPT, tag: undefined });
    read({ ...ATTEMPT, durationMs: 60 }, { ...ATTEMPT, outcome: 'timeout', durationMs: 3_000 });

    const name = 'rerank_upstream_duration_seconds';
    expect(await samples(`${name}_count`)).toEqual({
      '{provider="cohere",tag="blue",outcome="ok"}': 2,
      '{provider="jina",tag="blue",outcome="ok"}': 1,
      '{provider="cohere",tag="none",outcome="ok"}': 1,
      '{provider="cohere",tag="blue",outcome="timeout"}': 1,
    });
    expect(await samples(`${name}_sum`)).toEqual({
      '{provider="cohere",tag="blue",outcome="ok"}': 0.075,
      '{provider="jina",tag="blue",outcome="ok"}': 0.015,
      '{provider="cohere",tag="none",outcome="ok"}': 0.015,
      '{provider="cohere",tag="blue",outcome="timeout"}': 3,
    });
  });
});

describe('channels', () => {
  it('show whether they take traffic, as of the last change', async () => {
    const { read, samples } = openMetrics();

    read(channels(['a', 'blue', true], ['b', 'blue', true], ['c', undefined, false]));
    const before = await samples('rerank_channel_live');
    read(channels(['b', 'blue', false], ['c', undefined, true]));

    expect(before).toEqual({
      '{channel="a",provider="tei",tag="blue"}': 1,
      '{channel="b",provider="tei",tag="blue"}': 1,
      '{channel="c",provider="tei",tag="none"}': 0,
    });
    expect(await samples('rerank_channel_live')).toEqual({
      '{channel="b",provider="tei",tag="blue"}': 0,
      '{channel="c",provider="tei",tag="none"}': 1,
    });
  });
});

describe('attempts', () => {
  it('are counted and timed by channel, model and outcome, until the channel is gone', async () => {
    const { read, samples } = openMetrics();
    const attempt = { ...ATTEMPT, channelId: 0, durationMs: 500 };

    read(channels(['a', 'blue', true], ['b', 'blue', true]));
    read(attempt, attempt, { ...attempt, model: 'sun' }, { ...attempt, channelId: 1 });
    read({ ...attempt, outcome: 'timeout' });
    const counted = await samples('rerank_channel_attempts_total');
    const seconds = await samples('rerank_channel_attempt_seconds_total');
    read(channels(['a', 'blue', true]));

    expect(counted).toEqual({
      '{channel="a",model="moon",outcome="ok"}': 2,
      '{channel="a",model="sun",outcome="ok"}': 1,
      '{channel="b",model="moon",outcome="ok"}': 1,
      '{channel="a",model="moon",outcome="timeout"}': 1,
    });
    expect(seconds).toMatchObject({ '{channel="a",model="moon",outcome="ok"}': 1 });
    const left = Object.keys(await samples('rerank_channel_attempts_total'));
    expect(left.filter((labels) => labels.includes('channel="b"'))).toEqual([]);
    expect(left).toHaveLength(3);
  });

  it('share one series beyond two thousand pairs of a channel and a model', async () => {
    const { read, samples } = openMetrics();

    read(channels(['a', 'blue', true]));
    for (let at = 0; at < 2_010; at += 1) {
      read({ ...ATTEMPT, channelId: 0, model: `model-${at}` });
    }
    read({ ...ATTEMPT, channelId: 0, model: 'model-0' });

    const counted = await samples('rerank_channel_attempts_total');
    expect(Object.keys(counted)).toHaveLength(2_001);
    expect(counted).toMatchObject({
      '{channel="a",model="model-0",outcome="ok"}': 2,
      '{channel="other",model="other",outcome="ok"}': 10,
    });
  });
});

describe('the circuit of a channel', () => {
  it('has its tag, and disappears with the channel', async () => {
    const { read, samples } = openMetrics();
    const event = { kind: 'breaker', channelId: 0, channel: 'a', sinceMs: 0, forMs: 0 } as const;

    read(channels(['a', 'blue', true]), { ...event, state: 'open', reason: 'timeout' });
    const open = await samples('rerank_channel_circuit');
    read({ ...event, state: 'closed', reason: '' });
    const closed = await samples('rerank_channel_circuit');
    read(channels(['b', 'blue', true]));

    expect(open).toEqual({
      '{channel="a",tag="blue",state="closed"}': 0,
      '{channel="a",tag="blue",state="open"}': 1,
      '{channel="a",tag="blue",state="half_open"}': 0,
    });
    expect(closed).toMatchObject({ '{channel="a",tag="blue",state="closed"}': 1 });
    expect(await samples('rerank_channel_circuit')).toEqual({});
  });
});

describe('what the gateway does to channels', () => {
  it('shows in the state of each, and is counted', async () => {
    const { read, samples } = openMetrics();

    read(channels(['a', undefined, true], ['b', undefined, true]));
    read(channels(['b', undefined, false]));
    read({
      kind: 'outage',
      channelId: 2,
      channel: 'b',
      state: 'disabled',
      reason: 'no_credit',
      message: '',
      sinceMs: 1,
    });

    expect(await samples('rerank_channel_state')).toEqual({
      '{channel="b",state="enabled"}': 0,
      '{channel="b",state="disabled"}': 0,
      '{channel="b",state="auto_disabled"}': 1,
    });
    expect(await samples('rerank_channel_outages_total')).toEqual({
      '{state="disabled",reason="no_credit"}': 1,
    });
  });
});

describe('a channel at a limit that all nodes share', () => {
  it('is counted each time, by its name and the limit', async () => {
    const { read, samples } = openMetrics();
    const event = { kind: 'limited', channelId: 1, channel: 'narrow', forMs: 900 } as const;

    read({ ...event, limit: 'budget' }, { ...event, limit: 'budget' });
    read({ ...event, limit: 'requests_per_minute' });

    expect(await samples('rerank_channel_limited_total')).toEqual({
      '{channel="narrow",limit="budget"}': 2,
      '{channel="narrow",limit="requests_per_minute"}': 1,
    });
  });
});

describe('what is shown when metrics are asked for', () => {
  it('counts the faults that no caller heard of', async () => {
    const { read, samples } = openMetrics();

    const before = await samples('rerank_faults_total');
    read(FAULT, REQUEST);
    read(FAULT);

    expect([before, await samples('rerank_faults_total')]).toEqual([{ '': 0 }, { '': 2 }]);
  });

  it('is what is in flight and what is not settled at that moment', async () => {
    const now = { inFlight: 3, pending: 5 };
    const { samples } = openMetrics({
      inFlight: () => now.inFlight,
      waiting: () => 0,
      pendingSettlements: () => now.pending,
    });

    expect(await samples('rerank_requests_in_flight')).toMatchObject({ '': 3 });
    expect(await samples('rerank_settlements_pending')).toEqual({ '': 5 });
    now.inFlight = 1;
    now.pending = 0;

    expect(await samples('rerank_requests_in_flight')).toMatchObject({ '': 1 });
    expect(await samples('rerank_settlements_pending')).toEqual({ '': 0 });
  });

  it('has the release, and each limit beside its value', async () => {
    const { samples } = openMetrics({ inFlight: () => 3, bytesInFlight: () => 40 });

    expect(await samples('rerank_build_info')).toEqual({
      [`{version="1.2.3",node_version="${process.version}"}`]: 1,
    });
    expect(await samples('rerank_')).toMatchObject({
      ...{ requests_in_flight: 3, requests_in_flight_limit: 100 },
      ...{ bytes_in_flight: 40, bytes_in_flight_limit: 1_000 },
      ...{ requests_waiting: 0, requests_waiting_limit: 10, store_up: 1 },
    });
  });

  it('has what was not observed until then', async () => {
    const late: GatewayEvent[] = [REQUEST, ATTEMPT, FAULT, channels(['a', 'blue', true])];
    const { read, samples } = openMetrics({
      catchUp: () => {
        read(...late.splice(0));
      },
    });

    const seen = await samples('rerank_');

    expect(seen).toMatchObject({
      'requests_total{model="moon",provider="cohere",tag="blue",outcome="ok"}': 1,
      'request_duration_seconds_count{model="moon",outcome="ok"}': 1,
      'upstream_duration_seconds_count{provider="cohere",tag="blue",outcome="ok"}': 1,
      'documents_total{model="moon"}': 10,
      'quota_spent_total{model="moon"}': 5,
      'channel_live{channel="a",provider="tei",tag="blue"}': 1,
      faults_total: 1,
    });
  });
});
