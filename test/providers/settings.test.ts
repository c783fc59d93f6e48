import { describe, expect, it } from '@jest/globals';
import { allProviders } from '../../src/providers/index.js';
import { Secret } from '../../src/core/secret.js';
import { publicAddress, secretTexts } from '../../src/providers/settings.js';

describe('publicAddress', () => {
  it('fills settings into the address', () => {
    const address = publicAddress(
      { baseUrl: 'https://rerank.{region}.example.com' },
      { region: 'eu-west-1' },
    );

    expect(address).toBe('https://rerank.eu-west-1.example.com');
  });

  it.each([[{}], [{ region: '' }]])('has no address while a setting is missing: %j', (settings) => {
    expect(publicAddress({ baseUrl: 'https://{region}.example.com' }, settings)).toBeUndefined();
  });

  it('does not let a setting change the host', () => {
    const address = publicAddress(
      { baseUrl: 'https://rerank.{region}.example.com' },
      { region: 'x.evil.test/' },
    );

    expect(address).toBe('https://rerank.x.evil.test%2F.example.com');
  });

  it('has none if the provider has none', () => {
    expect(publicAddress({ baseUrl: undefined }, {})).toBeUndefined();
  });
});

it('what must not be seen of a channel is replaced from the longest on, so that nothing of it is left', () => {
  const [provider] = allProviders();
  if (provider === undefined) throw new Error('there is one');
  const credentials = {
    apiKey: new Secret('key-of'),
    other: new Secret('key-of-somebody "quoted"'),
  };

  expect(secretTexts(provider, { credentials, settings: {} })).toEqual([
    'key-of-somebody \\"quoted\\"',
    'key-of-somebody "quoted"',
    'key-of',
  ]);
});

it('names of settings and credentials are in camel case in every provider', () => {
  const names = allProviders().flatMap(({ id, settings = {}, credentials = {} }) =>
    [...Object.keys(settings), ...Object.keys(credentials)].map((name) => `${id} ${name}`),
  );

  expect(names.filter((name) => !/ [a-z][a-zA-Z]*$/.test(name))).toEqual([]);
});
