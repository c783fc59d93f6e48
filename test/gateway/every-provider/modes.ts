import { allProviders } from '../../../src/providers/index.js';
import type { ComposedProvider, HttpProvider } from '../../../src/providers/provider.js';
import { FAULTS, type FaultName } from '../../stubs/faults.js';
import { knownStub, stubModel, type Stubs } from '../../stubs/server.js';
import { wrongCredentialsOf } from '../../stubs/stub.js';
import { LONG } from '../../support/long.js';
import { firstOfEach, readingOf, writingOf } from '../../support/provider-shapes.js';

export const providers = allProviders().filter(
  (provider): provider is HttpProvider | ComposedProvider => provider.transport === 'http',
);

/** The first provider of each shape meets everything; in a long run all of them do. */
const ownReading = firstOfEach(providers, readingOf);
const ownWriting = firstOfEach(providers, writingOf);

/** Whether its replies are read as no earlier provider's are. */
export const hasOwnReading = (id: string): boolean => LONG || ownReading.has(id);
/** Whether its requests are written as no earlier provider's are. */
export const hasOwnWriting = (id: string): boolean => LONG || ownWriting.has(id);

export const TRANSPORT_FAULTS: readonly FaultName[] = [
  'delay',
  'slow-headers',
  'dribble',
  'reset-before-headers',
  'reset-mid-body',
  'truncated-chunked',
];
/** Those that only a timeout ends. */
const SILENT: readonly string[] = ['delay', 'slow-headers', 'dribble'];

/** How a connection breaks does not depend on the dialect: one of each family has to show that it copes. */
export const FAMILIES = [
  'cohere',
  'voyage',
  'deepinfra',
  'tei',
  'bedrock',
  'google',
  'rankllm',
  'tencent-lkeap',
];

/** Faults that a reader must see through. */
const HARMLESS: readonly FaultName[] = ['shuffle', 'extra-keys', 'gzip', 'bom'];

const REPLY_FAULTS = (Object.keys(FAULTS) as FaultName[]).filter(
  (fault) => !TRANSPORT_FAULTS.includes(fault) && !HARMLESS.includes(fault),
);
/** Of a provider whose replies are read as another's are: one fault in the rows, and one in front of them. */
const SOME_FAULTS: readonly FaultName[] = ['missing-row', 'html-200'];

/** What a list of identifiers, an answer of a chat model, is mended from. */
const MENDED: readonly string[] = ['duplicate-index', 'missing-row', 'null-scores', 'nan'];

export const harmlessOf = (id: string): FaultName[] =>
  HARMLESS.filter((mode) => mode !== 'shuffle' || !knownStub(id).orderOnly);

export const faultsOf = (id: string): FaultName[] => {
  const { indexed, mends = false } = knownStub(id);
  const faults = hasOwnReading(id) ? REPLY_FAULTS : SOME_FAULTS;
  return faults.filter(
    (fault) => (indexed || fault !== 'duplicate-index') && !(mends && MENDED.includes(fault)),
  );
};

const modesOf = (id: string): string[] => {
  const stub = knownStub(id);
  return [
    ...(hasOwnReading(id) ? harmlessOf(id) : []),
    ...faultsOf(id),
    ...(FAMILIES.includes(id) ? TRANSPORT_FAULTS : []),
    ...Object.keys(stub.variants),
    ...Object.keys(stub.failures).map((name) => `error-${name}`),
  ];
};

/** One channel for each mode with a good one behind it, and one each with wrong credentials, with and without that. */
export function channelsOf(id: string, stubs: Stubs): Record<string, unknown>[] {
  const upstream = stubModel(id);
  const model = (name: string): Record<string, string> => ({ [`${id} ${name}`]: upstream });
  const good = stubs.channel(id);
  const wrong = wrongCredentialsOf(knownStub(id).channel, stubs.url(id));
  const modes = modesOf(id);
  const limited = Object.entries(knownStub(id).failures)
    .filter(([, { blames }]) => blames === 'limit')
    .map(([name]) => `error-${name}`);
  return [
    {
      ...good,
      name: `${id}, good`,
      tag: 'good',
      models: Object.assign({}, ...['plain', 'refused', ...modes].map(model)) as object,
    },
    // The last resort of requests that break a limit of the provider's own.
    ...limited.map((name) => ({
      name: `${id}, last resort of ${name}`,
      provider: 'local',
      priority: -9,
      models: { [`${id} ${name}`]: 'lexical' },
    })),
    {
      ...good,
      name: `${id}, refused`,
      tag: 'bad',
      priority: 9,
      credentials: wrong,
      models: model('refused'),
    },
    ...modes.map((mode) => ({
      ...stubs.channel(id, mode),
      name: `${id}, mode ${mode}`,
      tag: 'bad',
      priority: 9,
      ...(SILENT.includes(mode) ? { timeout_ms: 200 } : {}),
      models: model(mode),
    })),
  ];
}
