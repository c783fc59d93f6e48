import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '../core/secret.js';
import type { Mail, SendMail } from '../management/mail.js';

export interface MailRoute {
  readonly smtpUrl: Secret | undefined;
  readonly from: string;
  /** The folder that mails are written to if there is no SMTP server. */
  readonly outboxDir: string;
}

const SMTP_TIMEOUT_MS = 20_000;
/** For all of a mail: the library itself waits as long as the server says anything. */
const MAIL_TIMEOUT_MS = 45_000;

/** Sends mail through the SMTP server if there is one, otherwise writes files. The library is loaded with the first mail. */
export function createSendMail({ smtpUrl, from, outboxDir }: MailRoute): SendMail {
  if (smtpUrl === undefined) return (mail) => writeToOutbox(outboxDir, from, mail);
  return async (mail) => {
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      url: smtpUrl.reveal(),
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const signal = AbortSignal.timeout(MAIL_TIMEOUT_MS);
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        ...idOf(mail),
        ...{ signal },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Error('the mail server took too long', { cause: error });
    } finally {
      transport.close();
    }
  };
}

function idOf({ id }: Mail): { readonly messageId?: string } {
  return id === undefined ? {} : { messageId: `<${id}@rerank-gateway>` };
}

/** Writes the message that a server would get, readable by the file's owner alone: it may contain a code. */
async function writeToOutbox(folder: string, from: string, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  const { message } = await transport.sendMail({
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    ...idOf(mail),
  });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomUUID()}.eml`;
  await writeFile(join(folder, name), message as Buffer, { mode: 0o600, flag: 'wx' });
}
