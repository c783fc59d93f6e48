import { readFileSync } from 'node:fs';
import type { Client, InputOf, OperationId, ReplyOf } from './client.js';
import type { ApiClient } from './api-client.js';

/** The management API of a running gateway, as the owner of the access token. */
export function clientOverHttp(api: ApiClient): Client {
  return {
    place: api.url,
    isOperator: false,
    async call<Id extends OperationId>(id: Id, input: InputOf<Id> = {}): Promise<ReplyOf<Id>> {
      const [method, path, hasBody] = routes()[id];
      const query = input.query as
        Readonly<Record<string, string | number | undefined>> | undefined;
      const body = hasBody ? (input.body ?? {}) : undefined;
      const reply = await api.call(method, pathOf(path, input.params ?? {}), {
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
      });
      // The OpenAPI document promises it.
      return reply.value as ReplyOf<Id>;
    },
    close: () => Promise.resolve(),
  };
}

/** How an operation is asked: the method, the path, and whether it takes a body. */
type Route = readonly [method: string, path: string, hasBody: boolean];

/** Made from the table of operations by `npm run docs:tables`: the table itself takes most of a second to load. */
function routes(): Readonly<Record<OperationId, Route>> {
  const file = new URL('routes.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<OperationId, Route>>;
}

/** The path of an operation with its parameters in place. */
function pathOf(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
}
