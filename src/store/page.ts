export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** A slice of a list, newest first; `offset` from 0. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}
