import { expect, it } from '@jest/globals';
import { mailResetTo } from '../../src/management/password-reset.js';
import { freshManagement, NOW, OPERATOR } from '../support/management.js';

const management = freshManagement();

it('says to an admin who has sent too much when one more mail may go', async () => {
  const { id } = await management.createUser('ann');
  await management.store.updateUser(id, { email: 'ann@example.com' }, NOW);
  const deps = {
    ...{ ...management.deps, publicUrl: undefined },
    ...{ accounts: { resetMailsPerHour: 1 }, sendMail: () => Promise.resolve() },
  };
  const send = () =>
    mailResetTo(deps, id, OPERATOR).then(
      () => 0,
      (error: unknown) => error,
    );
  for (let mail = 0; mail < 4; mail += 1) expect(await send()).toBe(0);

  const { retryAfterMs = 0 } = (await send()) as { readonly retryAfterMs?: number };
  management.pass(retryAfterMs - 1);
  expect(await send()).toMatchObject({ code: 'rate_limited', retryAfterMs: 1 });
  management.pass(1);
  expect(await send()).toBe(0);
});
