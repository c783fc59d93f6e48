import { describe, expect, it } from '@jest/globals';
import {
  endListed,
  endLogin,
  findLogin,
  issueAccessToken,
  listLogins,
  startSession,
  type Login,
  type SessionDeps,
} from '../../src/management/sessions.js';
import { freshManagement } from '../support/management.js';

const HOUR = 3_600_000;
const LIVES = { sessionIdleMs: HOUR, sessionMaxMs: 8 * HOUR, accessTokenMs: 24 * HOUR };

const management = freshManagement();

function withLives(lives: Partial<typeof LIVES> = {}): SessionDeps {
  return { ...management.deps, accounts: { ...LIVES, ...lives } };
}

async function login(deps: SessionDeps, userId: number): Promise<Login> {
  const found = await findLogin(deps, await startSession(deps, userId), 'session');
  if (found === undefined) throw new Error('the login has ended');
  return found;
}

describe('a login', () => {
  it('ends without use, and each use prolongs it up to its end', async () => {
    const deps = withLives();
    const { id } = await management.createUser('ann');
    const [used, unused] = [await startSession(deps, id), await startSession(deps, id)];
    const isLive = async (secret: string) =>
      (await findLogin(deps, secret, 'session')) !== undefined;

    for (let hours = 0; hours < 8; hours += 1) {
      management.pass(HOUR - 1);
      expect(await isLive(used)).toBe(true);
    }
    expect(await isLive(unused)).toBe(false);

    management.pass(7);
    expect(await isLive(used)).toBe(true);
    management.pass(1);
    expect(await isLive(used)).toBe(false);
  });

  it('that was used once ends when it has not been used again in time', async () => {
    const deps = withLives();
    const secret = await startSession(deps, (await management.createUser('ann')).id);
    management.pass(10);
    expect(await findLogin(deps, secret, 'session')).toBeDefined();

    management.pass(HOUR);

    expect(await findLogin(deps, secret, 'session')).toBeUndefined();
  });

  it('has a secret of 256 bits, of which the store gets only a hash', async () => {
    const deps = withLives();
    const { id } = await management.createUser('ann');

    const secret = await startSession(deps, id);

    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(JSON.stringify(await management.store.listSessions(id, deps.now()))).not.toContain(
      secret,
    );
  });

  it('that may rest for longer than it may last ends on time', async () => {
    const deps = withLives({ sessionIdleMs: 8 * HOUR, sessionMaxMs: HOUR });
    const secret = await startSession(deps, (await management.createUser('ann')).id);

    management.pass(HOUR);

    expect(await findLogin(deps, secret, 'session')).toBeUndefined();
  });

  it('that somebody else vouched for lasts no longer than any other', async () => {
    const deps = withLives({ sessionIdleMs: 8 * HOUR, sessionMaxMs: HOUR });
    const secret = await startSession(deps, (await management.createUser('ann')).id, {}, 2 * HOUR);

    management.pass(HOUR);

    expect(await findLogin(deps, secret, 'session')).toBeUndefined();
  });

  it('is found by its own kind of secret alone', async () => {
    const deps = withLives();
    const ann = await management.createUser('ann');
    const secret = await startSession(deps, ann.id);
    const token = await issueAccessToken(deps, await login(deps, ann.id), ann);

    expect(await findLogin(deps, secret, 'access_token')).toBeUndefined();
    expect(await findLogin(deps, token, 'session')).toBeUndefined();
    expect(await findLogin(deps, token, 'access_token')).toMatchObject({ user: { id: ann.id } });
  });

  it('ends alone, or with all others and the access token', async () => {
    const deps = withLives();
    const ann = await management.createUser('ann');
    const [first, second] = [await login(deps, ann.id), await login(deps, ann.id)];
    await issueAccessToken(deps, second, ann);
    const listed = await listLogins(deps, ann.id, second);
    expect(listed.filter(({ current }) => current)).toHaveLength(1);
    const kinds = async () =>
      (await listLogins(deps, ann.id, second)).map(({ session, current }) => [
        session.kind,
        current,
      ]);

    await endLogin(deps, first, false);
    expect(await kinds()).toEqual(
      expect.arrayContaining([
        ['session', true],
        ['access_token', false],
      ]),
    );
    expect(await kinds()).toHaveLength(2);

    await endLogin(deps, second, true);
    expect(await kinds()).toEqual([]);
  });
});

describe('an access token', () => {
  it.each([
    ['lives as long as the settings say', 100 * HOUR, 24 * HOUR],
    ['lives shorter where that was asked for', 2 * HOUR, 2 * HOUR],
  ])('%s', async (_, askedMs, livesMs) => {
    const deps = withLives();
    const ann = await management.createUser('ann');
    const secret = await issueAccessToken(deps, await login(deps, ann.id), ann, askedMs);

    management.pass(livesMs - 1);
    expect(await findLogin(deps, secret, 'access_token')).toBeDefined();
    management.pass(1);
    expect(await findLogin(deps, secret, 'access_token')).toBeUndefined();
  });

  it('ends earlier once the settings give it less time, which leaves logins alone', async () => {
    const ann = await management.createUser('ann');
    const session = await startSession(withLives(), ann.id);
    const own = await login(withLives(), ann.id);
    const secret = await issueAccessToken(withLives(), own, ann);
    const shorter = withLives({ accessTokenMs: HOUR / 2 });

    management.pass(HOUR / 2 - 1);
    expect(await findLogin(shorter, secret, 'access_token')).toBeDefined();
    management.pass(1);
    expect(await findLogin(shorter, secret, 'access_token')).toBeUndefined();
    expect(await findLogin(shorter, session, 'session')).toBeDefined();
  });

  it('is not made by a login that has ended meanwhile', async () => {
    const deps = withLives();
    const ann = await management.createUser('ann');
    const own = await login(deps, ann.id);
    await endLogin(deps, own, false);

    await expect(issueAccessToken(deps, own, ann)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await management.audited()).toEqual([]);
  });

  it('leaves a trail of its making and of its end', async () => {
    const deps = withLives();
    const ann = await management.createUser('ann');
    const own = await login(deps, ann.id);
    await issueAccessToken(deps, own, ann);
    const listed = await listLogins(deps, ann.id, own);
    const token = listed.find(({ session }) => session.kind === 'access_token');

    await endListed(deps, ann.id, token?.id ?? '', ann);

    expect(await management.audited()).toMatchObject([
      { action: 'user.access_token', target: `user:${ann.id}` },
      { action: 'user.end_login', target: `user:${ann.id}`, detail: { kind: 'access_token' } },
    ]);
    await expect(endListed(deps, ann.id, token?.id ?? '', ann)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a login in a list', () => {
  it('is ended by its owner and by those above, and by nobody else', async () => {
    const deps = withLives();
    const admin = await management.createUser('admin', 10);
    const other = await management.createUser('other', 10);
    const ann = await management.createUser('ann');
    const [annsLogin, adminsLogin] = [await login(deps, ann.id), await login(deps, admin.id)];
    const idOf = async (userId: number) => (await listLogins(deps, userId, annsLogin))[0]?.id ?? '';
    const [anns, admins] = [await idOf(ann.id), await idOf(admin.id)];

    for (const actor of [ann, other]) {
      await expect(endListed(deps, admin.id, admins, actor)).rejects.toMatchObject({
        code: 'permission_denied',
      });
    }
    await endListed(deps, ann.id, anns, other);
    await endListed(deps, admin.id, admins, admin);

    expect(await listLogins(deps, ann.id, annsLogin)).toEqual([]);
    expect(await listLogins(deps, admin.id, adminsLogin)).toEqual([]);
  });
});
