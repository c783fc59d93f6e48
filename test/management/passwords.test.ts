import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  hashPassword,
  needsRehash,
  newPassword,
  verifyPassword,
} from '../../src/management/passwords.js';

/** "correct horse", hashed when a hash cost a sixteenth of what it costs now. */
const OLD_HASH =
  '$scrypt$ln=11,r=8,p=1$c2FsdCBvZiB0aGUgdGVzdA$QVWLonpHhtJvU8f84QOtaAVE_PioT8FGfuqUTN26Mn4';

describe('passwords', () => {
  it('are recognised by their hash, and others are not', async () => {
    const hash = await hashPassword('correct horse', randomBytes);

    expect(hash).toMatch(/^\$scrypt\$ln=\d+,r=8,p=\d+\$/);
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('correct horses', hash)).toBe(false);
    expect(needsRehash(hash)).toBe(false);
  });

  it('are salted, so that the same password never has the same hash', async () => {
    const [one, other] = await Promise.all([
      hashPassword('correct horse', randomBytes),
      hashPassword('correct horse', randomBytes),
    ]);

    expect(one).not.toBe(other);
  });

  it('are the same in whichever code points they were typed', async () => {
    const hash = await hashPassword('caf\u00e9', randomBytes);

    expect(await verifyPassword('cafe\u0301', hash)).toBe(true);
  });

  it('keep working with the parameters of their hash, which then wants renewal', async () => {
    expect(await verifyPassword('correct horse', OLD_HASH)).toBe(true);
    expect(needsRehash(OLD_HASH)).toBe(true);
  });

  it.each([undefined, '', 'plain', '$2b$10$abcdefghijklmnopqrstuv'])(
    'never match where there is no such hash: %s',
    async (hash) => {
      expect(await verifyPassword('\0', hash)).toBe(false);
    },
  );

  it('are made up to be read out and typed', () => {
    const password = newPassword(randomBytes);

    expect(password).toMatch(/^[a-km-np-z2-9]{24}$/);
    expect(newPassword(randomBytes)).not.toBe(password);
  });
});
