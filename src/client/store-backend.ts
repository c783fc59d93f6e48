import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadCredentials, loadGroups, type ConfigSources } from '../config/load-config.js';
import { own } from '../core/records.js';
import { createDiscover } from '../gateway/look/discover.js';
import { LlamaEngine, loadLlama } from '../rankers/llama.js';
import { createListUpstreamModels } from '../gateway/look/upstream-models.js';
import { createProbe } from '../gateway/look/probe.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import { listAudit } from '../management/audit-log.js';
import type { Actor } from '../management/audit.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  editChannels,
  switchChannels,
  updateChannel,
  type ChannelWrite,
} from '../management/channels.js';
import { getChannel, listChannels } from '../management/channel-views.js';
import { probeAddress, listUpstreamModels, testChannel } from '../management/channel-trials.js';
import { deleteExample, getExample, listExamples, saveExample } from '../management/examples.js';
import { listRequests, newest, noRequest } from '../management/requests.js';
import { exampleWire } from '../shapes/example.js';
import { listedWire, requestWire } from '../shapes/request.js';
import { createSendMail } from '../mail/send-mail.js';
import { inviteUser, mailResetTo, type ResetMailDeps } from '../management/password-reset.js';
import { awaitInForce } from '../management/in-force.js';
import {
  createRedemptionCodes,
  deleteInvalidRedemptionCodes,
  deleteRedemptionCode,
  disableRedemptionBatch,
  getRedemptionCode,
  listRedemptionBatches,
  listRedemptionCodes,
  updateRedemptionCode,
} from '../management/redemption-codes.js';
import { listNodes } from '../management/nodes.js';
import { getOverview } from '../management/overview.js';
import { usageBreakdown } from '../management/usage-breakdown.js';
import { endListed, listLogins } from '../management/sessions.js';
import { disableTag, editTag, enableTag, listTags } from '../management/tags.js';
import {
  createToken,
  deleteToken,
  rollToken,
  findTokenByKey,
  getToken,
  listTokens,
  updateToken,
} from '../management/tokens.js';
import {
  adminNames,
  createUser,
  deleteUser,
  findRoot,
  findUser,
  listUsers,
  updateUser,
} from '../management/users.js';
import { openStore } from '../assembly/open-store.js';
import { storeFile } from '../config/data-files.js';
import { loadPrompts } from '../assembly/prompts.js';
import { nodesWire } from '../shapes/node.js';
import { overviewWire } from '../shapes/overview.js';
import { priceChangeWire, pricesWire } from '../shapes/price.js';
import { listPriceChanges } from '../management/price-changes.js';
import { sessionWire } from '../shapes/session.js';
import { breakdownWire } from '../shapes/stats.js';
import { discoveredWire } from '../shapes/discovered.js';
import type { Backend, ChannelChanged, Enforced } from './backend.js';
import { UsageError } from '../cli/errors.js';

