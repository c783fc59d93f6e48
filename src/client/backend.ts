import type { Token } from '../core/token.js';
import type { ChannelStatus } from '../core/channel.js';
import type { UnknownServer } from '../core/discovery.js';
import type { ProbeReport } from '../core/probe.js';
import type { ChannelDraft, ChannelEdit } from '../management/channel-edits.js';
import type { ChannelFilter, ChannelView } from '../management/channel-views.js';
import type { InForce } from '../management/in-force.js';
import type { BatchOf, RedemptionDraft, ShownCode } from '../management/redemption-codes.js';
import type { OverviewQuery } from '../management/overview.js';
import type { RequestFilter, RequestSlice } from '../management/requests.js';
import type { BreakdownQuery } from '../management/usage-breakdown.js';
import type { TagView, TagWrite } from '../management/tags.js';
import type { CreatedToken, TokenDraft } from '../management/tokens.js';
import type { Invitation } from '../management/password-reset.js';
import type { UserDraft, UserEdit } from '../management/users.js';
import type {
  AuditEntry,
  CodeBatch,
  Logged,
  LogSlice,
  AuditQuery,
  Page,
  RedemptionChange,
  RedemptionCode,
  RedemptionQuery,
  RefusedEntry,
  RefusedQuery,
  TokenChange,
  TokenQuery,
  UsageEntry,
  UsageQuery,
  UsageStats,
  User,
  UserQuery,
} from '../store/store.js';
import type { NodesWire } from '../shapes/node.js';
import type { OverviewWire } from '../shapes/overview.js';
import type { PriceChangeWire, PricesWire } from '../shapes/price.js';
import type { ExampleDraft } from '../management/examples.js';
import type { ExampleContent, ExampleWire } from '../shapes/example.js';
import type { ListedRequestWire, RequestWire } from '../shapes/request.js';
import type { SessionWire } from '../shapes/session.js';
import type { BreakdownWire } from '../shapes/stats.js';
import type { DiscoveredWire } from '../shapes/discovered.js';
import type { ExplainedWire } from '../shapes/explained.js';

/** A request that is asked about. */
export interface ExplainQuery {
  readonly model?: string;
  readonly tag?: string;
  /** The key that asks; without it, one that may do everything. */
  readonly tokenId?: number;
  readonly query?: string;
  readonly documents?: readonly string[];
  readonly documentCount?: number;
}

export interface PriceSpan {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** How a change of channels or tags came into force. */
export interface Enforced {
  readonly version: number;
  readonly inForce: InForce;
}

/** Several channels that were changed in one write. */
export type ChannelsChanged = Enforced & { readonly ids: readonly number[] };
export type ChannelChanged = Enforced & { readonly channel: ChannelView };
export type TagChanged = Enforced & TagWrite;

/**
 * What the commands work on: the store of a gateway, or its management API. Both refuse with `GatewayError`, so each
 * command is written only once. Writes of channels and tags resolve when they are in force.
 */
export interface Backend {
  /** Where the data is, for people; no secrets. */
  readonly place: string;

  createKey(draft: TokenDraft): Promise<CreatedToken>;
  getKey(id: number): Promise<Token>;
  findKey(key: string): Promise<Token | undefined>;
  listKeys(query: Omit<TokenQuery, 'keyHash'>): Promise<Page<Token>>;
  updateKey(id: number, change: TokenChange): Promise<Token>;
  /** The same key with another secret; the old one still works for `keepOldMs`. */
  rollKey(id: number, keepOldMs: number): Promise<CreatedToken>;
  deleteKey(id: number): Promise<void>;

  listChannels(filter?: ChannelFilter): Promise<readonly ChannelView[]>;
  getChannel(id: number): Promise<ChannelView>;
  createChannel(draft: ChannelDraft): Promise<ChannelChanged>;
  updateChannel(id: number, edit: ChannelEdit): Promise<ChannelChanged>;
  copyChannel(
    id: number,
    given: { readonly name?: string; readonly status?: ChannelStatus },
  ): Promise<ChannelChanged>;
  deleteChannel(id: number): Promise<Enforced>;
  /** Sends it a real request, whether it is switched on or not; for its first model if none is named. */
  testChannel(id: number, model: string | undefined): Promise<ProbeReport>;
  /** The models that its server lists, by its own names. */
  listUpstreamModels(id: number): Promise<readonly string[]>;

