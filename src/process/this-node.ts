import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { inPackage } from '../config/package-files.js';

/** A gateway process, from its start to its end. */
export interface ThisNode {
  readonly id: string;
  /**
   * The name that people know it by, the same after a restart: the machine, with the port if that is not the usual one, so that
   * two on one machine are told apart. Processes that share a port are named by their ids, and one whose port the system
   * chooses too.
   */
  readonly name: string;
  readonly release: string;
}

const USUAL_PORT = 8080;

/** `port`: where it is to listen. */
export function thisNode(port: number): ThisNode {
  return {
    id: randomUUID(),
    name: nodeName(hostname(), port, cluster.isWorker || port === 0 ? process.pid : undefined),
    release: releaseOf(),
  };
}

export function nodeName(machine: string, port: number, pid: number | undefined): string {
  if (pid !== undefined) return `${machine}:${pid}`;
  return port === USUAL_PORT ? machine : `${machine}:${port}`;
}

/** The running release, from the manifest beside `src` and `dist`. */
export function releaseOf(): string {
  const text = readFileSync(inPackage('package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
