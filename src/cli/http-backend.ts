import type { ChannelStatus } from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import type { ProbeRanking, ProbeReport } from '../core/probe.js';
import { TOKEN_DISABLED, type Token, type TokenPolicy } from '../core/token.js';
import type { ChannelEdit, ChannelState, ChannelView } from '../management/channels.js';
import type { InForce } from '../management/in-force.js';
import type { TagView } from '../management/tags.js';
import { findProvider } from '../providers/index.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import type {
  AuditEntry,
  RedemptionCode,
  Role,
  UsageEntry,
  UsageQuery,
  User,
} from '../store/store.js';
import type { ApiClient } from './api-client.js';
import type { Backend, ChannelChanged, Enforced, TagChanged } from './backend.js';
import { nameIn, present } from './values.js';

const ALL = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
const ADMIN_ROLE = 10;
const CODE_STATUS = ['enabled', 'disabled', 'used'] as const;

/** The management API of a gateway that runs, as whoever is logged in. */
export function createHttpBackend(api: ApiClient): Backend {
  let known: Promise<User> | undefined;
  const self = (): Promise<User> => (known ??= api.call('GET', '/api/user/self').then(readUser));
  const isAdmin = async (): Promise<boolean> => (await self()).role >= ADMIN_ROLE;

  /** Of everybody for admins, else of oneself; what only admins may ask is dropped where it says the same. */
  async function usagePath(query: Omit<UsageQuery, 'offset' | 'limit'>): Promise<{
    readonly path: string;
    readonly query: Record<string, string | number | undefined>;
  }> {
    const { userId, tokenId, tokenName, model, channelId, outcome } = query;
    const filter = {
      ...{ token_id: tokenId, token_name: tokenName, model, outcome },
      start_timestamp: query.fromMs === undefined ? undefined : Math.floor(query.fromMs / 1000),
      end_timestamp: query.toMs === undefined ? undefined : Math.floor(query.toMs / 1000),
    };
    if (await isAdmin()) {
      return { path: '/api/log', query: { ...filter, user_id: userId, channel_id: channelId } };
    }
    if (channelId !== undefined || (userId !== undefined && userId !== (await self()).id)) {
      throw new GatewayError(
        'permission_denied',
        'Your account may look at its own requests alone.',
      );
    }
    return { path: '/api/log/self', query: filter };
  }

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
    async findKey(key) {
      const query = { token: key };
      return (await api.list('/api/token/search', query, { offset: 0, limit: 1 }, readToken))
        .items[0];
    },
    listKeys: ({ offset, limit, userId, name }) =>
      api.list(
        '/api/token/search',
        { user_id: userId, keyword: name },
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
    async deleteKey(id) {
      await api.call('DELETE', `/api/token/${id}`);
    },

    async listChannels({ tag, provider, model, keyword, live } = {}) {
      const query = { tag, provider, model, keyword, live };
      return (await api.list('/api/channel/search', query, ALL, readChannel)).items;
    },
    getChannel: async (id) => readChannel(await api.call('GET', `/api/channel/${id}`)),
    createChannel: async (draft) =>
      readChannelChanged(await api.call('POST', '/api/channel', { body: channelBody(draft) })),
    updateChannel: (id, edit) => putChannel({ id, ...channelBody(edit) }),
    copyChannel: async (id, given) =>
      readChannelChanged(await api.call('POST', `/api/channel/copy/${id}`, { body: given })),
    deleteChannel: async (id) => readEnforced(await api.call('DELETE', `/api/channel/${id}`)),
    testChannel: async (id, model) =>
      readTested(await api.call('POST', `/api/channel/test/${id}`, { body: present({ model }) })),

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
    listUsers: ({ offset, limit, keyword }) =>
      api.list('/api/user/search', { keyword }, { offset, limit }, readUser),
    async createUser({ username, password, email, displayName, role, enabled, quota }) {
      const body = {
        ...{ username, password },
        ...present({ email, display_name: displayName, role, quota }),
        ...statusBody(enabled),
      };
      return readUser(await api.call('POST', '/api/user', { body }));
    },
    async updateUser(id, { username, email, displayName, password, role, enabled, quota }) {
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
      };
      return readUser(await api.call('PUT', '/api/user', { body }));
    },
    async deleteUser(id) {
      await api.call('DELETE', `/api/user/${id}`);
    },
    async usernames(ids) {
      const me = await self();
      const others = [...new Set(ids)].filter((id) => id !== me.id);
      // Keys of others are listed for admins alone.
      const users = await Promise.all(
        others.map((id) =>
          api.call('GET', `/api/user/${id}`).then(readUser, (error: unknown) => {
            if (error instanceof GatewayError && error.code === 'not_found') return undefined;
            throw error;
          }),
        ),
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
    listCodes: ({ offset, limit, keyword }) =>
      api.list('/api/redemption/search', { keyword }, { offset, limit }, readCode),
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
    async usageStats(wanted) {
      const { path, query } = await usagePath(wanted);
      const stats = await api.call('GET', `${path}/stat`, { query });
      return {
        requests: stats.field('requests').number(),
        quota: stats.field('quota').number(),
        documents: stats.field('documents').number(),
        inputTokens: stats.field('input_tokens').number(),
      };
    },
    listAudit: ({ offset, limit, actorId, action, target, fromMs }) =>
      api.list(
        '/api/audit',
        {
          ...{ actor_id: actorId, action, target },
          start_timestamp: fromMs === undefined ? undefined : Math.floor(fromMs / 1000),
        },
        { offset, limit },
        readAudit,
      ),

    close: () => Promise.resolve(),
  };
}

/** An account as the management API shows it. */
export function readUser(user: Json): User {
  const email = user.field('email').string();
  return {
    id: user.field('id').number(),
    username: user.field('username').string(),
    email: email === '' ? undefined : email,
    displayName: user.field('display_name').string(),
    role: user.field('role').number() as Role,
    enabled: user.field('status').number() === 1,
    quota: user.field('quota').number(),
    usedQuota: user.field('used_quota').number(),
    requestCount: user.field('request_count').number(),
    createdTime: user.field('created_time').number(),
  };
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

function policyBody(policy: Partial<TokenPolicy>): object {
  const { allowIps, tags, rateLimit, maxConcurrency } = policy;
  return {
    ...present({ allow_ips: allowIps, tags, rate_limit: rateLimit }),
    ...present({ max_concurrency: maxConcurrency }),
    ...('models' in policy
      ? policy.models === undefined
        ? { model_limits_enabled: false }
        : { model_limits_enabled: true, model_limits: policy.models }
      : {}),
    ...('defaultModel' in policy ? { default_model: policy.defaultModel ?? null } : {}),
  };
}

function readToken(token: Json): Token {
  const status = token.field('status').number();
  return {
    id: token.field('id').number(),
    userId: token.field('user_id').number(),
    name: token.field('name').string(),
    keyHint: token.field('key_hint').string(),
    // Expired and exhausted follow from the other members.
    enabled: status !== TOKEN_DISABLED,
    createdTime: token.field('created_time').number(),
    accessedTime: token.field('accessed_time').number(),
    expiredTime: token.field('expired_time').number(),
    remainQuota: token.field('remain_quota').number(),
    unlimitedQuota: token.field('unlimited_quota').value === true,
    usedQuota: token.field('used_quota').number(),
    policy: {
      models:
        token.field('model_limits_enabled').value === true
          ? texts(token.field('model_limits'))
          : undefined,
      allowIps: texts(token.field('allow_ips')),
      tags: texts(token.field('tags')),
      defaultModel: token.field('default_model').optionalString(),
      rateLimit: token.field('rate_limit').number(),
      maxConcurrency: token.field('max_concurrency').number(),
    },
  };
}

function channelBody(edit: ChannelEdit): object {
  const { name, provider, models, settings, priority, weight, maxConcurrency, scores, status } =
    edit;
  return {
    ...present({ name, provider, models, settings, priority, weight, scores, status }),
    ...present({ max_concurrency: maxConcurrency }),
    ...('baseUrl' in edit ? { base_url: edit.baseUrl ?? null } : {}),
    ...('tag' in edit ? { tag: edit.tag ?? null } : {}),
    ...('timeoutMs' in edit ? { timeout_ms: edit.timeoutMs ?? null } : {}),
    ...(edit.credentials === undefined
      ? {}
      : {
          credentials: Object.fromEntries(
            Object.entries(edit.credentials).map(([key, secret]) => [
              key,
              secret?.reveal() ?? null,
            ]),
          ),
        }),
  };
}

function readChannel(channel: Json): ChannelView {
  const provider = channel.field('provider').string();
  const specs: Provider | undefined = findProvider(provider);
  const settings = Object.entries(channel.field('settings').value as Record<string, SettingValue>);
  return {
    id: channel.field('id').number(),
    name: channel.field('name').string(),
    provider,
    baseUrl: channel.field('base_url').optionalString(),
    credentialNames: texts(channel.field('credential_names')).map((name) =>
      nameIn(specs?.credentials, name),
    ),
    settings: Object.fromEntries(
      settings.map(([name, value]) => [nameIn(specs?.settings, name), value]),
    ),
    models: channel.field('models').value as Record<string, string>,
    tag: channel.field('tag').optionalString(),
    priority: channel.field('priority').number(),
    weight: channel.field('weight').number(),
    timeoutMs: channel.field('timeout_ms').optionalNumber(),
    maxConcurrency: channel.field('max_concurrency').number(),
    scores: channel.field('scores').string() as ChannelView['scores'],
    status: channel.field('status').number() as ChannelStatus,
    origin: channel.field('origin').string() as ChannelView['origin'],
    state: readState(channel.field('effective')),
  };
}

function readState(effective: Json): ChannelState {
  if (effective.field('live').value === true) return { live: true };
  const because = effective.field('because').string() as Extract<
    ChannelState,
    { live: false }
  >['because'];
  const reason = effective.field('reason').optionalString();
  switch (because) {
    case 'credentials_locked':
      return { live: false, because };
    case 'unusable':
      return { live: false, because, reason: reason ?? '' };
    case 'disabled':
    case 'auto_disabled':
    case 'tag_disabled':
      return { live: false, because, reason };
  }
}

function readEnforced(reply: Json): Enforced {
  return {
    version: reply.field('version').number(),
    inForce: reply.field('in_force').string() as InForce,
  };
}

function readChannelChanged(reply: Json): ChannelChanged {
  return { channel: readChannel(reply), ...readEnforced(reply) };
}

function readTested(tested: Json): ProbeReport {
  const usage = tested.field('usage');
  const problem = tested.maybe('problem');
  return {
    model: tested.field('model').string(),
    upstreamModel: tested.field('upstream_model').string(),
    url: tested.field('url').optionalString(),
    status: tested.field('status').optionalNumber(),
    durationMs: tested.field('latency_ms').number(),
    ranking: tested.maybe('order').isPresent()
      ? {
          order: tested.field('order').string() as ProbeRanking['order'],
          scores: tested.field('scores').value as ProbeRanking['scores'],
          scale: tested.field('score_scale').value as ProbeRanking['scale'],
        }
      : undefined,
    usage: {
      inputTokens: usage.field('input_tokens').optionalNumber(),
      searchUnits: usage.field('search_units').optionalNumber(),
    },
    problem: problem.isPresent() ? (problem.value as ProbeReport['problem']) : undefined,
    warnings: texts(tested.field('warnings')),
  };
}

function readTag(tag: Json): TagView {
  return {
    tag: tag.field('tag').string(),
    disabled: tag.field('disabled').value === true,
    reason: tag.field('reason').optionalString(),
    changedTime: tag.field('changed_time').number(),
    changedBy: tag.field('changed_by').optionalString(),
    channels: tag.field('channels').map((channel) => ({
      id: channel.field('id').number(),
      name: channel.field('name').string(),
      live: channel.field('live').value === true,
    })),
  };
}

function readTagChanged(reply: Json): TagChanged {
  return {
    tag: reply.field('tag').string(),
    disabled: reply.field('disabled').value === true,
    reason: reply.field('reason').optionalString(),
    covered: reply.field('channels').map((channel) => ({
      id: channel.field('id').number(),
      name: channel.field('name').string(),
      live: channel.field('live').value === true,
      wasLive: channel.field('was_live').value === true,
    })),
    ...readEnforced(reply),
  };
}

function readCode(code: Json): RedemptionCode {
  return {
    id: code.field('id').number(),
    name: code.field('name').string(),
    quota: code.field('quota').number(),
    status: CODE_STATUS[code.field('status').number() - 1] ?? 'disabled',
    codeHint: code.field('key_hint').string(),
    createdBy: code.field('user_id').number(),
    createdTime: code.field('created_time').number(),
    redeemedTime: code.field('redeemed_time').number(),
    usedUserId: code.field('used_user_id').number(),
    expiredTime: code.field('expired_time').number(),
  };
}

/** One's own entries do not say whose they are. */
function readUsage(entry: Json, self: number): UsageEntry {
  return {
    atMs: entry.field('created_at').number() * 1000,
    requestId: entry.field('request_id').string(),
    userId: entry.field('user_id').optionalNumber() ?? self,
    tokenId: entry.field('token_id').number(),
    tokenName: entry.field('token_name').string(),
    model: entry.field('model').string(),
    channelId: entry.field('channel_id').optionalNumber(),
    provider: entry.field('provider').optionalString(),
    tag: entry.field('tag').optionalString(),
    attempts: entry.field('attempts').number(),
    documents: entry.field('documents').number(),
    inputTokens: entry.field('input_tokens').number(),
    searchUnits: entry.field('search_units').number(),
    quota: entry.field('quota').number(),
    durationMs: entry.field('duration_ms').number(),
    outcome: entry.field('outcome').string(),
  };
}

function readAudit(entry: Json): AuditEntry {
  return {
    atMs: entry.field('created_at').number() * 1000,
    actorId: entry.field('actor_id').optionalNumber(),
    actor: entry.field('actor').string(),
    action: entry.field('action').string(),
    target: entry.field('target').string(),
    detail: entry.field('detail').value as AuditEntry['detail'],
    address: entry.field('address').optionalString(),
  };
}

function texts(list: Json): string[] {
  return list.map((item) => item.string());
}
