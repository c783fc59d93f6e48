import { effectiveStatus, type Channel } from '../../core/channel.js';
import type { LimitName } from '../../core/channel-members.js';
import { dollars } from '../../core/quota.js';
import type { Room } from '../../core/eligibility.js';
import type { ExplainedChannel, PassedOver } from '../../core/explanation.js';
import { outageText } from '../../core/outage.js';
import type { RerankRequest } from '../../core/rerank.js';
import type { TokenPolicy } from '../../core/token.js';
import type { ChannelSnapshot, Store } from '../../store/store.js';
import type { Obstacle } from '../channels/obstacles.js';
import type { HealthReport } from '../channels/state.js';
import type { Offer } from '../rank.js';
import type { Target } from '../target.js';

export interface PassedOverDeps {
  readonly store: Pick<Store, 'listAudit'>;
  readonly healthOf: (channelId: number) => HealthReport;
}

interface PassedOverAsk {
  readonly request: RerankRequest;
  readonly policy: TokenPolicy;
}

/** How many changes of one channel are searched for the one that switched it off. */
const AUDIT_ENTRIES = 50;

/** How an explanation identifies a channel. */
export function channelOf({ id, name, provider, tag }: Channel): ExplainedChannel {
  return { id, name, provider, tag };
}

export function passed(
  channel: Channel,
  because: PassedOver['because'],
  message: string,
  more: Pick<PassedOver, 'by' | 'since' | 'untilMs'> = {},
): PassedOver {
  return { ...channelOf(channel), because, message, ...more };
}

const MOST_MODELS = 5;

export function servesOthers(channel: Channel): PassedOver {
  const models = Object.keys(channel.models);
  const more = models.length > MOST_MODELS ? ` and ${models.length - MOST_MODELS} more` : '';
  const list = models.slice(0, MOST_MODELS).join(', ');
  return passed(channel, 'other_models', `It serves ${list}${more}.`);
}

/** Why an offer is passed over, with whatever is known about who did it, when, and until when. */
export async function passedOverBy(
  deps: PassedOverDeps,
  ask: PassedOverAsk,
  target: Target,
  snapshot: ChannelSnapshot,
  offer: Offer,
  obstacle: Obstacle,
): Promise<PassedOver> {
  const { channel } = offer.route;
  switch (obstacle.kind) {
    case 'switched_off':
      return switchedOff(deps, snapshot, channel);
    case 'tag':
      return wrongTag(channel, target, ask.policy);
    case 'misfit':
      return misfitting(channel, offer.room, obstacle.misfit.limit, ask.request);
    case 'busy':
      return busy(deps, channel, obstacle.availability);
  }
}

async function switchedOff(
  { store }: PassedOverDeps,
  snapshot: ChannelSnapshot,
  channel: Channel,
): Promise<PassedOver> {
  const switches = new Map(snapshot.switches.map((entry) => [entry.tag, entry]));
  // The table may lag a moment behind the store.
  const status = effectiveStatus(channel, switches);
  const because = status.live ? 'disabled' : status.because;
  if (because === 'tag_disabled') {
    const { tag = '', reason, changedBy, changedTime } = switches.get(channel.tag ?? '') ?? {};
    const who = changedBy === undefined ? '' : ` by ${changedBy}`;
    const when = changedTime === undefined ? '' : ` at ${at(changedTime * 1000)}`;
    const message = `Its tag "${tag}" was switched off${who}${when}${told(reason)}`;
    return passed(channel, because, message, { by: changedBy, since: changedTime });
  }
  const { outage } = channel;
  if (outage !== undefined) {
    const message = `It was disabled automatically at ${at(outage.sinceMs)}: ${outageText(outage)}`;
    const since = Math.floor(outage.sinceMs / 1000);
    return passed(channel, 'auto_disabled', message, { by: 'gateway', since });
  }
  const { items } = await store.listAudit({
    target: `channel:${channel.id}`,
    offset: 0,
    limit: AUDIT_ENTRIES,
  });
  const change = items.find(({ detail }) => detail.status === channel.status);
  if (change === undefined) return passed(channel, because, 'It is disabled.');
  const since = Math.floor(change.atMs / 1000);
  const reason = typeof change.detail.reason === 'string' ? change.detail.reason : undefined;
  const message = `It was disabled by ${change.actor} at ${at(change.atMs)}${told(reason)}`;
  return passed(channel, because, message, { by: change.actor, since });
}

function told(reason: string | undefined): string {
  return reason === undefined || reason === '' ? '.' : `: ${reason}`;
}

