import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { PASSWORD_COST } from '../../src/management/password-cost.js';
import {
  hashPassword,
  NO_PASSWORD,
  needsRehash,
  newPassword,
  verifyPassword,
} from '../../src/management/passwords.js';
import { knownUser, OURSELVES } from '../../src/management/scrypt-thread.js';

/** "correct horse", hashed when a hash cost a sixteenth of what it costs now. */
const OLD_HASH =
  '$scrypt$ln=11,r=8,p=1$c2FsdCBvZiB0aGUgdGVzdA$QVWLonpHhtJvU8f84QOtaAVE_PioT8FGfuqUTN26Mn4';

/** Of another password, at what a hash costs outside of the tests. */
const DEAR_HASH = OLD_HASH.replace('ln=11,r=8,p=1', 'ln=15,r=8,p=3');

describe('passwords', () => {
  it('are recognised by their hash, and others are not', async () => {
    const hash = await hashPassword('correct horse', randomBytes, OURSELVES);

    expect(hash).toMatch(/^\$scrypt\$ln=\d+,r=8,p=\d+\$/);
    expect(await verifyPassword('correct horse', hash, OURSELVES)).toBe(true);
    expect(await verifyPassword('correct horses', hash, OURSELVES)).toBe(false);
    expect(needsRehash(hash)).toBe(false);
  });

  it('are salted, so that the same password never has the same hash', async () => {
    const [one, other] = await Promise.all([
      hashPassword('correct horse', randomBytes, OURSELVES),
      hashPassword('correct horse', randomBytes, OURSELVES),
    ]);

    expect(one).not.toBe(other);
  });

  it('are the same in whichever code points they were typed', async () => {
    const hash = await hashPassword('caf\u00e9', randomBytes, OURSELVES);

    expect(await verifyPassword('cafe\u0301', hash, OURSELVES)).toBe(true);
  });

  it('keep working with the parameters of their hash, which then wants renewal', async () => {
    expect(await verifyPassword('correct horse', OLD_HASH, OURSELVES)).toBe(true);
    expect(needsRehash(OLD_HASH)).toBe(true);
  });

  it.each([undefined, NO_PASSWORD, '', 'plain', '$2b$10$abcdefghijklmnopqrstuv'])(
    'never match where there is no such hash: %s',
    async (hash) => {
      expect(await verifyPassword('\0', hash, OURSELVES)).toBe(false);
    },
  );

  it('are made up to be read out and typed', () => {
    const password = newPassword(randomBytes);

    expect(password).toMatch(/^[a-km-np-z2-9]{24}$/);
    expect(newPassword(randomBytes)).not.toBe(password);
  });
});

it('cost a tenth of a second to try outside of the tests', () => {
  expect(PASSWORD_COST).toEqual({ ln: 15, r: 8, p: 3 });
});

describe('hashing', () => {
  it('leaves the threads that decompression shares to it', async () => {
    const packed = gzipSync(Buffer.alloc(100_000, 'a'));
    let hashed = 0;
    const hashes = Array.from({ length: 8 }, async () => {
      await verifyPassword('correct horse', DEAR_HASH, OURSELVES);
      hashed += 1;
    });

    const unpacked = await promisify(gunzip)(packed);

    expect(unpacked).toHaveLength(100_000);
    expect(hashed).toBeLessThan(4);
    await Promise.all(hashes);
  });

  it('is refused, with the time to come back, when too many wait already', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        verifyPassword('correct horse', OLD_HASH, { owner: `block ${index}`, isKnown: false }),
      ),
    );

    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(40 - 17);
    expect(refused[0]).toMatchObject({
      reason: { code: 'overloaded', retryAfterMs: expect.any(Number) as unknown },
    });
    expect(await verifyPassword('correct horse', OLD_HASH, OURSELVES)).toBe(true);
  });

  it('serves whoever is known before all strangers, even if those have filled their line', async () => {
    const order: string[] = [];
    const check = async (owner: string, isKnown: boolean): Promise<void> => {
      await verifyPassword('correct horse', OLD_HASH, { owner, isKnown });
      order.push(owner);
    };
    const strangers = Array.from({ length: 40 }, (_, index) => check(`block ${index}`, false));

    await check(knownUser(7).owner, knownUser(7).isKnown);

    expect(order).toEqual(['block 0', 'user 7']);
    await Promise.allSettled(strangers);
  });

  it.each([true, false])('leaves half of a line to others: known %s', async (isKnown) => {
    const check = (owner: string): Promise<boolean> =>
      verifyPassword('correct horse', OLD_HASH, { owner, isKnown });
    const greedy = Promise.allSettled(Array.from({ length: 40 }, () => check('one')));

    expect(await check('other')).toBe(true);
    expect((await greedy).filter(({ status }) => status === 'fulfilled')).toHaveLength(1 + 8);
  });
});
