/** The keys of a gateway that starts. */
export interface KeyNote {
  readonly nodeId: string;
  /** The name that people know it by. */
  readonly name: string;
  /** Fingerprints of its keys; the sealing key's comes first. */
  readonly marks: readonly string[];
}

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
  /** Notes the keys of a gateway for `keepMs` and resolves to what others had noted before, in one step. */
  noteKeys(note: KeyNote, nowMs: number, keepMs: number): Promise<readonly KeyNote[]>;
  /** Takes the note of a gateway back. */
  dropKeys(nodeId: string): Promise<void>;
}
