import { useEffect, useState } from 'preact/hooks';

/** A value that several parts of the page share. */
export interface Atom<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly listen: (listener: () => void) => () => void;
}

export function atom<T>(initial: T): Atom<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useAtom<T>(source: Atom<T>): T {
  const [value, setValue] = useState(source.get());
  useEffect(() => {
    const read = (): void => setValue(() => source.get());
    read();
    return source.listen(read);
  }, [source]);
  return value;
}
