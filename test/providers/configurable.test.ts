import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { credentialMistakes } from '../../src/providers/credential-forms.js';
import { openaiCompatible } from '../../src/providers/openai-compatible.js';
import type { SettingValue } from '../../src/providers/provider.js';
import { channelMistakes } from '../../src/providers/settings.js';
import { voyage, voyageMongodb } from '../../src/providers/voyage.js';

function mistakes(settings: Record<string, SettingValue>): string[] {
  return channelMistakes(openaiCompatible, { credentials: {}, settings });
}

describe('a wire form made of settings', () => {
  it('takes none, since the defaults are a form of their own', () => {
    expect(mistakes({})).toEqual([]);
  });

  it.each([['not json'], ['[1]'], ['"text"'], ['null']])(
    'refuses %s for constants, which must be an object',
    (constants) => {
      expect(mistakes({ constants })).toEqual([
        expect.stringContaining('settings.constants must be a JSON object'),
      ]);
    },
  );

  it.each([-1, 2])('refuses %d for the index of the first document', (indexBase) => {
    expect(mistakes({ indexBase })).toEqual(['settings.index_base must be 0 or 1']);
  });

  it('names every setting that is wrong at once', () => {
    const found = mistakes({
      documentsKey: '',
      queryKey: '',
      indexBase: 2,
      authorizationHeader: 'two words',
    });

    expect(found).toHaveLength(4);
  });

  it('takes a key with its scheme where the channel adds none', () => {
    const credentials = { apiKey: new Secret('Bearer abcdef') };
    const found = (settings: Record<string, SettingValue>) =>
      credentialMistakes({ credentials, settings });

    expect(found({ authorizationScheme: '' })).toEqual([]);
    expect(found({})).toEqual([expect.stringContaining('begins with "Bearer"')]);
  });

  it('refuses a key that no header can carry, and names the character alone', () => {
    const credentials = { apiKey: new Secret('sk-\u0430bcdef') };

    expect(credentialMistakes({ credentials, settings: {} })).toEqual([
      'credentials.api_key has the character U+0430, which no header can carry; copy the secret again',
    ]);
  });

  it('refuses a setting that it does not know by name', () => {
    expect(mistakes({ documentKey: 'texts' })).toEqual([
      expect.stringContaining('settings.document_key is not known'),
    ]);
  });
});

describe("a key of Voyage's other host", () => {
  it.each([
    [voyage, 'al-key', 'voyage-mongodb'],
    [voyageMongodb, 'pa-key', 'voyage'],
  ])('is told from the right one before it is sent', (provider, key, other) => {
    const found = channelMistakes(provider, {
      credentials: { apiKey: new Secret(key) },
      settings: {},
    });

    expect(found).toEqual([expect.stringContaining(`belong to the provider ${other}`)]);
    expect(found.join()).not.toContain(key);
  });
});
