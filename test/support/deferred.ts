export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
}

/** A promise that the test settles. */
export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
