import type { Client, InputOf, OperationId, ReplyOf } from './client.js';
import type { ApiClient } from './api-client.js';

/** The management API of a running gateway, as the owner of the access token. */
export function clientOverHttp(api: ApiClient): Client {
  return {
    place: api.url,
    isOperator: false,
    async call<Id extends OperationId>(id: Id, input: InputOf<Id> = {}): Promise<ReplyOf<Id>> {
      // The table is large, and commands that ask nothing do without it.
      const { OPERATIONS } = await import('../operations/index.js');
      const operation = OPERATIONS.find((one) => one.id === id);
      if (operation === undefined) throw new Error(`there is no operation ${id}`);
      const path = pathOf(operation.path, input.params ?? {});
      const { method } = operation;
      const query = input.query as
        Readonly<Record<string, string | number | undefined>> | undefined;
      const body = 'body' in operation ? (input.body ?? {}) : undefined;
      const reply = await api.call(method, path, {
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
