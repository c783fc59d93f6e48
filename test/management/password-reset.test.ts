import { beforeEach, expect, it } from '@jest/globals';
import type { GatewayError } from '../../src/core/errors.js';
import type { Mail } from '../../src/management/mail.js';
import { mailResetTo, resetPassword } from '../../src/management/password-reset.js';
import { freshManagement, NOW, OPERATOR } from '../support/management.js';

const EMAIL = 'ann@example.com';
const management = freshManagement();
let id = 0;
beforeEach(async () => {
  ({ id } = await management.createUser('ann'));
  await management.store.updateUser(id, { email: EMAIL }, NOW);
});

/** Sends a code; resolves to why not, if it was not sent. */
async function send(mails: Mail[] = []): Promise<unknown> {
  const deps = {
    ...{ ...management.deps, publicUrl: undefined },
    ...{ accounts: { resetMailsPerHour: 1 } },
    sendMail: (mail: Mail) => Promise.resolve(void mails.push(mail)),
  };
  return mailResetTo(deps, id, OPERATOR).catch((error: unknown) => error);
}

it('says to an admin who has sent too much when one more mail may go', async () => {
  for (let mail = 0; mail < 4; mail += 1) expect(await send()).toBeUndefined();

  const { retryAfterMs = 0 } = (await send()) as { readonly retryAfterMs?: number };
  management.pass(retryAfterMs - 1);
  expect(await send()).toMatchObject({ code: 'rate_limited', retryAfterMs: 1 });
  management.pass(1);
  expect(await send()).toBeUndefined();
});

it.each([
  ['good until tomorrow', EMAIL, 24 * 3_600_000 - 1, /^\w{24}$/],
  ['no longer good then', EMAIL, 24 * 3_600_000, 'invalid_request'],
  ['no good with a name in place of the address', 'ann', 1, 'invalid_request'],
])('a code that an admin sends is %s', async (_, email, laterMs, outcome) => {
  const mails: Mail[] = [];
  await send(mails);
  const code = /^ {4}(\w{24})$/m.exec(mails[0]?.text ?? '')?.[1] ?? '';

  management.pass(laterMs);
  const set = resetPassword(management.deps, { email, code, password: undefined }, undefined);

  expect(await set.catch((error: unknown) => (error as GatewayError).code)).toMatch(outcome);
});
