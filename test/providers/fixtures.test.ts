import { describe, expect, it } from '@jest/globals';
import type { JsonBody } from '../../src/bytes/index.js';
import { encodeJson } from '../support/documents.js';
import { InvalidRankingError, normalizeRanking } from '../../src/core/rerank.js';
import { allProviders } from '../../src/providers/index.js';
import type { ComposedProvider, HttpProvider } from '../../src/providers/provider.js';
import { readReply, type RawReply, type ReplyReading } from '../../src/providers/reply.js';
import { readRounds } from '../../src/providers/rounds.js';
import { loadPrompts } from '../../src/assembly/prompts.js';
import { defaultSettings, publicAddress } from '../../src/providers/settings.js';
import {
  fixtureCall,
  fixtureEndpoint,
  fixtureIds,
  readFixture,
  type ProviderCase,
} from '../support/provider-fixtures.js';
import { signedBody } from '../support/signed-body.js';

const shippedPrompts = loadPrompts(undefined);
const T0 = Date.parse('2026-11-01T12:00:00Z');
const httpProviders = allProviders().filter((provider) => provider.transport === 'http');

describe('provider fixtures', () => {
  it('exist for every provider behind HTTP and for nothing else', () => {
    expect(fixtureIds().sort()).toEqual(httpProviders.map(({ id }) => id).sort());
  });

  describe.each(httpProviders.map((provider) => [provider.id, provider] as const))(
    '%s',
    (id, provider) => {
      const fixture = readFixture(id);

      it('has a request with its exact body, a success and an error', () => {
        const isExact = ({ sent, calls }: ProviderCase): boolean =>
          sent !== undefined || (calls ?? []).some((call) => call.sent !== undefined);
        expect(fixture.cases.some(isExact)).toBe(true);
        expect(fixture.cases.some(({ result }) => result !== undefined)).toBe(true);
        expect(fixture.cases.some(({ failure }) => failure !== undefined)).toBe(true);
      });

      it.each(fixture.cases.map((example) => [example.name, example] as const))(
        '%s',
        async (_name, example) => {
          const seen = await play(provider, example, fixture.channel);

          if (example.sent !== undefined) expect(seen.sent).toEqual(example.sent);
          if (example.result !== undefined) expect(seen.result).toEqual(example.result);
          if (example.calls !== undefined) expect(seen.calls).toEqual(example.calls);
          if (example.failure !== undefined) expect(seen.failure).toEqual(example.failure);
        },
      );
    },
  );
});

/** Runs one case; of what was seen, only the parts that the case states are returned, so that they compare whole. */
async function play(
  provider: HttpProvider | ComposedProvider,
  example: ProviderCase,
  channel: ProviderCase['channel'],
): Promise<Pick<ProviderCase, 'sent' | 'calls' | 'result' | 'failure'>> {
  const own = { ...channel, ...example.channel };
  const defaults = defaultSettings(provider);
  const address = publicAddress(provider, { ...defaults, ...own.settings });
  const endpoint = fixtureEndpoint(own, address, defaults);
  const call = fixtureCall(
    example.request,
    endpoint.settings,
    provider.exampleModels[0] ?? 'a-model',
  );
  const sent = example.sent === undefined ? undefined : outgoing(provider, endpoint, call, example);
  const calls: NonNullable<ProviderCase['calls']>[number][] = [];
  let reading: ReplyReading;
  if (provider.rounds !== undefined) {
    const tools = { vectors: undefined, prompts: shippedPrompts };
    const send = (body: JsonBody): Promise<RawReply> => {
      const shown = example.calls?.[calls.length];
      calls.push({
        ...shown,
        ...(shown?.sent === undefined
          ? {}
          : { sent: JSON.parse(encodeJson(body).toString('utf8')) as unknown }),
      });
      return Promise.resolve(rawReply(shown?.reply ?? example.reply ?? {}));
    };
    reading = await readRounds(provider, call, tools, send, {
      now: () => T0,
      pause: () => Promise.resolve(),
    });
  } else {
    if (example.reply === undefined) return { ...(sent === undefined ? {} : { sent }) };
    reading = readReply(provider, call, rawReply(example.reply), T0);
  }
  if (reading.kind === 'failure') {
    const { kind, message, retryAfterMs } = reading.failure;
    return {
      ...(sent === undefined ? {} : { sent }),
      calls,
      failure: {
        kind,
        ...(example.failure?.message === undefined ? {} : { message }),
        ...(example.failure?.retryAfterMs === undefined || retryAfterMs === undefined
          ? {}
          : { retryAfterMs }),
      },
    };
  }
  try {
    const rows = normalizeRanking(reading.ranking, call.documents.count, call.topN, 'none');
    return {
      ...(sent === undefined ? {} : { sent }),
      calls,
      result: {
        rows,
        ...(example.result?.usage === undefined
          ? {}
          : { usage: JSON.parse(JSON.stringify(reading.ranking.usage ?? {})) as object }),
      },
    };
  } catch (error) {
    if (!(error instanceof InvalidRankingError)) throw error;
    return {
      calls,
      failure: {
        kind: 'invalid',
        ...(example.failure?.message === undefined ? {} : { message: error.message }),
      },
    };
  }
}

function rawReply({
  status = 200,
  headers = {},
  json,
  text,
}: NonNullable<ProviderCase['reply']>): RawReply {
  return { status, headers, text: text ?? JSON.stringify(json ?? null) };
}

/** What goes out first, where a ranking takes several calls. */
function firstBody(
  provider: HttpProvider | ComposedProvider,
  call: ReturnType<typeof fixtureCall>,
): JsonBody {
  if (provider.rounds === undefined) return provider.body(call);
  const round = provider.rounds(call, { vectors: undefined, prompts: shippedPrompts }).next();
  return round.done === true ? undefined : round.value[0]?.makeBody();
}

function outgoing(
  provider: HttpProvider | ComposedProvider,
  endpoint: ReturnType<typeof fixtureEndpoint>,
  call: ReturnType<typeof fixtureCall>,
  example: ProviderCase,
): ProviderCase['sent'] {
  const path = typeof provider.path === 'string' ? provider.path : provider.path(call);
  const body = encodeJson(firstBody(provider, call));
  const headers = provider.headers(endpoint);
  const url = new URL(endpoint.baseUrl.replace(/\/+$/, '') + path);
  const sign = endpoint.credentials.apiKey === undefined ? provider.sign : undefined;
  const named = { 'content-type': 'application/json', ...headers };
  const signature = sign?.(
    { method: 'POST', url, headers: named, ...signedBody(body) },
    endpoint,
    Date.parse(example.request?.now ?? '2026-11-01T12:00:00Z'),
  );
  return {
    method: 'POST',
    path,
    ...(example.sent?.headers === undefined ? {} : { headers: { ...headers, ...signature } }),
    body: JSON.parse(body.toString('utf8')) as unknown,
  };
}