  /** Finds out what an unknown server speaks. */
  probeAddress(server: UnknownServer): Promise<DiscoveredWire>;
  /** Where a request would go now; only a running gateway knows. */
  explain(query: ExplainQuery): Promise<ExplainedWire>;

  /** Switches channels in one write; `ids` are those that were not so already. */
  switchChannels(ids: readonly number[], enabled: boolean): Promise<ChannelsChanged>;
  /** Gives channels this tag, or none, in one write. */
  retagChannels(ids: readonly number[], tag: string | undefined): Promise<ChannelsChanged>;

  listTags(): Promise<readonly TagView[]>;
  disableTag(tag: string, reason: string | undefined): Promise<TagChanged>;
  enableTag(tag: string): Promise<TagChanged>;

  /** Gives another name to a tag on all of its channels. */
  renameTag(tag: string, name: string): Promise<ChannelsChanged>;

  listNodes(): Promise<NodesWire>;
  getOverview(query: OverviewQuery): Promise<OverviewWire>;
  listPrices(): Promise<PricesWire>;
  /** When prices changed within a span, oldest first. */
  listPriceChanges(span: PriceSpan): Promise<readonly PriceChangeWire[]>;

  /** What an account is logged in with. */
  listLogins(userId: number): Promise<readonly SessionWire[]>;
  endLogin(userId: number, id: string): Promise<void>;

  /** The owner of new keys if nobody is named: root on the store, otherwise whoever is logged in. */
  defaultUser(): Promise<User | undefined>;
  /** By id, name or address. */
  findUser(login: string): Promise<User | undefined>;
  listUsers(query: UserQuery): Promise<Page<User>>;
  /** Whom to ask for what only admins may do. */
  listAdmins(): Promise<readonly string[]>;
  createUser(draft: UserDraft): Promise<User>;
  /** Makes an account, and mails its owner a code to set a password. */
  inviteUser(invitation: Invitation): Promise<User>;
  /** Mails the owner of an account a code to set a new password. */
  mailReset(id: number): Promise<void>;
  updateUser(id: number, edit: UserEdit): Promise<User>;
  deleteUser(id: number): Promise<void>;
  /** Names by id, of the accounts that the user may see. */
  usernames(ids: Iterable<number>): Promise<ReadonlyMap<number, string>>;

  /** The codes themselves, which are not shown again. */
  createCodes(draft: RedemptionDraft): Promise<readonly string[]>;
  getCode(id: number): Promise<ShownCode>;
  listCodes(query: RedemptionQuery): Promise<Page<ShownCode>>;
  /** Codes added up by batch. */
  listBatches(): Promise<readonly CodeBatch[]>;
  /** Disables the unused codes of a batch; resolves to how many. */
  disableBatch(of: BatchOf): Promise<number>;
  updateCode(id: number, change: RedemptionChange): Promise<RedemptionCode>;
  deleteCode(id: number): Promise<void>;
  /** Deletes the used, disabled and expired ones; resolves to how many. */
  deleteInvalidCodes(): Promise<number>;

  /** Inputs of the playground that are kept: one's own, or root's on the store, and shared ones. */
  listExamples(): Promise<readonly ExampleWire[]>;
  saveExample(draft: ExampleDraft): Promise<ExampleWire>;
  getExample(id: number): Promise<ExampleWire & { readonly content: ExampleContent }>;
  deleteExample(id: number): Promise<void>;

  /** One request by its id, from whichever log has it. */
  getRequest(requestId: string): Promise<RequestWire>;
  /** Admitted and refused requests as one list, newest first; users see neither channels nor addresses. */
  listRequests(wanted: RequestFilter, slice: RequestSlice): Promise<Page<ListedRequestWire>>;
  listUsage(query: UsageQuery): Promise<Page<Logged<UsageEntry>>>;
  usageStats(query: Omit<UsageQuery, keyof LogSlice | 'requestId'>): Promise<UsageStats>;
  usageBreakdown(query: BreakdownQuery): Promise<BreakdownWire>;
  /** Requests that were answered without being admitted. */
  listRefused(query: RefusedQuery): Promise<Page<Logged<RefusedEntry>>>;
  listAudit(query: AuditQuery): Promise<Page<Logged<AuditEntry>>>;

  close(): Promise<void>;
}
