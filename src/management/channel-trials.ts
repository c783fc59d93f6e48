import type { Channel } from '../core/channel.js';
import type { Discover, Discovery, ListUpstreamModels, UnknownServer } from '../core/discovery.js';
import type { Probe, ProbeReport } from '../core/probe.js';
import { judgeUrl, urlMistake } from './addresses.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import {
  draftedChannel,
  lockedCredentials,
  type ChannelDeps,
  type ChannelDraft,
} from './channel-edits.js';
import { channelWithId } from './channel-views.js';
import { auditTarget } from './channels.js';
import { invalid } from './fields.js';

/** Sends one channel a real request of two documents, even if it is switched off. */
export async function testChannel(
  deps: ManagementDeps & { readonly probe: Probe },
  id: number,
  given: string | undefined,
  actor: Actor,
): Promise<ProbeReport> {
  const snapshot = await deps.store.loadChannels();
  const channel = channelWithId(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(channel.name);
  const model = servedModel(channel, given);
  const tested = await deps.probe(channel, model);
  const outcome = tested.problem?.code ?? 'ok';
  const of = { name: channel.name };
  await recordAudit(deps, actor, 'channel.test', auditTarget(id), { model, outcome }, of);
  return tested;
}

/** The models that a channel's server lists, by its own names. */
export async function listUpstreamModels(
  deps: Pick<ManagementDeps, 'store'> & { readonly listUpstreamModels: ListUpstreamModels },
  id: number,
): Promise<readonly string[]> {
  const snapshot = await deps.store.loadChannels();
  const channel = channelWithId(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(channel.name);
  return deps.listUpstreamModels(channel);
}

/** Sends a real request of two documents to a channel that is not yet saved; only the entry in the audit log is stored. */
export async function testDraft(
  deps: ChannelDeps & { readonly probe: Probe },
  draft: ChannelDraft,
  given: string | undefined,
  actor: Actor,
): Promise<ProbeReport> {
  const channel: Channel = { ...draftedChannel(deps, draft), id: 0, origin: 'store' };
  const model = servedModel(channel, given);
  const tested = await deps.probe(channel, model);
  const outcome = tested.problem?.code ?? 'ok';
  const { provider, baseUrl } = channel;
  const detail = { name: channel.name, provider, baseUrl, model, outcome };
  await recordAudit(deps, actor, 'channel.test_draft', 'channel:draft', detail);
  return tested;
}

/** Finds out what an unknown server speaks, with requests that change nothing there. */
export async function probeAddress(
  deps: ChannelDeps & { readonly discover: Discover },
  server: UnknownServer,
  actor: Actor,
): Promise<Discovery> {
  const { baseUrl } = server;
  const mistake = urlMistake(baseUrl) ?? judgeUrl(baseUrl, deps);
  if (mistake !== undefined) throw invalid('base_url', `base_url ${mistake}.`);
  const found = await deps.discover(server);
  const providers = found.candidates.map(({ provider }) => provider);
  const outcome = found.problem?.code ?? 'ok';
  await recordAudit(deps, actor, 'channel.probe', 'channel:draft', { baseUrl, providers, outcome });
  return found;
}

/** The caller's name of the model to test: the first one if none is given. */
function servedModel({ name, models }: Channel, given: string | undefined): string {
  const names = Object.keys(models);
  const model = given ?? names[0] ?? '';
  if (Object.hasOwn(models, model)) return model;
  throw invalid(
    'model',
    `Channel "${name}" does not serve "${model}"; it serves ${names.join(', ')}.`,
  );
}
