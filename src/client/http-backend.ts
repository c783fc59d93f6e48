import { BUDGET_MEMBERS } from '../core/budget.js';
import { GatewayError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import type { LogSlice, UsageQuery, User } from '../store/store.js';
import { channelBody, CHANNEL_SORTS, readChannel } from '../shapes/channel.js';
import { readDiscovered } from '../shapes/discovered.js';
import { readExample, type ExampleContent } from '../shapes/example.js';
import { readListedRequest, readRequest, type ListedRequestWire } from '../shapes/request.js';
import { readExplained } from '../shapes/explained.js';
import { CODE_STATUS_NUMBERS, readBatch, readCode } from '../shapes/code.js';
import { readInForce } from '../shapes/in-force.js';
import { policyBody, readToken, TOKEN_SORTS } from '../shapes/key.js';
import { sortText } from '../shapes/lists.js';
import { writeMembers } from '../shapes/members.js';
import { readNodes } from '../shapes/node.js';
import { readOverview } from '../shapes/overview.js';
import { readRefused } from '../shapes/refused.js';
import { readPriceChange, readPrices } from '../shapes/price.js';
import { readSession } from '../shapes/session.js';
import { readBreakdown } from '../shapes/stats.js';
import { readSwitched, readTag } from '../shapes/tag.js';
import { readTested } from '../shapes/tested.js';
import { readUser, USER_SORTS } from '../shapes/user.js';
import { readAudit, readStats, readUsage } from '../shapes/log.js';
import { PAGE_SIZE, type ApiClient } from './api-client.js';
import type { Backend, ChannelChanged, ChannelsChanged, Enforced, TagChanged } from './backend.js';
import { present } from '../cli/values.js';

const ALL = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
const AUDITOR_ROLE = 5;

/** The management API of a running gateway, as whoever is logged in. */
export function createHttpBackend(api: ApiClient): Backend {
  let known: Promise<User> | undefined;
  const self = (): Promise<User> => (known ??= api.call('GET', '/api/user/self').then(readUser));
  const seesAll = async (): Promise<boolean> => (await self()).role >= AUDITOR_ROLE;

  /** Everybody's requests for admins, one's own for others; a filter for admins that makes no difference is dropped. */
  async function usagePath(query: Omit<UsageQuery, keyof LogSlice>): Promise<{
    readonly path: string;
    readonly query: Record<string, string | number | undefined>;
  }> {
    const { userId, tokenId, tokenName, model, channelId, outcome, failed } = query;
    const { provider, tag, minDurationMs, requestId } = query;
    const filter = {
      ...{ token_id: tokenId, token_name: tokenName, model },
      outcome: failed === true ? 'failed' : outcome,
      ...{ min_duration_ms: minDurationMs, request_id: requestId },
      start_timestamp: query.fromMs === undefined ? undefined : Math.floor(query.fromMs / 1000),
      end_timestamp: query.toMs === undefined ? undefined : Math.floor(query.toMs / 1000),
    };
    if (await seesAll()) {
      return {
        path: '/api/log',
        query: { ...filter, user_id: userId, channel_id: channelId, provider, tag },
      };
    }
    const isForeign = [channelId, provider, tag].some((wanted) => wanted !== undefined);
    if (isForeign || (userId !== undefined && userId !== (await self()).id)) {
      throw onlyOwn('requests');
    }
    return { path: '/api/log/self', query: filter };
  }

  const loginsPath = async (userId: number): Promise<string> =>
    userId === (await self()).id ? '/api/user/session' : `/api/user/${userId}/session`;

  const putChannel = async (body: object): Promise<ChannelChanged> =>
    readChannelChanged(await api.call('PUT', '/api/channel', { body }));

  return {
    place: api.url,

    async createKey({ userId, name, enabled, expiredTime, remainQuota, unlimitedQuota, policy }) {
      const other = userId === (await self()).id ? undefined : userId;
      const body = {
        ...present({ user_id: other, name, expired_time: expiredTime, remain_quota: remainQuota }),
        ...present({ unlimited_quota: unlimitedQuota }),
        ...(enabled === false ? { status: 2 } : {}),
        ...policyBody(policy ?? {}),
      };
      const created = await api.call('POST', '/api/token', { body });
      return { token: readToken(created), key: created.field('key').string() };
    },
    getKey: async (id) => readToken(await api.call('GET', `/api/token/${id}`)),
    // In the body, since addresses are written to logs.
    findKey: (key) =>
      api.call('POST', '/api/token/find', { body: { key } }).then(readToken, unlessUnknown),
    listKeys: ({ offset, limit, userId, name, expiresBefore, unusedSince, order, ...filter }) =>
      api.list(
        '/api/token/search',
        {
          ...{ user_id: userId, keyword: name, ...filter },
          ...{ expires_before: expiresBefore, unused_since: unusedSince },
          sort: order && sortText(TOKEN_SORTS, order),
        },
        { offset, limit },
        readToken,
      ),
    async updateKey(id, { name, enabled, expiredTime, unlimitedQuota, quota, policy }) {
      const body = {
        id,
        ...present({ name, expired_time: expiredTime, unlimited_quota: unlimitedQuota }),
        ...statusBody(enabled),
        ...(quota === undefined
          ? {}
          : 'set' in quota
            ? { remain_quota: quota.set }
            : { add_quota: quota.add }),
        ...policyBody(policy ?? {}),
      };
      return readToken(await api.call('PUT', '/api/token', { body }));
    },
    async rollKey(id, keepOldMs) {
      const body = { keep_old_s: Math.ceil(keepOldMs / 1_000) };
      const rolled = await api.call('POST', `/api/token/${id}/roll`, { body });
      return { token: readToken(rolled), key: rolled.field('key').string() };
    },
    async deleteKey(id) {
      await api.call('DELETE', `/api/token/${id}`);
    },

    async listChannels({ order, ...filter } = {}) {
      const query = { ...filter, sort: order && sortText(CHANNEL_SORTS, order) };
      return (await api.list('/api/channel/search', query, ALL, readChannel)).items;
    },
    getChannel: async (id) => readChannel(await api.call('GET', `/api/channel/${id}`)),
    createChannel: async (draft) =>
      readChannelChanged(await api.call('POST', '/api/channel', { body: channelBody(draft) })),
    updateChannel: (id, edit) => putChannel({ id, ...channelBody(edit) }),
    copyChannel: async (id, given) =>
      readChannelChanged(await api.call('POST', `/api/channel/copy/${id}`, { body: given })),
    deleteChannel: async (id) => readEnforced(await api.call('DELETE', `/api/channel/${id}`)),
    listUpstreamModels: async (id) =>
      (await api.call('GET', `/api/channel/${id}/upstream-models`)).map((name) => name.string()),
    testChannel: async (id, model) =>
      readTested(await api.call('POST', `/api/channel/test/${id}`, { body: present({ model }) })),

    async renameTag(tag, name) {
      const edited = await api.call('PUT', '/api/channel/tag', { body: { tag, new_tag: name } });
      return readMany(edited);
    },

    async switchChannels(ids, enabled) {
      const body = { ids, status: enabled ? 1 : 2 };
      return readMany(await api.call('POST', '/api/channel/batch/status', { body }));
    },
    async retagChannels(ids, tag) {
      const body = { ids, tag: tag ?? null };
      return readMany(await api.call('POST', '/api/channel/batch/tag', { body }));
    },

    listExamples: async () => (await api.call('GET', '/api/playground/example')).map(readExample),
    saveExample: async (body) =>
      readExample(await api.call('POST', '/api/playground/example', { body })),
    async getExample(id) {
      const example = await api.call('GET', `/api/playground/example/${id}`);
      // An object, as the OpenAPI document says.
      const content = example.field('content').value as ExampleContent;
      return { ...readExample(example), content };
    },
    async deleteExample(id) {
      await api.call('DELETE', `/api/playground/example/${id}`);
    },
    async getRequest(requestId) {
      const log = (await seesAll()) ? '/api/log' : '/api/log/self';
      return readRequest(await api.call('GET', `${log}/request/${encodeURIComponent(requestId)}`));
    },

    async listRequests({ kind, address, ...wanted }, { limit, before }) {
      const { path, query } = await usagePath(wanted);
      if (address !== undefined && !(await seesAll())) throw onlyOwn('requests');
      const items: ListedRequestWire[] = [];
      let total: number | undefined;
      for (;;) {
        const part = {
          ...{ kind, address, before: items.at(-1)?.id ?? before },
          page_size: Math.min(limit - items.length, PAGE_SIZE),
        };
        const page = await api.call('GET', `${path}/request`, { query: { ...query, ...part } });
        const found = page.field('items').map(readListedRequest);
        items.push(...found);
        total ??= page.field('total').number();
        // What was counted on the first page may be dropped before it is read.
        if (found.length === 0 || items.length >= Math.min(limit, total)) return { items, total };
      }
    },

    listPrices: async () => readPrices(await api.call('GET', '/api/price')),
    async listPriceChanges({ fromMs, toMs }) {
      const query = {
        start_timestamp: fromMs === undefined ? undefined : Math.floor(fromMs / 1000),
        end_timestamp: toMs === undefined ? undefined : Math.floor(toMs / 1000),
      };
      return (await api.call('GET', '/api/price/change', { query })).map(readPriceChange);
    },
    async listLogins(userId) {
      const path = await loginsPath(userId);
      return (await api.call('GET', path)).map(readSession);
    },
    async endLogin(userId, id) {
      await api.call('DELETE', `${await loginsPath(userId)}/${encodeURIComponent(id)}`);
    },

    listNodes: async () => readNodes(await api.call('GET', '/api/node')),
    async getOverview({ fromMs, toMs, dayFromMs }) {
      const query = {
        start_timestamp: Math.floor(fromMs / 1_000),
        end_timestamp: Math.floor(toMs / 1_000),
        day_timestamp: Math.floor(dayFromMs / 1_000),
      };
      return readOverview(await api.call('GET', '/api/overview', { query }));
    },
    probeAddress: async ({ baseUrl, credentials, settings, model }) => {
      const body = { base_url: baseUrl, credentials, settings, ...present({ model }) };
      return readDiscovered(await api.call('POST', '/api/channel/probe', { body }));
    },

    async explain({ tokenId, documentCount, ...asked }) {
      const body = { ...asked, ...present({ token_id: tokenId, document_count: documentCount }) };
      return readExplained(await api.call('POST', '/api/route/explain', { body }));
    },

    listTags: async () => (await api.call('GET', '/api/channel/tag')).map(readTag),
    disableTag: async (tag, reason) =>
      readTagChanged(
        await api.call('POST', '/api/channel/tag/disabled', {
          body: { tag, ...present({ reason }) },
        }),
      ),
    enableTag: async (tag) =>
      readTagChanged(await api.call('POST', '/api/channel/tag/enabled', { body: { tag } })),

    defaultUser: self,
    async findUser(login) {
      const me = await self();
      if (isCalled(me, login)) return me;
      const { items } = await api.list('/api/user/search', { keyword: login }, ALL, readUser);
      return items.find((user) => isCalled(user, login));
    },
    listUsers: ({ offset, limit, keyword, role, enabled, order }) =>
      api.list(
        '/api/user/search',
        { keyword, role, ...statusBody(enabled), sort: order && sortText(USER_SORTS, order) },
        { offset, limit },
        readUser,
      ),
    listAdmins: async () =>
      (await api.call('GET', '/api/user/admins')).map((name) => name.string()),
    async createUser({ username, password, email, displayName, role, enabled, quota, ...others }) {
      const body = {
        ...{ username, password },
        ...present({ email, display_name: displayName, role, quota }),
        ...statusBody(enabled),
        ...writeMembers(BUDGET_MEMBERS, others),
      };
      return readUser(await api.call('POST', '/api/user', { body }));
    },
    async inviteUser({ username, email, displayName, role, quota, ...others }) {
      const body = {
        ...{ username, email },
        ...present({ display_name: displayName, role, quota }),
        ...writeMembers(BUDGET_MEMBERS, others),
      };
      return readUser(await api.call('POST', '/api/user/invite', { body }));
    },
    async mailReset(id) {
      await api.call('POST', `/api/user/${id}/reset-mail`, { body: {} });
    },
    async updateUser(id, edit) {
      const { username, email, displayName, password, role, enabled, quota } = edit;
      const body = {
        id,
        ...present({ username, password, display_name: displayName, role }),
        ...(email === undefined ? {} : { email: email ?? '' }),
        ...statusBody(enabled),
        ...(quota === undefined
          ? {}
          : 'set' in quota
            ? { quota: quota.set }
            : { add_quota: quota.add }),
        ...writeMembers(BUDGET_MEMBERS, edit),
      };
      return readUser(await api.call('PUT', '/api/user', { body }));
    },
    async deleteUser(id) {
      await api.call('DELETE', `/api/user/${id}`);
    },
    async usernames(ids) {
      const me = await self();
      const others = [...new Set(ids)].filter((id) => id !== me.id);
      // Only admins see keys of others, so only they ask for accounts here.
      const users = await Promise.all(
        others.map((id) => api.call('GET', `/api/user/${id}`).then(readUser, unlessUnknown)),
      );
      return new Map(
        [me, ...users].flatMap((user) => (user === undefined ? [] : [[user.id, user.username]])),
      );
    },

    async createCodes({ name, quota, count, expiredTime }) {
      const body = { name, quota, count, expired_time: expiredTime };
      return (await api.call('POST', '/api/redemption', { body })).map((code) => code.string());
    },
    getCode: async (id) => readCode(await api.call('GET', `/api/redemption/${id}`)),
    listCodes: ({ offset, limit, keyword, name, batchId, status }) =>
      api.list(
        '/api/redemption/search',
        {
          ...{ keyword, name, batch_id: batchId },
          status: status === undefined ? undefined : CODE_STATUS_NUMBERS[status],
        },
        { offset, limit },
        readCode,
      ),
    listBatches: async () => (await api.call('GET', '/api/redemption/batch')).map(readBatch),
    async disableBatch(of) {
      const body = 'name' in of ? of : { batch_id: of.batchId };
      return (await api.call('POST', '/api/redemption/batch/disabled', { body })).number();
    },
    async updateCode(id, { name, quota, expiredTime, enabled }) {
      const body = {
        id,
        ...present({ name, quota, expired_time: expiredTime }),
        ...statusBody(enabled),
      };
      return readCode(await api.call('PUT', '/api/redemption', { body }));
    },
    async deleteCode(id) {
      await api.call('DELETE', `/api/redemption/${id}`);
    },
    deleteInvalidCodes: async () => (await api.call('DELETE', '/api/redemption/invalid')).number(),

    async listUsage({ offset, limit, ...wanted }) {
      const { path, query } = await usagePath(wanted);
      const { id } = await self();
      return api.list(path, query, { offset, limit }, (item) => readUsage(item, id));
    },
    async listRefused({ offset, limit, address, ...wanted }) {
      const { path, query } = await usagePath(wanted);
      const { id } = await self();
      return api.list(`${path}/refused`, { ...query, address }, { offset, limit }, (item) =>
        readRefused(item, id),
      );
    },
    async usageStats(wanted) {
      const { path, query } = await usagePath(wanted);
      return readStats(await api.call('GET', `${path}/stat`, { query }));
    },
    async usageBreakdown({ by: [by, then], fromMs, toMs, owner }) {
      const { id } = await self();
      const isOwn = !(await seesAll());
      if (isOwn && owner !== undefined && owner !== id) {
        throw onlyOwn('spending');
      }
      const path = isOwn ? '/api/stats/self/breakdown' : '/api/stats/breakdown';
      const query = {
        ...{ by: isOwn && by === 'user' ? undefined : by, then },
        user_id: isOwn ? undefined : owner,
        start_timestamp: Math.floor(fromMs / 1_000),
        end_timestamp: Math.floor(toMs / 1_000),
      };
      return readBreakdown(await api.call('GET', path, { query }));
    },
    listAudit: ({ offset, limit, actorId, action, target, fromMs, toMs }) =>
      api.list(
        '/api/audit',
        {
          ...{ actor_id: actorId, action, target },
          start_timestamp: fromMs === undefined ? undefined : Math.floor(fromMs / 1000),
          end_timestamp: toMs === undefined ? undefined : Math.floor(toMs / 1000),
        },
        { offset, limit },
        readAudit,
      ),

    close: () => Promise.resolve(),
  };
}

/** What does not exist is nothing; every other failure is thrown. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof GatewayError && error.code === 'not_found') return undefined;
  throw error;
}

function onlyOwn(what: string): GatewayError {
  return new GatewayError('permission_denied', `Your account may only see its own ${what}.`);
}

function isCalled({ id, username, email }: User, login: string): boolean {
  const wanted = login.toLowerCase();
  return (
    username.toLowerCase() === wanted || email?.toLowerCase() === wanted || String(id) === login
  );
}

function statusBody(enabled: boolean | undefined): { readonly status?: 1 | 2 } {
  return enabled === undefined ? {} : { status: enabled ? 1 : 2 };
}

function readEnforced(reply: Json): Enforced {
  return {
    version: reply.field('version').number(),
    inForce: readInForce(reply),
  };
}

function readMany(reply: Json): ChannelsChanged {
  return { ids: reply.field('ids').map((id) => id.number()), ...readEnforced(reply) };
}

function readChannelChanged(reply: Json): ChannelChanged {
  return { channel: readChannel(reply), ...readEnforced(reply) };
}

function readTagChanged(reply: Json): TagChanged {
  return { ...readSwitched(reply), ...readEnforced(reply) };
}
