import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openStore, refuseHalf } from '../assembly/open-store.js';
import { storeFile } from '../config/data-files.js';
import { loadGroups, type ConfigSources } from '../config/load-groups.js';
import type { Config } from '../config/values.js';
import { GatewayError } from '../core/errors.js';
import { own, present } from '../core/records.js';
import type { Actor } from '../management/audit.js';
import { carryCode, hasToken } from '../management/carried.js';
import type { Login } from '../management/sessions.js';
import { addToken } from '../management/tokens.js';
import { createUser, findRoot } from '../management/users.js';
import type {
  Alerting,
  KnownChannels,
  Operation,
  OperationCall,
  OperationDeps,
} from '../operations/operation.js';
import type { Store } from '../store/store.js';
import { routes } from './routes.js';
import {
  StoppedGatewayError,
  type Client,
  type InputOf,
  type OperationId,
  type ReplyOf,
} from './client.js';

/** Somebody is waiting for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Examples belong to an account: at the command line, to root's. */
const OF_AN_ACCOUNT = 'playground';
/** Only operations with one of these see the account of whoever calls. */
const SEES_CALLER: readonly string[] = ['login', 'visitor'];

/**
 * The operations on the store that the settings name, whether or not a gateway runs on it. Whoever sits here may do everything;
 * the audit log calls them by the name of their user on this machine.
 */
export async function clientInProcess(
  sources: ConfigSources,
  user: string,
  now: () => number,
  onWaiting: (why: string) => void,
): Promise<Client> {
  const config = loadGroups(sources, ['store', 'gateway', 'log']);
  const store = await openStore(config.store, { connectTimeoutMs: CONNECT_TIMEOUT_MS, onWaiting });
  await refuseHalf(store).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const pending: Promise<void>[] = [];
  const deps = operationDeps(sources, config, store, now, (_, work) => void pending.push(work()));
  const operator: Actor = { id: undefined, name: `cli:${user}`, role: 100, address: undefined };

  /** A change forgets it. A list asks for many pages and names. */
  let root: ReturnType<typeof findRoot> | undefined;

  const place =
    config.store.redisUrl === undefined
      ? storeFile(config.store.dataDir)
      : `Redis under the prefix ${config.store.redisPrefix}`;
  return {
    place,
    isOperator: true,
    async call<Id extends OperationId>(id: Id, input: InputOf<Id> = {}): Promise<ReplyOf<Id>> {
      const operation = await operationOf(id);
      if (SEES_CALLER.includes(operation.access)) root ??= findRoot(deps);
      const caller = await root;
      if (caller === undefined && id === 'getSelf') {
        throw new GatewayError(
          'not_found',
          `There are no accounts yet in ${place}. Start the gateway once: it creates root.`,
        );
      }
      const actor =
        operation.area === OF_AN_ACCOUNT ? { ...operator, id: caller?.id ?? 0 } : operator;
      const prepared = operation.prepare({
        // As in a URL, what is undefined is not there.
        ...{ deps, params: input.params ?? {}, query: present(input.query ?? {}) },
        body: operation.body === undefined ? undefined : (input.body ?? {}),
        ...{ address: '', block: '', agent: '', cookies: '', secure: false },
        ...{ requestId: randomUUID(), refusal: undefined },
        // Operations about one's own account are about root's; the operator of the store has none, and no login.
        ...({ actor, login: { user: caller, session: {} } } as unknown as WhoeverCalls),
      });
      const reply = await prepared.run();
      if (operation.method !== 'GET') root = undefined;
      // The operation has given it this type; commands ask for no files.
      return ('data' in reply ? reply.data : reply.text) as ReplyOf<Id>;
    },
    carry: {
      user: async (draft) => (await createUser(deps, draft, operator)).id,
      hasToken: (keyHash) => hasToken(deps, keyHash),
      token: async (draft, secret) => {
        await addToken(deps, draft, secret, operator);
      },
      code: (code, batchId) => carryCode(deps, code, batchId, operator),
    },
    async close() {
      try {
        await Promise.all(pending);
      } finally {
        await store.close();
      }
    },
  };
}

