import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** A gateway process, from its start to its end. */
export interface ThisNode {
  readonly id: string;
  /** The name that people know it by: the machine, and the process if it has several. */
  readonly name: string;
  readonly release: string;
}

export function thisNode(): ThisNode {
  return {
    id: randomUUID(),
    name: cluster.isWorker ? `${hostname()}:${process.pid}` : hostname(),
    release: releaseOf(),
  };
}

/** The running release, from the manifest beside `src` and `dist`. */
function releaseOf(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
