import { timingSafeEqual } from 'node:crypto';
import { PASSWORD_COST } from './password-cost.js';
import { scryptApart, type Asker, type Cost } from './scrypt-thread.js';

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORMAT = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/;

interface Recorded extends Cost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Stands in for the hash of an account that does not exist, so that a login costs the same. No password matches it. */
const NOBODY: Recorded = {
  ...PASSWORD_COST,
  salt: Buffer.alloc(SALT_BYTES),
  hash: Buffer.alloc(HASH_BYTES),
};

/** In the place of a hash: no password matches it. */
export const NO_PASSWORD = '*';

/** The hash to store for a password: scrypt, with its parameters and a random salt. */
export async function hashPassword(
  password: string,
  randomBytes: (count: number) => Uint8Array,
  asker: Asker,
): Promise<string> {
  const salt = Buffer.from(randomBytes(SALT_BYTES));
  const hash = await derive(password, salt, HASH_BYTES, PASSWORD_COST, asker);
  const { ln, r, p } = PASSWORD_COST;
  const parts = [salt, hash].map((bytes) => bytes.toString('base64url'));
  return `$scrypt$ln=${ln},r=${r},p=${p}$${parts.join('$')}`;
}

/** Whether a password matches a hash. `undefined`, for an account that does not exist, takes as long and never matches. */
export async function verifyPassword(
  password: string,
  recorded: string | undefined,
  asker: Asker,
): Promise<boolean> {
  const known = recorded === undefined ? undefined : parse(recorded);
  const expected = known ?? NOBODY;
  const given = await derive(password, expected.salt, expected.hash.length, expected, asker);
  return timingSafeEqual(given, expected.hash) && known !== undefined;
}

/** Whether a hash was made with other parameters than a new one would be. */
export function needsRehash(recorded: string): boolean {
  const known = parse(recorded);
  if (known === undefined) return true;
  return (
    known.ln !== PASSWORD_COST.ln ||
    known.r !== PASSWORD_COST.r ||
    known.p !== PASSWORD_COST.p ||
    known.hash.length !== HASH_BYTES
  );
}

/** Letters and digits that cannot be confused with each other; 32 of them, so that each byte yields one without bias. */
const LEGIBLE = 'abcdefghijkmnpqrstuvwxyz23456789';
const GENERATED_CHARACTERS = 24;

/** A password of 120 bits that can be read out and typed. */
export function newPassword(randomBytes: (count: number) => Uint8Array): string {
  return Array.from(randomBytes(GENERATED_CHARACTERS), (byte) => LEGIBLE[byte % 32]).join('');
}

function parse(recorded: string): Recorded | undefined {
  const match = FORMAT.exec(recorded);
  if (match === null) return undefined;
  const [, ln, r, p, salt = '', hash = ''] = match;
  return {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

function derive(
  password: string,
  salt: Buffer,
  bytes: number,
  { ln, r, p }: Cost,
  asker: Asker,
): Promise<Buffer> {
  // The same password may be typed as different code points on different machines.
  return scryptApart({ password: password.normalize('NFKC'), salt, bytes, ln, r, p }, asker);
}
