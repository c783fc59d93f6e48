/** Which key seals the credentials in the store, by a fingerprint that reveals nothing about the key. */
export interface EncryptionStore {
  /** Fingerprints of this node's keys; the sealing key's comes first. */
  keyMarks(): readonly string[];
  /** The stored fingerprint; if there is none, `claim` is stored first, by one of those who ask at the same time. */
  encryptionMark(claim?: string): Promise<string | undefined>;
  /**
   * Seals the credentials of all channels with the first of this node's keys and stores its fingerprint. Credentials that
   * cannot be opened stay as they are. Resolves to how many were sealed and how many could not be.
   */
  resealCredentials(mark: string): Promise<{ readonly sealed: number; readonly locked: number }>;
}