/** Somebody is waiting for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The store that the settings name, whether or not a gateway runs on it. Whoever sits here may do everything. */
export async function openStoreBackend(
  sources: ConfigSources,
  user: string,
  now: () => number,
  onWaiting: (why: string) => void,
): Promise<Backend> {
  const config = loadGroups(sources, ['store', 'gateway', 'log']);
  const store = await openStore(config.store, { connectTimeoutMs: CONNECT_TIMEOUT_MS, onWaiting });
  const { allowPrivateUpstreams, allowMetadataUpstreams, stalenessMs } = config.gateway;
  const deps = { store, now, randomBytes, allowPrivateUpstreams, allowMetadataUpstreams };
  const stats = { store, now, statsDays: config.log.statsDays };
  // Read when it is needed: a mistake in these settings is nothing to the other commands.
  const mailing = (): ResetMailDeps => {
    const { accounts, server, mail } = loadGroups(sources, ['accounts', 'server', 'mail']);
    const outboxDir = mail.outboxDir ?? join(config.store.dataDir, 'outbox');
    const sendMail = createSendMail({ ...mail, outboxDir });
    return { store, now, randomBytes, accounts, publicUrl: server.publicUrl, sendMail };
  };
  const actor: Actor = { id: undefined, name: `cli:${user}`, role: 100, address: undefined };

  const enforced = async <T extends { readonly version: number }>(
    write: T,
  ): Promise<T & Enforced> => ({
    ...write,
    inForce: await awaitInForce({ store, now }, write.version, stalenessMs),
  });
  /** Root: examples belong to accounts. */
  const owner = async (): Promise<Actor & { readonly id: number }> => {
    const root = await findRoot(deps);
    return { ...actor, id: root?.id ?? 0 };
  };
  const channelNames = async (): Promise<ReadonlyMap<number, string>> => {
    const { channels } = await store.loadChannels();
    return new Map(channels.map(({ id, name }) => [id, name]));
  };
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
    rollKey: (id, keepOldMs) => rollToken(deps, id, keepOldMs, actor),
    deleteKey: (id) => deleteToken(deps, id, actor),

    listChannels: (filter) => listChannels(deps, filter),
    getChannel: (id) => getChannel(deps, id),
    createChannel: (draft) => changed(createChannel(deps, draft, actor)),
    updateChannel: (id, edit) => changed(updateChannel(deps, id, edit, actor)),
    copyChannel: (id, given) => changed(copyChannel(deps, id, given, actor)),
    deleteChannel: async (id) => enforced({ version: await deleteChannel(deps, id, actor) }),
    async testChannel(id, model) {
      const { maxReplyBytes, attemptTimeoutMs } = config.gateway;
      const judgeAddress = judgeUpstreamAddress(config.gateway);
      const upstream = new Upstream({ maxReplyBytes, judgeAddress });
      const neural = new LlamaEngine({ load: loadLlama });
      const tools = { vectors: undefined, prompts: loadPrompts(config.gateway.promptsDir) };
      const declared = { get: (name: string) => loadCredentials(sources, name) };
      const probe = createProbe({ upstream, neural, tools, declared, now, attemptTimeoutMs });
      try {
        return await testChannel({ ...deps, probe }, id, model, actor);
      } finally {
        await upstream.close();
        await neural.close();
      }
    },

    async listUpstreamModels(id) {
      const judgeAddress = judgeUpstreamAddress(config.gateway);
      const upstream = new Upstream({ maxReplyBytes: config.gateway.maxReplyBytes, judgeAddress });
      const declared = { get: (name: string) => loadCredentials(sources, name) };
      try {
        const list = createListUpstreamModels({ upstream, declared });
        return await listUpstreamModels({ ...deps, listUpstreamModels: list }, id);
      } finally {
        await upstream.close();
      }
    },

    async probeAddress(server) {
      const judgeAddress = judgeUpstreamAddress(config.gateway);
      const upstream = new Upstream({ maxReplyBytes: config.gateway.maxReplyBytes, judgeAddress });
      const neural = new LlamaEngine({ load: loadLlama });
      const tools = { vectors: undefined, prompts: loadPrompts(config.gateway.promptsDir) };
      const discover = createDiscover({ upstream, neural, tools, now });
      try {
        return discoveredWire(await probeAddress({ ...deps, discover }, server, actor));
      } finally {
        await upstream.close();
        await neural.close();
      }
    },

    explain: () =>
      Promise.reject(
        new UsageError(
          'Only a running gateway knows what is cooling down and what is busy; its store does not: log in, or give --url and --access-token.',
        ),
      ),

    listTags: () => listTags(deps),
    switchChannels: async (ids, enabled) =>
      enforced(await switchChannels(deps, ids, enabled, actor)),
    retagChannels: async (ids, tag) => enforced(await editChannels(deps, ids, { tag }, actor)),

    async listExamples() {
      const root = await owner();
      return (await listExamples(deps, root)).map(exampleWire(root.id));
    },
    async saveExample(draft) {
      const root = await owner();
      const keepsExamples = loadGroups(sources, ['console']).console.examples;
      return exampleWire(root.id)(await saveExample({ ...deps, keepsExamples }, draft, root));
    },
    async getExample(id) {
      const root = await owner();
      const { example, content } = await getExample(deps, id, root);
      return { ...exampleWire(root.id)(example), content };
    },
    deleteExample: async (id) => deleteExample(deps, id, await owner()),

    async getRequest(requestId) {
      const request = newest(await store.findRequest(requestId));
      if (request === undefined) throw await noRequest(store, requestId);
      const { userId } = request.entry;
      const user = userId === undefined ? undefined : await store.getUser(userId, now());
      const names = await channelNames();
      return requestWire(request, user?.username, (id) => names.get(id));
    },
    async listRequests(wanted, slice) {
      const { items, total } = await listRequests(store, wanted, slice);
      const names = await channelNames();
      return { items: items.map((found) => listedWire(found, (id) => names.get(id))), total };
    },

    disableTag: async (tag, reason) => enforced(await disableTag(deps, tag, reason, actor)),
    enableTag: async (tag) => enforced(await enableTag(deps, tag, actor)),

    async renameTag(tag, name) {
      return enforced(await editTag(deps, tag, { tag: name }, actor));
    },

    listPriceChanges: async (span) => (await listPriceChanges(store, span)).map(priceChangeWire),
    listPrices: () => Promise.resolve(pricesWire(loadGroups(sources, ['prices']).prices)),
    listLogins: async (userId) => (await listLogins(deps, userId)).map(sessionWire),
    endLogin: (userId, id) => endListed(deps, userId, id, actor),

    listNodes: async () => nodesWire(await listNodes(deps)),
    async getOverview(query) {
      const { models } = loadGroups(sources, ['models']);
      const { fallback, named } = models;
      const fallbacksOf = (model: string) => (own(named, model) ?? fallback).fallbacks;
      return overviewWire(await getOverview(stats, query, fallbacksOf));
    },

    defaultUser: () => findRoot(deps),
    findUser: (login) => findUser(deps, login),
    listUsers: (query) => listUsers(deps, query),
    listAdmins: () => adminNames(deps),
    createUser: (draft) => createUser(deps, draft, actor),
    inviteUser: (invitation) => inviteUser(mailing(), invitation, actor),
    mailReset: (id) => mailResetTo(mailing(), id, actor),
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
    listBatches: () => listRedemptionBatches(deps),
    disableBatch: (of) => disableRedemptionBatch(deps, of, actor),
    updateCode: (id, change) => updateRedemptionCode(deps, id, change, actor),
    deleteCode: (id) => deleteRedemptionCode(deps, id, actor),
    deleteInvalidCodes: () => deleteInvalidRedemptionCodes(deps, actor),

    listUsage: (query) => store.listUsage(query),
    usageStats: (query) => store.usageStats(query),
    usageBreakdown: async (query) => breakdownWire(await usageBreakdown(stats, query)),
    listRefused: (query) => store.listRefused(query),
    listAudit: (query) => listAudit(deps, query),

    close: () => store.close(),
  };
}
