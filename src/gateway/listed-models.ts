import { judgeFresh, type AdmissionDeps, type Caller } from './admission.js';
import type { ChannelTable } from './channels/table.js';
import { bears, type Routing } from './target.js';

/** What listing the models needs of the gateway. */
export interface ListingDeps extends AdmissionDeps, Routing {
  readonly channels: ChannelTable;
}

/** A model under one of the names that callers may use for it. */
export interface ListedModel {
  readonly id: string;
  readonly aliasOf: string | undefined;
}

/** Models that a caller may use now: on its list, and with a live channel that it may reach. Their aliases are included. */
export async function listModels(deps: ListingDeps, caller: Caller): Promise<ListedModel[]> {
  await judgeFresh(deps, caller);
  await deps.channels.ensureFresh();
  const { plans } = deps.channels.current;
  const { policy } = caller.credential.token;
  const models = new Map<string, ListedModel>();
  for (const [id, { offers }] of plans) {
    if (policy.models !== undefined && !policy.models.includes(id)) continue;
    if (offers.some(({ route }) => route.live && bears(route, undefined, policy.tags)))
      models.set(id, { id, aliasOf: undefined });
  }
  // The key's own come last, so that they take the place of the gateway's.
  const aliases = [...Object.entries(deps.aliases), ...Object.entries(policy.aliases)];
  for (const [id, aliasOf] of aliases) {
    if (models.has(aliasOf) && !plans.has(id)) models.set(id, { id, aliasOf });
  }
  return [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
