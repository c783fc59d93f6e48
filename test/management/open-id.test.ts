import { expect, it } from '@jest/globals';
import {
  endOpenId,
  finishOpenId,
  FLOW_MS,
  type OpenId,
  type OpenIdDeps,
} from '../../src/management/open-id.js';
import { loadConfig } from '../../src/config/load-config.js';
import { freshManagement, NOW } from '../support/management.js';

const management = freshManagement();
const ORIGIN = { address: '192.0.2.1', block: '192.0.2.1', agent: '' };
let states = 0;

/** A provider that vouches for Ann, and ends what it began. */
function openIdDeps(): OpenIdDeps {
  const { login, accounts } = loadConfig({ env: {}, folder: 'none' });
  const vouched = {
    ...{ by: 'https://id.example', subject: 'ann', name: 'ann', email: undefined },
    ...{ groups: [], owns: undefined },
  };
  const provider: Partial<OpenId> = {
    finish: () => Promise.resolve({ vouched, sid: undefined, idToken: 'token' }),
    readLogout: (id) =>
      Promise.resolve({ issuer: vouched.by, subject: vouched.subject, sid: undefined, id }),
  };
  return {
    ...{ ...management.deps, accounts, logins: { ...login, create: true } },
    alerting: { deliver: () => undefined },
    openId: provider as OpenId,
  } as unknown as OpenIdDeps;
}

const finish = (deps: OpenIdDeps, atMs: number) => {
  states += 1;
  const flow = { state: `state ${states}`, nonce: 'n', verifier: 'v', to: '', atMs };
  return finishOpenId(deps, new URLSearchParams(), flow, ORIGIN);
};

it('a person has ten minutes to log in at the provider', async () => {
  const deps = openIdDeps();

  expect(await finish(deps, NOW - FLOW_MS)).toMatchObject({ user: { username: 'ann' } });
  await expect(finish(deps, NOW - FLOW_MS - 1)).rejects.toMatchObject({ code: 'unauthorized' });
});

it('a logout at the provider ends a session as long as there may be one', async () => {
  const deps = openIdDeps();
  const { sessionMaxMs } = deps.logins;
  await finish(deps, NOW);

  management.pass(sessionMaxMs - 1);

  expect([await endOpenId(deps, 'a'), await endOpenId(deps, 'b')]).toEqual([1, 0]);
});
