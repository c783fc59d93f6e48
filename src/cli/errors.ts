/** The command contradicts itself or lacks something; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The request cannot be met as things stand; nothing was done. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
