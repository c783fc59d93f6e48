/** A message to one person, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for mails that are sent again, so that a reader can tell. */
  readonly id?: string;
}

/** Submits a message for delivery; rejects if no server took it. */
export type SendMail = (mail: Mail) => Promise<void>;
