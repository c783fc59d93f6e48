/** Which key the credentials in the store are sealed with, by a fingerprint that tells nothing of the key. */
export interface EncryptionStore {
  /** What is noted; where nothing is, `claim` is noted first, by one of those who ask at the same time. */
  encryptionMark(claim?: string): Promise<string | undefined>;
  /**
   * Seals the credentials of all channels with the first of this node's keys and notes its fingerprint. Those that cannot be
   * opened stay as they are. Resolves to how many were sealed, and how many could not be.
   */
  resealCredentials(mark: string): Promise<{ readonly sealed: number; readonly locked: number }>;
}
