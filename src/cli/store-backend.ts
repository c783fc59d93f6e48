import { randomBytes } from 'node:crypto';
import type { Config } from '../config.js';
import { LlamaEngine, loadLlama } from '../gateway/llama.js';
import { createProbe } from '../gateway/probe.js';
import { Upstream } from '../gateway/upstream.js';
import { isPrivateAddress } from '../management/addresses.js';
import type { Actor } from '../management/audit.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  testChannel,
  updateChannel,
  type ChannelWrite,
} from '../management/channels.js';
import { awaitInForce } from '../management/in-force.js';
import {
  createRedemptionCodes,
  deleteInvalidRedemptionCodes,
  deleteRedemptionCode,
  getRedemptionCode,
  listRedemptionCodes,
  updateRedemptionCode,
} from '../management/redemption-codes.js';
import { disableTag, enableTag, listTags } from '../management/tags.js';
import {
  createToken,
  deleteToken,
  findTokenByKey,
  getToken,
  listTokens,
  updateToken,
} from '../management/tokens.js';
import {
  createUser,
  deleteUser,
  findRoot,
  findUser,
  listUsers,
  updateUser,
} from '../management/users.js';
import { openStore, storeFile } from '../open-store.js';
import type { Backend, ChannelChanged, Enforced } from './backend.js';

/** Somebody waits for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The store that the settings name, while a gateway runs on it or not. Who sits here may do everything. */
export async function openStoreBackend(
  config: Config,
  user: string,
  now: () => number,
  onWaiting: (why: string) => void,
): Promise<Backend> {
  const store = await openStore(config.store, { connectTimeoutMs: CONNECT_TIMEOUT_MS, onWaiting });
  const { allowPrivateUpstreams, stalenessMs } = config.gateway;
  const deps = { store, now, randomBytes, allowPrivateUpstreams };
  const actor: Actor = { id: undefined, name: `cli:${user}`, role: 100, address: undefined };

  const enforced = async <T extends { readonly version: number }>(
    write: T,
  ): Promise<T & Enforced> => ({
    ...write,
    inForce: await awaitInForce({ store, now }, write.version, stalenessMs),
  });
  const changed = async (write: Promise<ChannelWrite>): Promise<ChannelChanged> =>
    enforced(await write);

  return {
    place:
      config.store.redisUrl === undefined
        ? storeFile(config.store.dataDir)
        : `Redis under the prefix ${config.store.redisPrefix}`,

    createKey: (draft) => createToken(deps, draft, actor),
    getKey: (id) => getToken(deps, id, actor),
    findKey: (key) => findTokenByKey(deps, key, actor),
    listKeys: (query) => listTokens(deps, query, actor),
    updateKey: (id, change) => updateToken(deps, id, change, actor),
    deleteKey: (id) => deleteToken(deps, id, actor),

    listChannels: (filter) => listChannels(deps, filter),
    getChannel: (id) => getChannel(deps, id),
    createChannel: (draft) => changed(createChannel(deps, draft, actor)),
    updateChannel: (id, edit) => changed(updateChannel(deps, id, edit, actor)),
    copyChannel: (id, given) => changed(copyChannel(deps, id, given, actor)),
    deleteChannel: async (id) => enforced({ version: await deleteChannel(deps, id, actor) }),
    async testChannel(id, model) {
      const { maxReplyBytes, attemptTimeoutMs } = config.gateway;
      const refuses = allowPrivateUpstreams ? undefined : isPrivateAddress;
      const upstream = new Upstream({ maxReplyBytes, refuses });
      const neural = new LlamaEngine({ load: loadLlama });
      const declared = new Map(
        (config.channels ?? []).map(({ declared: { name }, credentials }) => [name, credentials]),
      );
      const probe = createProbe({ upstream, neural, declared, now, attemptTimeoutMs });
      try {
        return await testChannel({ ...deps, probe }, id, model, actor);
      } finally {
        await upstream.close();
        await neural.close();
      }
    },

    listTags: () => listTags(deps),
    disableTag: async (tag, reason) => enforced(await disableTag(deps, tag, reason, actor)),
    enableTag: async (tag) => enforced(await enableTag(deps, tag, actor)),

    defaultUser: () => findRoot(deps),
    findUser: (login) => findUser(deps, login),
    listUsers: (query) => listUsers(deps, query),
    createUser: (draft) => createUser(deps, draft, actor),
    updateUser: (id, edit) => updateUser(deps, id, edit, actor),
    deleteUser: (id) => deleteUser(deps, id, actor),
    async usernames(ids) {
      const users = await Promise.all([...new Set(ids)].map((id) => store.getUser(id, now())));
      return new Map(
        users.flatMap((found) => (found === undefined ? [] : [[found.id, found.username]])),
      );
    },

    createCodes: async (draft) =>
      (await createRedemptionCodes(deps, draft, actor)).map(({ code }) => code),
    getCode: (id) => getRedemptionCode(deps, id),
    listCodes: (query) => listRedemptionCodes(deps, query),
    updateCode: (id, change) => updateRedemptionCode(deps, id, change, actor),
    deleteCode: (id) => deleteRedemptionCode(deps, id, actor),
    deleteInvalidCodes: () => deleteInvalidRedemptionCodes(deps, actor),

    listUsage: (query) => store.listUsage(query),
    usageStats: (query) => store.usageStats(query),
    listAudit: (query) => store.listAudit(query),

    close: () => store.close(),
  };
}
