/** The command is at odds with itself or lacks something; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What is asked for cannot be had as things stand; nothing was done. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
