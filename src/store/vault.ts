import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { Secret } from '../core/secret.js';
import { CredentialsLockedError } from './store.js';

/** Named secrets of a channel. */
export type Credentials = Readonly<Record<string, Secret>>;

/** Seals channel credentials for the store and opens them again. */
export interface Vault {
  /** Text for the store, or `undefined` for no credentials. Throws `CredentialsLockedError` without a key. */
  seal(credentials: Credentials): string | undefined;
  /** What was sealed. Throws `CredentialsLockedError` when the key is missing or another one. */
  open(sealed: string | undefined): Credentials;
}

const CIPHER = 'aes-256-gcm';
const FORMAT = 'v1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Keeps a sealed text from being taken for anything else that the same key may protect one day. */
const CONTEXT = Buffer.from('rerank-gateway channel credentials v1');
/** Every node must derive the same key from the same setting, so the salt cannot be random. */
const SALT = 'rerank-gateway channel credentials';
const SCRYPT = { N: 16_384, r: 8, p: 1 };

/**
 * AES-256-GCM under a key that is derived from `key` when it is first needed. Without a key, channels that have no
 * credentials still work.
 */
export function createVault(key: Secret | undefined): Vault {
  let derived: Buffer | undefined;
  const keyFor = (what: string): Buffer => {
    if (key === undefined) {
      throw new CredentialsLockedError(
        `Channel credentials cannot be ${what}: no encryption key is configured. ` +
          'Set ENCRYPTION_KEY to a long random text, the same on every node.',
      );
    }
    derived ??= scryptSync(key.reveal(), SALT, KEY_BYTES, SCRYPT);
    return derived;
  };

  return {
    seal(credentials) {
      const entries = Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]);
      if (entries.length === 0) return undefined;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyFor('stored'), nonce).setAAD(CONTEXT);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(JSON.stringify(entries), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return FORMAT + sealed.toString('base64url');
    },

    open(sealed) {
      if (sealed === undefined) return {};
      if (!sealed.startsWith(FORMAT)) {
        throw new CredentialsLockedError(
          'Channel credentials cannot be read: a newer version of the gateway has stored them. ' +
            'Upgrade this node, or enter the credentials again.',
        );
      }
      const secret = keyFor('read');
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url');
      let text: string;
      try {
        const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(CONTEXT).setAuthTag(bytes.subarray(-TAG_BYTES));
        text =
          decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') +
          decipher.final('utf8');
      } catch (cause) {
        throw new CredentialsLockedError(
          'Channel credentials cannot be read: they were stored under another encryption key. ' +
            'Set ENCRYPTION_KEY to that key again, or enter the credentials again under this one.',
          { cause },
        );
      }
      // The tag has proven that `seal` wrote this.
      const entries = JSON.parse(text) as [string, string][];
      return Object.fromEntries(entries.map(([name, value]) => [name, new Secret(value)]));
    },
  };
}

/**
 * The credentials of one channel among many: where they cannot be read the channel is `locked` and has none, so that one
 * bad record does not take the others down.
 */
export function openCredentials(
  vault: Vault,
  sealed: string | undefined,
): { readonly credentials: Credentials; readonly locked: boolean } {
  try {
    return { credentials: vault.open(sealed), locked: false };
  } catch (error) {
    if (!(error instanceof CredentialsLockedError)) throw error;
    return { credentials: {}, locked: true };
  }
}
