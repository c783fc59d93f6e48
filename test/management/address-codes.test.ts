import { describe, expect, it } from '@jest/globals';
import { confirmAddress, mailAddressCode } from '../../src/management/address-codes.js';
import type { Mail } from '../../src/management/mail.js';
import { freshManagement } from '../support/management.js';

const HOUR = 3_600_000;
const ADDRESS = 'Ann@Example.com';

describe('the code that confirms an address', () => {
  const management = freshManagement();

  async function given() {
    const ann = await management.createUser('ann');
    const mails: Mail[] = [];
    const deps = {
      ...management.deps,
      accounts: { resetMailsPerHour: 2 },
      sendMail: (mail: Mail) => {
        mails.push(mail);
        return Promise.resolve();
      },
    };
    const ask = (email = ADDRESS, user = { id: ann.id, username: 'ann' }) =>
      mailAddressCode(deps, user, email);
    const codeIn = (mail: Mail | undefined) => /^ {4}(\S+)$/m.exec(mail?.text ?? '')?.[1] ?? '';
    return { ann, deps, mails, ask, codeIn };
  }

  it('is mailed as often in an hour as the settings say, however the address is typed', async () => {
    const { mails, ask } = await given();

    for (const email of [ADDRESS, ADDRESS.toUpperCase(), ` ${ADDRESS}`]) await ask(email);
    expect(mails).toHaveLength(2);
    await ask('other@example.com');
    expect(mails).toHaveLength(3);

    management.pass(2 * HOUR);
    await ask();
    expect(mails).toHaveLength(4);
  });

  it('gives the address to the account, once, however the code is typed', async () => {
    const { ann, deps, mails, ask, codeIn } = await given();
    await ask();
    const code = codeIn(mails[0]);

    await expect(confirmAddress(deps, ann, 'another code', ann)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const user = await confirmAddress(deps, ann, ` ${code.toUpperCase()} `, ann);

    expect(user.email).toBe(ADDRESS);
    await ask();
    expect(codeIn(mails[1])).not.toBe('');
    await expect(confirmAddress(deps, ann, code, ann)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await management.audited()).toMatchObject([
      { action: 'user.confirm_email', detail: { email: ADDRESS } },
    ]);
  });

  it('is good for a day', async () => {
    const { ann, deps, mails, ask, codeIn } = await given();
    await ask();
    management.pass(24 * HOUR - 1);
    expect(await confirmAddress(deps, ann, codeIn(mails[0]), ann)).toMatchObject({
      email: ADDRESS,
    });

    await ask('other@example.com');
    management.pass(24 * HOUR);
    await expect(confirmAddress(deps, ann, codeIn(mails[1]), ann)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('is not sent for an address of somebody else, who is told instead', async () => {
    const { ann, deps, mails, ask, codeIn } = await given();
    await ask();
    await confirmAddress(deps, ann, codeIn(mails[0]), ann);
    const ben = await management.createUser('ben');

    await ask(ADDRESS, { id: ben.id, username: 'ben' });

    expect(mails[1]).toMatchObject({ to: ADDRESS, subject: 'You already have an account' });
    expect(codeIn(mails[1])).toBe('');
  });

  it('is good for nothing once somebody else has confirmed the address', async () => {
    const { ann, deps, mails, ask, codeIn } = await given();
    const ben = await management.createUser('ben');
    await ask();
    await ask(ADDRESS, { id: ben.id, username: 'ben' });
    await confirmAddress(deps, ann, codeIn(mails[0]), ann);

    await expect(confirmAddress(deps, ben, codeIn(mails[1]), ben)).rejects.toMatchObject({
      code: 'conflict',
      param: 'email',
    });
  });
});
