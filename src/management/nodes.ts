import { StoreUnavailableError, type NodeAbout, type Store } from '../store/store.js';
import { nameOfNode } from './in-force.js';
import { SharedReads } from './shared-reads.js';

/** Whether a gateway has the newest version in force, an older one, or has stopped reporting without signing off. */
export type NodeStanding = 'current' | 'behind' | 'silent';

export interface NodeView {
  readonly id: string;
  readonly name: string;
  readonly standing: NodeStanding;
  /** What it has in force, as far as known. */
  readonly version: number | undefined;
  readonly about: NodeAbout | undefined;
}

export interface NodesView {
  /** The newest version of channels and tags. */
  readonly version: number;
  /** How long the store took to answer. */
  readonly storeMs: number;
  readonly nodes: readonly NodeView[];
}

export interface NodesDeps {
  readonly store: Pick<Store, 'listNodes' | 'channelsVersion'>;
  readonly now: () => number;
}

/** Every gateway that works on the store, by name. A restarted one replaces its earlier entry. */
export async function listNodes({ store, now }: NodesDeps): Promise<NodesView> {
  const askedMs = performance.now();
  // Asked first: a node that reports a newer version meanwhile is not behind.
  const version = await store.channelsVersion();
  const storeMs = performance.now() - askedMs;
  const states = await store.listNodes(now());
  const nodes = states
    .map((state): NodeView => ({
      id: state.nodeId,
      name: nameOfNode(state),
      standing: standingOf(state.version, version),
      version: state.version,
      about: state.about,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  const live = nodes.filter(({ standing }) => standing !== 'silent');
  return {
    version,
    storeMs,
    nodes: nodes.filter(
      (node) => node.standing !== 'silent' || !live.some(({ name }) => name === node.name),
    ),
  };
}

const buildReads = new SharedReads<readonly string[]>(2_000);

/** The builds of the console that running gateways serve; none if the store cannot tell. */
export async function liveBuilds({ store, now }: NodesDeps): Promise<string[]> {
  const nowMs = now();
  const read = async (): Promise<readonly string[]> => {
    const live = (await store.listNodes(nowMs)).filter(({ version }) => version !== undefined);
    return [...new Set(live.flatMap(({ about }) => about?.build ?? []))].sort();
  };
  try {
    return [...(await buildReads.of(store, '', nowMs, read))];
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return [];
  }
}

function standingOf(inForce: number | undefined, newest: number): NodeStanding {
  if (inForce === undefined) return 'silent';
  return inForce < newest ? 'behind' : 'current';
}
