/** Polls the version, since other processes can change it, and calls all listeners when it has changed. */
export function openWatch(readVersion: () => number, pollMs: number) {
  const listeners = new Set<() => void>();
  let seen: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** A watch may miss a change: those who need the version ask for it, and then learn what is wrong with the file. */
  const currentVersion = (): number | undefined => {
    try {
      return readVersion();
    } catch {
      return seen;
    }
  };
  /** Looks now instead of waiting for the next turn. */
  const look = (): void => {
    const current = listeners.size === 0 ? seen : currentVersion();
    if (current === seen) return;
    seen = current;
    for (const listener of listeners) listener();
  };
  const stop = (): void => {
    clearInterval(timer);
    listeners.clear();
  };

  return {
    look,
    stop,
    start: (onChange: () => void) => {
      // The same function may watch twice, and each watch is stopped separately.
      const listener = (): void => onChange();
      if (listeners.size === 0) {
        seen = currentVersion();
        timer = setInterval(look, pollMs).unref();
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
  };
}
