import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { findProvider } from '../../src/providers/index.js';
import type { ComposedProvider } from '../../src/providers/provider.js';
import { defaultSettings } from '../../src/providers/settings.js';

function sent(id: string, model: string, settings: Record<string, string | boolean> = {}): string {
  const provider = findProvider(id) as ComposedProvider;
  const call = {
    model,
    query: 'q',
    documents: textDocuments(['a', 'b']),
    topN: 2,
    options: {},
    settings: { ...defaultSettings(provider), ...settings },
  };
  const prompts = () => '[system]\nRank.\n[user]\n{query} {passages}';
  const round = provider.rounds(call, { vectors: undefined, prompts }).next();
  if (round.done === true) throw new Error('nothing is asked');
  return JSON.stringify(round.value[0]?.makeBody());
}

describe('a temperature', () => {
  it.each([
    ['anthropic-listwise', 'claude-haiku-4-5', true],
    ['anthropic-listwise', 'claude-sonnet-4-20250514', true],
    ['anthropic-listwise', 'claude-sonnet-4-6', true],
    ['anthropic-listwise', 'claude-3-5-haiku-latest', true],
    ['anthropic-listwise', 'claude-opus-4-7', false],
    ['anthropic-listwise', 'claude-opus-5', false],
    ['anthropic-listwise', 'claude-sonnet-5-5', false],
    ['bedrock-listwise', 'eu.anthropic.claude-opus-4-8-v1:0', false],
    ['bedrock-listwise', 'anthropic.claude-haiku-4-5-20251001-v1:0', true],
    ['openai-listwise', 'gpt-4.1-mini', true],
    ['openai-listwise', 'gpt-5-mini', false],
    ['openai-listwise', 'o4-mini', false],
  ])('is sent by %s to %s: %s', (id, model, expected) => {
    expect(sent(id, model).includes('"temperature":0')).toBe(expected);
  });

  it('is kept from any model by a setting, and by a version of the API that refuses it', () => {
    expect(
      sent('anthropic-listwise', 'claude-haiku-4-5', { sendTemperature: false }),
    ).not.toContain('temperature');
    expect(
      sent('anthropic-listwise', 'claude-haiku-4-5', { anthropicVersion: '2026-10-21' }),
    ).not.toContain('temperature');
  });
});
