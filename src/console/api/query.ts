import { QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/query-core';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, call, newKey, type CallInput, type OperationId, type ReplyOf } from './call.js';

const AGAIN_MS = 2_000;

/** What pages have read. Old data stays while it is read again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      networkMode: 'always',
      refetchOnWindowFocus: true,
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

export interface Reading<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** The first read, of which nothing is there yet. */
  readonly loading: boolean;
  readonly fetching: boolean;
  readonly again: () => void;
}

export interface ReadOptions {
  readonly enabled?: boolean;
  /** Read again after so long, while the page is seen. */
  readonly everyMs?: number | false;
  /** Whether what was read for another input is shown until this one has come. */
  readonly keep?: boolean;
}

/** Reads an operation, and again when its input changes or something is written. */
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
  useEffect(() => observer.subscribe((next) => setResult(next)), [observer]);
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
 * A write that a form or a button begins. What was read is read again afterwards. `undefined` tells of a failure, which is in
 * `error`. The key that is handed to `write` stays until it has succeeded, so that a repeated press makes one thing.
 */
export function useWrite<In, Out>(
  write: (input: In, key: string) => Promise<Out>,
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
      try {
        const reply = await write(input, key.current.key);
        key.current = undefined;
        await queries.invalidateQueries();
        return reply;
      } catch (thrown) {
        setError(thrown instanceof ApiError ? thrown : new ApiError(0, 'failed', String(thrown)));
        return undefined;
      } finally {
        setBusy(false);
      }
    },
  };
}
