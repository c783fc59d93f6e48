import type { Client, InputOf, OperationId, ReplyOf } from './client.js';
import type { ApiClient } from './api-client.js';
import { routes } from './routes.js';

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

/** The path of an operation with its parameters in place. */
function pathOf(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
}