function wrongTag(channel: Channel, { tag }: Target, { tags }: TokenPolicy): PassedOver {
  const own = channel.tag === undefined ? 'it has none' : `its tag is "${channel.tag}"`;
  return tag !== undefined && channel.tag !== tag
    ? passed(channel, 'request_tag', `The request asks for tag "${tag}", and ${own}.`)
    : passed(channel, 'key_tags', `The key is bound to ${tags.join(', ')}, and ${own}.`);
}

function misfitting(
  channel: Channel,
  room: Room,
  limit: string,
  { query, documents }: RerankRequest,
): PassedOver {
  if (limit === 'images') return passed(channel, 'no_images', 'It does not take images.');
  if (limit === 'documents') {
    const most = documents.images !== 'none' ? room.documentsWithImages : room.documents;
    const message = `It takes ${most ?? 0} documents at most; the request has ${documents.count}.`;
    return passed(channel, 'too_many_documents', message);
  }
  const lengths = Array.from(
    { length: documents.count },
    (_, index) => documents.text(index).length,
  );
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const total = lengths.reduce((sum, length) => sum + length, query.length);
  const limits = [
    bound('a query', room.queryCharacters, query.length),
    bound('a document', room.documentCharacters, longest),
    bound('a request', room.requestCharacters, total),
  ].filter((text) => text !== undefined);
  const message =
    limits.length === 0 ? 'The texts are too long for it.' : `It takes ${limits.join(', ')}.`;
  return passed(channel, 'too_long', message);
}

/** A limit in characters, if it is exceeded; what is too long otherwise is so in tokens or bytes. */
function bound(what: string, most = Infinity, got: number): string | undefined {
  return got > most ? `${what} of ${most} characters at most (here ${got})` : undefined;
}

/** Where this gateway has fewer attempts under way than the channel may have, others have the rest. */
function fullText({ maxConcurrency, adaptiveConcurrency }: Channel, inFlight: number): string {
  return inFlight < maxConcurrency && !adaptiveConcurrency
    ? `All nodes together have ${maxConcurrency} attempts under way, as many as it may have; this one has ${inFlight}.`
    : `It has ${inFlight} attempts under way, which is as many as it may have.`;
}

function busy(
  { healthOf }: PassedOverDeps,
  channel: Channel,
  availability: Extract<Obstacle, { kind: 'busy' }>['availability'],
): PassedOver {
  const { inFlight, breaker, reason } = healthOf(channel.id);
  if (availability.kind === 'full') {
    return passed(
      channel,
      'full',
      breaker === 'closed'
        ? fullText(channel, inFlight)
        : 'Its circuit is half open, and the one attempt that tests it is under way.',
    );
  }
  const until = at(availability.atMs);
  const { limit } = availability;
  if (limit !== undefined) {
    const message = `${limitText(channel, limit)}: it is passed over until ${until}.`;
    const isBudget = limit === 'budget' || limit === 'tag_budget';
    const because = isBudget ? 'over_budget' : 'at_limit';
    return passed(channel, because, message, { untilMs: availability.atMs });
  }
  if (availability.isRefused === true) {
    const message = `The provider refuses its keys; the first is tried again at ${until}.`;
    return passed(channel, 'cooling', message, { untilMs: availability.atMs });
  }
  const message =
    breaker === 'closed'
      ? `It reported that it is overloaded, and is paused until ${until}.`
      : `Its circuit is open (${reason}): it is paused until ${until}.`;
  return passed(channel, 'cooling', message, { untilMs: availability.atMs });
}

function limitText(channel: Channel, limit: LimitName): string {
  switch (limit) {
    case 'requests_per_minute':
      return `All nodes together have sent it the ${channel.requestsPerMinute} calls that it takes in a minute`;
    case 'tokens_per_minute':
      return `All nodes together have sent it the ${channel.tokensPerMinute} tokens that it takes in a minute`;
    case 'key_requests_per_minute':
      return `All nodes together have sent the ${channel.keyRequestsPerMinute} calls that each of its keys takes in a minute`;
    case 'key_tokens_per_minute':
      return `All nodes together have sent the ${channel.keyTokensPerMinute} tokens that each of its keys takes in a minute`;
    case 'tag_budget':
      return `The budget of its tag "${channel.tag ?? ''}" is used up`;
    case 'budget':
      return `Its budget of ${dollars(channel.budget)} for this ${channel.budgetPeriod} is used up`;
  }
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}
