import { createCipheriv, createDecipheriv, createHmac, randomBytes, scryptSync } from 'node:crypto';
import { Secret } from '../core/secret.js';
import { CredentialsLockedError } from './store.js';

/** Named secrets of a channel. */
export type Credentials = Readonly<Record<string, Secret>>;

/** Seals channel credentials for the store and opens them again. */
export interface Vault {
  /** Fingerprints of its keys; the sealing key's comes first. */
  marks(): readonly string[];
  /** Text for the store, or `undefined` for no credentials. Throws `CredentialsLockedError` without a key. */
  seal(credentials: Credentials): string | undefined;
  /** Returns the sealed text. Throws `CredentialsLockedError` if the key is missing or a different one. */
  open(sealed: string | undefined): Credentials;
}

const CIPHER = 'aes-256-gcm';
const FORMAT = 'v1.';
const NAMED_FORMAT = 'v2.';
const NAMED = /^v2\.([\w-]+)\.(.*)$/s;
/** What a key's fingerprint is made from; the fingerprint reveals nothing about the key. */
const MARK = 'rerank-gateway fingerprint of an encryption key';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Prevents a sealed text from being mistaken for anything else that the same key may protect one day. */
const CONTEXT = Buffer.from('rerank-gateway channel credentials v1');
/** Every node must derive the same key from the same setting, so the salt cannot be random. */
const SALT = 'rerank-gateway channel credentials';
const SCRYPT = { N: 16_384, r: 8, p: 1 };

/** A key and its name, which marks everything that it seals. */
export interface VaultKey {
  /** Letters, digits, `-` and `_`; `undefined` for the only key of installations that never had another. */
  readonly id: string | undefined;
  readonly secret: Secret;
}

interface Derived {
  readonly id: string | undefined;
  readonly bytes: () => Buffer;
}

/**
 * AES-256-GCM with keys that are derived when first needed. The first key seals; all of them open. Without a key, channels
 * without credentials still work.
 */
export function createVault(given: Secret | readonly VaultKey[] | undefined): Vault {
  const named = given instanceof Secret ? [{ id: undefined, secret: given }] : (given ?? []);
  const keys = named.map(derivedOnce);

  return {
    marks: () => keys.map(({ bytes }) => createHmac('sha256', bytes()).update(MARK).digest('hex')),

    seal(credentials) {
      const entries = Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]);
      if (entries.length === 0) return undefined;
      const [key] = keys;
      if (key === undefined) throw noKey('stored');
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key.bytes(), nonce).setAAD(CONTEXT);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(JSON.stringify(entries), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]).toString('base64url');
      return key.id === undefined ? FORMAT + sealed : `${NAMED_FORMAT}${key.id}.${sealed}`;
    },

    open(sealed) {
      if (sealed === undefined) return {};
      const [, id, named] = NAMED.exec(sealed) ?? [];
      const text = named ?? (sealed.startsWith(FORMAT) ? sealed.slice(FORMAT.length) : undefined);
      if (text === undefined) {
        throw new CredentialsLockedError(
          'Channel credentials cannot be read: they were stored by a newer version of the gateway. ' +
            'Upgrade this node, or enter the credentials again.',
        );
      }
      if (keys.length === 0) throw noKey('read');
      // A key may have been named or renamed since.
      const likely = keys.filter((key) => key.id === id);
      const others = keys.filter((key) => key.id !== id);
      const plain = [...likely, ...others].map((key) => decrypt(text, key.bytes())).find(isText);
      if (plain === undefined) {
        throw new CredentialsLockedError(
          'Channel credentials cannot be read: they were stored under another encryption key. ' +
            'Set ENCRYPTION_KEY to that key again, or enter the credentials again under this one.',
        );
      }
      // The tag proves that `seal` wrote this.
      const entries = JSON.parse(plain) as [string, string][];
      return Object.fromEntries(entries.map(([name, value]) => [name, new Secret(value)]));
    },
  };
}

function derivedOnce({ id, secret }: VaultKey): Derived {
  let derived: Buffer | undefined;
  return {
    id,
    bytes: () => (derived ??= scryptSync(secret.reveal(), SALT, KEY_BYTES, SCRYPT)),
  };
}

/** The plain text, or `undefined` if it was encrypted with another key. */
function decrypt(text: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  // Shorter than a nonce and a tag: this was never sealed.
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), options);
  decipher.setAAD(CONTEXT).setAuthTag(bytes.subarray(-TAG_BYTES));
  const head = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
  try {
    return head + decipher.final('utf8');
  } catch {
    // Node has no error code for a tag that does not match: it is the only error that `final` can find.
    return undefined;
  }
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

function noKey(what: string): CredentialsLockedError {
  return new CredentialsLockedError(
    `Channel credentials cannot be ${what}: no encryption key is configured. ` +
      'Set ENCRYPTION_KEY to a long random text, the same on every node.',
  );
}

/**
 * The credentials of one channel among many: if they cannot be read, the channel is `locked` and has none, so that one bad
 * record does not take the others down.
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
