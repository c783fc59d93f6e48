import { describe, expect, it } from '@jest/globals';
import type { UnknownServer } from '../../../src/core/discovery.js';
import type { ProbeProblemCode, ProbeReport } from '../../../src/core/probe.js';
import {
  conclude,
  concludeAnyModel,
  isSettled,
  knownByAddress,
  NOTHING,
  propose,
  withoutVariants,
  type Tested,
} from '../../../src/gateway/look/proposal.js';
import type { Signs } from '../../../src/gateway/look/signs.js';
import { findProvider } from '../../../src/providers/index.js';

const SILENT: Signs = {
  providers: [],
  models: [],
  reranks: new Map(),
  mostDocuments: undefined,
};
const SERVER: UnknownServer = {
  baseUrl: 'http://127.0.0.1:9',
  model: undefined,
  credentials: {},
  settings: {},
};

function provider(id: string) {
  const found = findProvider(id);
  if (found === undefined) throw new Error(`no provider is called ${id}`);
  return found;
}

/** A provider as which a server ranked, or did not with this problem. */
function tried(id: string, problem?: ProbeProblemCode, model = 'm'): Tested {
  const report = {
    model,
    problem: problem === undefined ? undefined : { code: problem, message: 'with an address' },
    ranking:
      problem === undefined ? { order: 'right', scale: { observed: 'probability' } } : undefined,
  };
  return { provider: provider(id), report: report as unknown as ProbeReport };
}

const named = (...providers: string[]): Signs => ({ ...SILENT, providers });
const told = (tested: readonly Tested[], signs = SILENT) =>
  conclude(tested, signs, 1).candidates.map(({ provider: id, certainty }) => [id, certainty]);

describe('what signs and trials say together', () => {
  it.each<[string, readonly Tested[], Signs, string[][]]>([
    [
      'it says so and ranks so',
      [tried('tei'), tried('cohere')],
      named('tei'),
      [
        ['tei', 'certain'],
        ['cohere', 'possible'],
      ],
    ],
    ['it ranks as hardly anything else', [tried('jina')], SILENT, [['jina', 'likely']]],
    [
      'the general form first among equals',
      [tried('jina'), tried('cohere')],
      SILENT,
      [
        ['cohere', 'likely'],
        ['jina', 'likely'],
      ],
    ],
    [
      'it ranks as many do',
      [tried('jina'), tried('cohere'), tried('vllm')],
      SILENT,
      [
        ['cohere', 'possible'],
        ['vllm', 'possible'],
        ['jina', 'possible'],
      ],
    ],
    [
      'it says so and does not rank so',
      [tried('tei', 'refused')],
      named('tei'),
      [['tei', 'possible']],
    ],
    [
      'it says so, and only general forms rank beside it',
      [tried('litellm'), tried('jina'), tried('novita'), tried('cohere')],
      named('litellm'),
      [
        ['litellm', 'certain'],
        ['cohere', 'possible'],
      ],
    ],
    ['it says what was not tried', [tried('tei', 'refused')], named('vllm'), []],
  ])('%s', (_what, tested, signs, expected) => {
    expect(told(tested, signs)).toEqual(expected);
  });

  it('name the most telling problem where nothing ranks, without the words of a reply', () => {
    const { problem } = conclude([tried('tei', 'web_page'), tried('jina', 'wrong_key')], SILENT, 2);

    expect(problem).toMatchObject({ code: 'wrong_key' });
    expect(problem?.message).not.toContain('with an address');
    expect(conclude([tried('tei', 'not_a_ranking')], SILENT, 1).problem?.code).toBe('wrong_path');
    expect(conclude([tried('tei'), tried('jina', 'wrong_key')], SILENT, 2).problem).toBeUndefined();
  });
});

describe('a server without a reranker', () => {
  const findings = conclude([tried('tei', 'refused')], SILENT, 1);

  it('ranks by vectors rather than by answers, and certainly where it says what it is', () => {
    const tested = [tried('ollama-listwise', undefined, 'chat'), tried('ollama-embeddings')];
    const { candidates, ranked, problem, requests } = concludeAnyModel(
      findings,
      tested,
      named('ollama'),
      5,
    );

    expect(candidates.map(({ provider: id, certainty, model }) => [id, certainty, model])).toEqual([
      ['ollama-embeddings', 'certain', 'm'],
      ['ollama-listwise', 'possible', 'chat'],
    ]);
    expect([ranked, problem, requests]).toEqual(['m', undefined, 5]);
  });

  it('keeps its problem where no model of it ranks', () => {
    const result = concludeAnyModel(findings, [tried('embeddings', 'refused')], SILENT, 9);

    expect(result).toEqual({ ...findings, requests: 9 });
  });
});

it('no more is tried once a general form ranks, or one that the server names', () => {
  expect(isSettled([tried('jina')], SILENT)).toBe(false);
  expect(isSettled([tried('jina')], named('jina'))).toBe(true);
  expect(isSettled([tried('cohere')], SILENT)).toBe(true);
  expect(isSettled([tried('cohere', 'refused')], SILENT)).toBe(false);
});

it('of providers that differ by their address alone, the first stands for all', () => {
  const tested = [tried('zeroentropy'), tried('zeroentropy-eu'), tried('jina')];

  expect(withoutVariants(tested).map(({ provider: { id } }) => id)).toEqual([
    'zeroentropy',
    'jina',
  ]);
});

describe('the channel that is proposed', () => {
  it('has what its provider knows of what was given, and the limit that the server named', () => {
    const signs: Signs = { ...named('tei'), models: ['a', 'b'], mostDocuments: 32 };
    const { channel } = propose(conclude([tried('tei')], signs, 1), {
      ...SERVER,
      settings: { max_documents: 7, nonsense: 1 },
    });

    expect(channel).toMatchObject({
      provider: 'tei',
      baseUrl: SERVER.baseUrl,
      models: ['a', 'b'],
      settings: { maxDocuments: 32 },
    });
    expect(channel?.settings).not.toHaveProperty('nonsense');
  });

  it('serves the model that was asked for alone, or else the one that ranked', () => {
    const findings = conclude([tried('jina')], SILENT, 1);

    expect(propose(findings, { ...SERVER, model: 'x' }).channel?.models).toEqual(['x']);
    expect(propose(findings, SERVER).channel?.models).toEqual(['m']);
    expect(propose(NOTHING, SERVER).channel).toBeUndefined();
  });

  it('is certain by an address that one provider alone has', () => {
    const by = (...ids: string[]) => knownByAddress(ids.map(provider));

    expect(by('voyage').candidates.map(({ certainty }) => certainty)).toEqual(['certain']);
    expect(by('voyage').ranked).toBe(provider('voyage').exampleModels[0]);
    expect(by('voyage', 'jina').candidates.map(({ certainty }) => certainty)).toEqual([
      'likely',
      'likely',
    ]);
  });
});
