import { QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/query-core';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, call, newKey, type CallInput, type OperationId, type ReplyOf } from './call.js';

const AGAIN_MS = 2_000;

/** Data that pages have read. Old data stays while it is reread. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // With which all else changes. That data grew old does not: it would have a page that nobody looks at ask for the next minute.
      notifyOnChangeProps: ['isFetching'],
      networkMode: 'always',
      retry: (count, error) =>
        error instanceof ApiError && (error.status === 0 || error.status === 503) && count < 3,
      retryDelay: (count, error) =>
        error instanceof ApiError && error.retryAfterS !== undefined
          ? error.retryAfterS * 1000
          : AGAIN_MS * 2 ** count,
    },
  },
});
queries.mount();

/**
 * Reads again what is shown. A first answer that is still on its way may be of before a write: the library would wait for it,
 * and take it for the newest.
 */
export async function reread(): Promise<void> {
  await queries.cancelQueries({ predicate: ({ state }) => state.data === undefined });
  await queries.invalidateQueries();
}

export interface Reading<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** Whether the first read is still on its way. */
  readonly loading: boolean;
  readonly fetching: boolean;
  readonly again: () => void;
}

export interface ReadOptions {
  readonly enabled?: boolean;
  /** Interval of rereading while the page is visible. */
  readonly everyMs?: number | false;
  /** Whether the data of the previous input stays until the data of this one arrives. */
  readonly keep?: boolean;
}

/** Reads an operation, and rereads it when its input changes or something is written. */
export function useRead<Id extends OperationId>(
  id: Id,
  input: CallInput<Id> = {},
  { enabled = true, everyMs = false, keep = true }: ReadOptions = {},
): Reading<ReplyOf<Id>> {
  const inputText = JSON.stringify([input.params, input.query, input.body]);
  const options = {
    queryKey: [id, inputText],
    queryFn: ({ signal }: { signal: AbortSignal }) => call(id, { ...input, signal }),
    enabled,
    refetchInterval: everyMs,
    ...(keep ? { placeholderData: <T>(before: T) => before } : {}),
  };
  const observer = useMemo(
    () => new QueryObserver<ReplyOf<Id>, ApiError>(queries, options as never),
    [id],
  );
  const [result, setResult] = useState<QueryObserverResult<ReplyOf<Id>, ApiError>>(() =>
    observer.getCurrentResult(),
  );
  useEffect(() => observer.subscribe(setResult), [observer]);
  useEffect(() => {
    observer.setOptions(options);
    setResult(observer.getCurrentResult());
  }, [observer, inputText, enabled, everyMs]);
  return {
    data: result.data,
    error: result.error ?? undefined,
    loading: result.isPending && enabled,
    fetching: result.isFetching,
    again: () => void observer.refetch(),
  };
}

export interface Writing<In, Out> {
  readonly run: (input: In) => Promise<Out | undefined>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly clear: () => void;
}

/**
 * A write that a form or a button starts. Afterwards, all data that is shown is reread. `run` resolves to `undefined` on a
 * failure, which is then in `error`. For the same input, `write` gets the same key until it succeeds, so that pressing twice
 * makes one thing. `onDone` is called with what a success brings, once what is shown has been read again.
 */
export function useWrite<In, Out>(
  write: (input: In, key: string) => Promise<Out>,
  onDone?: (reply: Out) => void,
): Writing<In, Out> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const key = useRef<{ readonly input: string; readonly key: string } | undefined>(undefined);
  return {
    busy,
    error,
    clear: () => setError(undefined),
    async run(input) {
      const text = JSON.stringify([input]);
      if (key.current?.input !== text) key.current = { input: text, key: newKey() };
      setBusy(true);
      setError(undefined);
      let reply: Out;
      try {
        reply = await write(input, key.current.key);
        key.current = undefined;
        await reread();
      } catch (thrown) {
        setError(thrown instanceof ApiError ? thrown : new ApiError(0, 'failed', String(thrown)));
        return undefined;
      } finally {
        setBusy(false);
      }
      onDone?.(reply);
      return reply;
    },
  };
}
