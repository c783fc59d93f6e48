/** A message to one person, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands a message over for delivery; rejects when nobody took it. */
export type SendMail = (mail: Mail) => Promise<void>;