/** The modules of `src/operations` that have operations. */
const MODULES: Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>> = {
  about: () => import('../operations/about.js'),
  alerts: () => import('../operations/alerts.js'),
  'channel-batches': () => import('../operations/channel-batches.js'),
  'channel-choices': () => import('../operations/channel-choices.js'),
  'channel-trials': () => import('../operations/channel-trials.js'),
  channels: () => import('../operations/channels.js'),
  examples: () => import('../operations/examples.js'),
  logs: () => import('../operations/logs.js'),
  models: () => import('../operations/models.js'),
  nodes: () => import('../operations/nodes.js'),
  'open-id': () => import('../operations/open-id.js'),
  'own-account': () => import('../operations/own-account.js'),
  'password-reset': () => import('../operations/password-reset.js'),
  playground: () => import('../operations/playground.js'),
  redemption: () => import('../operations/redemption.js'),
  requests: () => import('../operations/requests.js'),
  routes: () => import('../operations/routes.js'),
  sessions: () => import('../operations/sessions.js'),
  stats: () => import('../operations/stats.js'),
  tags: () => import('../operations/tags.js'),
  tokens: () => import('../operations/tokens.js'),
  'user-actions': () => import('../operations/user-actions.js'),
  users: () => import('../operations/users.js'),
};

/** Loads the module of one operation: all of them take much longer than most commands. */
async function operationOf(id: OperationId): Promise<Operation> {
  const [, , , name] = routes()[id];
  const operations = Object.values((await own(MODULES, name)?.()) ?? {})
    .filter(Array.isArray)
    .flat() as readonly Operation[];
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
}

type WhoeverCalls = Pick<Extract<OperationCall, { readonly login: Login }>, 'actor' | 'login'>;

/** Settings that few operations need are read by these alone: a mistake in the others stops no command. */
function operationDeps(
  sources: ConfigSources,
  { store: { dataDir }, gateway, log }: Pick<Config, 'store' | 'gateway' | 'log'>,
  store: Store,
  now: () => number,
  later: OperationDeps['later'],
): OperationDeps {
  const askers = async () => (await import('./asking.js')).asking(sources, gateway, now);
  return {
    ...{ store, now, randomBytes, statsDays: log.statsDays },
    probe: async (...ask) => (await askers()).probe(...ask),
    discover: async (server) => (await askers()).discover(server),
    listUpstreamModels: async (channel) => (await askers()).listUpstreamModels(channel),
    stalenessMs: gateway.stalenessMs,
    deadlineMs: gateway.deadlineMs,
    allowPrivateUpstreams: gateway.allowPrivateUpstreams,
    allowMetadataUpstreams: gateway.allowMetadataUpstreams,
    known: knownFrom(sources, store),
    // The entries of a store are its operator's own.
    logIds: { mask: (id) => id, unmask: (id) => id },
    sendMail: mailer(sources, dataDir),
    get alerting() {
      return alertingFrom(sources, dataDir, now);
    },
    later,
    get accounts() {
      const { accounts } = loadGroups(sources, ['accounts']);
      return { ...accounts, keysPerAccount: Number.MAX_SAFE_INTEGER };
    },
    get logins() {
      return loadGroups(sources, ['login', 'oidc', 'server']).login;
    },
    // People log in at a gateway.
    openId: undefined,
    get publicUrl() {
      return loadGroups(sources, ['server']).server.publicUrl;
    },
    get keepsExamples() {
      return loadGroups(sources, ['console']).console.examples;
    },
    get prices() {
      return loadGroups(sources, ['prices']).prices;
    },
    explain: () => Promise.reject(new StoppedGatewayError()),
    get gateway(): never {
      throw new StoppedGatewayError();
    },
    get about(): never {
      throw new StoppedGatewayError();
    },
  };
}

function mailer(sources: ConfigSources, dataDir: string): OperationDeps['sendMail'] {
  return async (mail) => {
    const { createSendMail } = await import('../mail/send-mail.js');
    const { mail: settings } = loadGroups(sources, ['mail']);
    const outboxDir = settings.outboxDir ?? join(dataDir, 'outbox');
    return createSendMail({ ...settings, outboxDir })(mail);
  };
}

/** Sends tests; what is in the store is sent by the gateways that run. */
function alertingFrom(sources: ConfigSources, dataDir: string, now: () => number): Alerting {
  const config = loadGroups(sources, ['alerts', 'gateway']);
  return {
    targets: config.alerts.targets.map(({ name }) => name),
    async test(names, by) {
      const { createTargets, testTargets } = await import('../assembly/alerts.js');
      const parts = { node: hostname(), now, sendMail: mailer(sources, dataDir) };
      const receivers = createTargets(config, parts);
      try {
        return await testTargets(receivers.targets, names, by, now());
      } finally {
        await receivers.close();
      }
    },
    deliver: () => undefined,
    wake: () => undefined,
  };
}

function knownFrom(sources: ConfigSources, store: Store): KnownChannels {
  return {
    refresh: () => Promise.resolve(),
    async names() {
      const { channels } = await store.loadChannels();
      const names = new Map(channels.map(({ id, name }) => [id, name]));
      return (id) => names.get(id);
    },
    fallbacksOf(model) {
      const { fallback, named } = loadGroups(sources, ['models']).models;
      return (own(named, model) ?? fallback).fallbacks;
    },
  };
}
