import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createTargets } from '../../src/assembly/alerts.js';
import { openStore } from '../../src/assembly/open-store.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { OutgoingEvent } from '../../src/core/delivery.js';
import { createSendMail } from '../../src/mail/send-mail.js';
import { StoreUnavailableError, type DeliveryRecord, type Store } from '../../src/store/store.js';
import { sendNow, Sender } from '../../src/telemetry/sender.js';
import { startMailServer } from '../support/mail-server.js';
import { opened } from '../support/opened.js';
import { until } from '../support/until.js';
import type { Answer, TestUpstream } from '../support/upstream.js';

const HOUR = 3_600_000;
const open = opened();
let folder = '';
let serial = 0;
/** The time of the tests; it passes only when they say so. */
let nowMs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rerank-sender-'));
  nowMs = 1_900_000_000_000;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const answering =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, res) =>
    void res.writeHead(status, headers).end();

function event(type = 'channel.disabled'): OutgoingEvent {
  serial += 1;
  return {
    id: `msg_${serial}`,
    type,
    atMs: nowMs,
    summary: `Event ${serial}`,
    data: { n: serial },
  };
}

interface Given {
  readonly store: Store;
  readonly sender: Sender;
  readonly faults: string[];
  /** Lets time pass, and whatever is due then be sent. */
  readonly later: (ms: number) => void;
  readonly all: () => Promise<readonly DeliveryRecord[]>;
  readonly one: (state: DeliveryRecord['state'], tries: number) => Promise<DeliveryRecord>;
}

/** A sender on the store in this test's folder, which other senders of the test share. */
async function senderTo(
  targets: readonly object[],
  more: { readonly smtpUrl?: string; readonly change?: (store: Store) => Store } = {},
): Promise<Given> {
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ mail: { smtp_url: more.smtpUrl }, alerts: { targets } }));
  const config = loadConfig({ env: { DATA_DIR: folder, CONFIG: file } });
  const opened = await openStore(config.store);
  const store = more.change?.(opened) ?? opened;
  const now = (): number => nowMs;
  const sendMail = createSendMail({ ...config.mail, outboxDir: folder });
  const receivers = createTargets(config, { node: 'one', now, sendMail });
  const faults: string[] = [];
  const sender = new Sender(
    {
      ...{ store, now, random: () => 1, leaseMs: 60_000 },
      observe: (seen) => {
        if (seen.kind === 'fault') faults.push(seen.what);
      },
    },
    receivers.targets,
  );
  sender.start();
  open.push(opened, receivers, sender);
  const all = async () => (await opened.listDeliveries({ offset: 0, limit: 100 })).items;
  return {
    ...{ store: opened, sender, faults, all },
    later: (ms) => {
      nowMs += ms;
      sender.wake();
    },
    async one(state, tries) {
      let found: DeliveryRecord | undefined;
      await until(`a delivery is ${state} after ${tries} failures`, async () => {
        found = (await all()).find((one) => one.state === state && one.tries === tries);
        return found !== undefined;
      });
      if (found === undefined) throw new Error('unreachable');
      return found;
    },
  };
}

const hook = (receiver: TestUpstream, more: object = {}): object => ({
  ...{ name: 'hook', webhook: `${receiver.url}/in?a=b` },
  ...more,
});

