import { readFileSync } from 'node:fs';
import type { OperationId } from './client.js';

/** How an operation is asked: the method, the path, whether it takes a body, and the module of `src/operations` that has it. */
type Route = readonly [method: string, path: string, hasBody: boolean, module: string];

/** Made from the table of operations by `npm run docs:tables`: the table itself takes most of a second to load. */
export function routes(): Readonly<Record<OperationId, Route>> {
  const file = new URL('routes.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<OperationId, Route>>;
}
