import { describe, expect, test } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { CredentialsLockedError } from '../../src/store/store.js';
import { createVault, openCredentials, type Credentials } from '../../src/store/vault.js';

const KEY = new Secret('correct horse battery staple');
const CREDENTIALS: Credentials = { apiKey: new Secret('sk-upstream'), region: new Secret('ü-1') };

function revealed(credentials: Credentials): Record<string, string> {
  return Object.fromEntries(
    Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]),
  );
}

function sealedBy(vault: { seal(credentials: Credentials): string | undefined }): string {
  return vault.seal(CREDENTIALS) ?? '';
}

describe('the vault', () => {
  test('opens on another node what was sealed on this one', () => {
    const sealed = sealedBy(createVault(KEY));

    const opened = createVault(new Secret('correct horse battery staple')).open(sealed);

    expect(revealed(opened)).toEqual({ apiKey: 'sk-upstream', region: 'ü-1' });
  });

  test('seals the same credentials differently each time, and names its format', () => {
    const vault = createVault(KEY);

    const first = sealedBy(vault);
    const second = sealedBy(vault);

    expect(first).not.toBe(second);
    expect(first).toMatch(/^v1\.[\w-]+$/);
    expect(Buffer.from(first.slice(3), 'base64url').includes('sk-upstream')).toBe(false);
  });

  test.each([undefined, 'spring'])(
    'opens with any of its keys what the key sealed under the name %j',
    (id) => {
      const sealed = sealedBy(createVault([{ id, secret: KEY }]));
      const summer = { id: 'summer', secret: new Secret('another') };

      const renamed = createVault([summer, { id: 'former', secret: KEY }]);

      expect(revealed(renamed.open(sealed)).apiKey).toBe('sk-upstream');
    },
  );

  test('needs no key where there are no credentials', () => {
    const vault = createVault(undefined);

    expect(vault.seal({})).toBeUndefined();
    expect(vault.open(undefined)).toEqual({});
  });

  test('says what to set when a key is needed and there is none', () => {
    const vault = createVault(undefined);

    expect(() => vault.seal(CREDENTIALS)).toThrow(CredentialsLockedError);
    expect(() => vault.seal(CREDENTIALS)).toThrow(/Set ENCRYPTION_KEY/);
    expect(() => vault.open(sealedBy(createVault(KEY)))).toThrow(/no encryption key is configured/);
  });

  test('refuses what another key has sealed, and what was altered, cut off or written by a newer version', () => {
    const vault = createVault(KEY);
    const sealed = sealedBy(vault);
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
    const altered = `v1.${bytes.toString('base64url')}`;

    expect(() => createVault(new Secret('another')).open(sealed)).toThrow(/another encryption key/);
    expect(() => vault.open(altered)).toThrow(CredentialsLockedError);
    expect(() => vault.open(sealed.slice(0, 12))).toThrow(CredentialsLockedError);
    expect(() => vault.open('v1.')).toThrow(CredentialsLockedError);
    expect(() => vault.open('v2.AAAA')).toThrow(/newer version/);
  });

  test('keeps a member name that is special to JavaScript as data', () => {
    const vault = createVault(KEY);
    const credentials = Object.fromEntries([['__proto__', new Secret('x')]]);

    const opened = vault.open(vault.seal(credentials));

    expect(Object.keys(opened)).toEqual(['__proto__']);
  });

  test('marks credentials that cannot be read as locked', () => {
    const sealed = sealedBy(createVault(KEY));

    expect(openCredentials(createVault(undefined), sealed)).toEqual({
      credentials: {},
      locked: true,
    });
    expect(openCredentials(createVault(KEY), sealed).locked).toBe(false);
  });
});