describe('a webhook', () => {
  it('is signed by the Standard Webhooks convention, as its library verifies', async () => {
    const receiver = await open.upstream(answering(204));
    const secret = `whsec_${Buffer.from('thirty-two bytes of our very own').toString('base64')}`;
    const { sender, one } = await senderTo([hook(receiver, { secret })]);
    nowMs = Date.now();

    sender.deliver(event());

    await one('sent', 0);
    const [seen] = receiver.seen;
    const headers = seen?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(seen?.body ?? '', headers)).toMatchObject({
      type: 'channel.disabled',
      data: { node: 'one' },
    });
    expect(seen?.path).toBe('/in?a=b');
  });

  it('that fails is tried again later, with the same id, across restarts', async () => {
    const receiver = await open.upstream(answering(500));
    const first = await senderTo([hook(receiver)]);
    first.sender.deliver(event());
    const failed = await first.one('waiting', 1);
    expect(failed.error).toBe('the receiver answered with status 500');
    await first.sender.close();

    receiver.answer(answering(200));
    nowMs = failed.dueAtMs;
    const second = await senderTo([hook(receiver)]);

    await second.one('sent', 1);
    const ids = receiver.seen.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  it('that says when to come again is not asked earlier', async () => {
    const receiver = await open.upstream(answering(429, { 'retry-after': '7200' }));
    const { sender, one, later } = await senderTo([hook(receiver)]);

    sender.deliver(event());
    expect((await one('waiting', 1)).dueAtMs).toBe(nowMs + 2 * HOUR);

    receiver.answer(answering(200));
    later(2 * HOUR);
    await one('sent', 1);
    expect(receiver.seen).toHaveLength(2);
  });

  it('that says when to come again gets nothing else until then', async () => {
    const receiver = await open.upstream(answering(503, { 'retry-after': '60' }));
    const { sender, one, all } = await senderTo([hook(receiver)]);
    sender.deliver(event());
    await one('waiting', 1);

    sender.deliver(event());

    await until('the other one is put off', async () =>
      (await all()).some(({ tries, dueAtMs }) => tries === 0 && dueAtMs === nowMs + 30_000),
    );
    expect(receiver.seen).toHaveLength(1);

    // A reload may have mended it.
    receiver.answer(answering(200));
    sender.replaceTargets(sender.targets);
    sender.deliver(event());
    expect((await one('sent', 0)).messageId).toBe(`msg_${serial}`);
  });

  it('that is gone for good gets nothing more of a message, until somebody sends it again', async () => {
    const receiver = await open.upstream(answering(410));
    const { store, sender, one, faults } = await senderTo([hook(receiver)]);

    sender.deliver(event());
    const { id } = await one('dead', 1);
    expect(faults).toEqual(['"channel.disabled" not delivered to hook']);

    receiver.answer(answering(200));
    await store.redeliver(id, nowMs);
    sender.wake();
    await one('sent', 0);
    expect(receiver.seen).toHaveLength(2);
  });

  it('that is down for a day gets nothing more of a message', async () => {
    const receiver = await open.upstream(answering(503));
    const { sender, one, later } = await senderTo([hook(receiver)]);

    sender.deliver(event());
    for (let tries = 1; tries <= 9; tries += 1) {
      await one('waiting', tries);
      later(12 * HOUR);
    }

    await one('dead', 10);
    expect(receiver.seen).toHaveLength(10);
  });

  it('that hangs keeps no other target waiting, and neither does one that nobody listens at', async () => {
    const silent = await open.upstream(() => undefined);
    const well = await open.upstream(answering(200));
    const { sender, all } = await senderTo([
      { name: 'silent', webhook: silent.url },
      { name: 'absent', webhook: 'http://127.0.0.1:1' },
      { name: 'well', slack: well.url },
    ]);

    sender.deliver(event());
    await well.reached(1);

    await until('the absent one has failed', async () =>
      (await all()).some(({ target, error }) => target === 'absent' && error !== ''),
    );
    expect(JSON.parse(well.seen[0]?.body ?? '')).toMatchObject({ text: `Event ${serial}` });
  });

  it('that is no longer configured gets nothing, and the message is listed as dead', async () => {
    const receiver = await open.upstream(answering(500));
    const { sender, one, later } = await senderTo([hook(receiver)]);
    sender.deliver(event());
    await one('waiting', 1);

    sender.replaceTargets([]);
    later(1_000);

    expect((await one('dead', 2)).error).toBe('there is no such target any more');
    expect(receiver.seen).toHaveLength(1);
  });
});

it('a mail goes to each address, and a mail server that refuses it is asked again', async () => {
  const server = await startMailServer();
  open.push(server);
  const target = { name: 'finance', mail: ['a@example.com', 'b@example.com'] };
  const broken = await senderTo([target], { smtpUrl: 'smtp://127.0.0.1:1' });
  broken.sender.deliver(event('quota.reached'));
  const { dueAtMs } = await broken.one('waiting', 1);
  await broken.sender.close();

  nowMs = dueAtMs;
  const { one } = await senderTo([target], { smtpUrl: server.url });
  const { messageId } = await one('sent', 1);

  const mails = await Promise.all(target.mail.map((address) => server.next(address)));
  for (const mail of mails) {
    expect(mail).toContain(`Subject: rerank-gateway: Event ${serial}`);
    expect(mail).toContain(`Message-ID: <${messageId}@rerank-gateway>`);
  }
});

it('a target gets the kinds that it takes, and audit entries only if it names them', async () => {
  const [usual, audit] = [await open.upstream(answering(200)), await open.upstream(answering(200))];
  const { sender, all } = await senderTo([
    { name: 'usual', webhook: usual.url },
    { name: 'siem', webhook: audit.url, kinds: ['audit'] },
  ]);

  for (const type of ['audit.created', 'node.silent']) sender.deliver(event(type));

  await until('both are sent', async () => {
    const list = await all();
    return list.length === 2 && list.every(({ state }) => state === 'sent');
  });
  const typesOf = ({ seen }: TestUpstream) =>
    seen.map(({ body }) => (JSON.parse(body) as OutgoingEvent).type);
  expect([typesOf(usual), typesOf(audit)]).toEqual([['node.silent'], ['audit.created']]);
});

it('an event with an id that was delivered, or a condition that holds already, is not sent again', async () => {
  const receiver = await open.upstream(answering(200));
  const given = await senderTo([hook(receiver)]);
  const other = await senderTo([hook(receiver)]);
  const same = event();
  const condition = { key: 'node x', value: 'silent' };

  for (const { sender } of [given, other, given]) {
    sender.deliver(same);
    sender.deliver(event('node.silent'), condition);
  }
  given.sender.deliver(event('node.returned'), { key: 'node x', value: '' });

  await until('the end is sent', () => receiver.seen.length >= 3);
  await given.sender.close();
  await other.sender.close();
  const types = (await given.all()).map(({ type }) => type).sort();
  expect(types).toEqual(['channel.disabled', 'node.returned', 'node.silent']);
  expect(receiver.seen).toHaveLength(3);
});

it('a condition ends though nobody is told of its end', async () => {
  const receiver = await open.upstream(answering(204));
  const { sender, store, one } = await senderTo([hook(receiver, { kinds: ['channel'] })]);
  sender.deliver(event(), { key: 'circuit:1', value: 'open' });
  await one('sent', 0);

  sender.deliver(event('node.returned'), { key: 'circuit:1', value: '' });

  await until('it has ended', async () => (await store.alertConditions()).size === 0);
  expect(receiver.seen).toHaveLength(1);
});

it('events wait in memory for a store that is away', async () => {
  let isAway = true;
  const receiver = await open.upstream(answering(200));
  const { sender, faults, one } = await senderTo([hook(receiver)], {
    change: (store) => ({
      ...store,
      addDeliveries: (...added) =>
        isAway ? Promise.reject(new StoreUnavailableError('away')) : store.addDeliveries(...added),
    }),
  });

  sender.deliver(event());
  await until('the store was asked', () => faults.length > 0);
  isAway = false;
  sender.deliver(event());

  await one('sent', 0);
  await receiver.reached(2);
  expect(faults).toEqual(['events not yet delivered']);
});

it('of more events than are held for a store that is away, the oldest are dropped', async () => {
  let isAway = true;
  const receiver = await open.upstream(answering(204));
  const added: string[] = [];
  const { sender, faults } = await senderTo([hook(receiver)], {
    change: (store) => ({
      ...store,
      addDeliveries(deliveries) {
        if (isAway) return Promise.reject(new StoreUnavailableError('away'));
        added.push(...deliveries.map(({ summary }) => summary));
        return Promise.resolve('known');
      },
    }),
  });
  const first = serial + 1;
  for (let count = 0; count < 1_001; count += 1) sender.deliver(event());
  await until('the store was asked', () => faults.length > 0);
  isAway = false;
  sender.deliver(event());

  await until('the store has the last one', () => added.includes(`Event ${first + 1_001}`));
  expect(added.slice(0, 1)).toEqual([`Event ${first + 2}`]);
});

it('an event for which the store has no room is told as not delivered', async () => {
  const receiver = await open.upstream(answering(204));
  const { sender, faults } = await senderTo([hook(receiver)], {
    change: (store) => ({ ...store, addDeliveries: () => Promise.resolve('full') }),
  });

  sender.deliver(event());

  await until('it is told', () => faults.length > 0);
  expect(faults).toEqual(['event "channel.disabled" not delivered']);
});

it('a message whose sender died after the call is sent again with the same id', async () => {
  const receiver = await open.upstream(answering(200));
  let letGo: (() => void) | undefined;
  const dying = await senderTo([hook(receiver)], {
    change: (store) => ({
      ...store,
      endDelivery: () =>
        new Promise<void>((resolve) => {
          letGo = resolve;
        }),
    }),
  });
  dying.sender.deliver(event());
  await receiver.reached(1);

  const heir = await senderTo([hook(receiver)]);
  heir.later(59_000);
  expect((await heir.all())[0]?.state).toBe('waiting');
  heir.later(1_001);

  await heir.one('sent', 0);
  letGo?.();
  const ids = receiver.seen.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([`msg_${serial}`, `msg_${serial}`]);
});

it('says of each receiver why it did not take what is sent at once, and keeps nothing of it', async () => {
  const good = await open.upstream(answering(204));
  const bad = await open.upstream(answering(500));
  const { sender, all } = await senderTo([hook(good), hook(bad, { name: 'bad' })]);

  const failures = await sendNow(sender.targets, event());

  expect([...failures]).toEqual([
    ['hook', ''],
    ['bad', expect.stringContaining('500')],
  ]);
  expect([good.seen.length, bad.seen.length, await all()]).toEqual([1, 1, []]);
});
