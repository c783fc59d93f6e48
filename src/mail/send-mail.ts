import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '../core/secret.js';
import type { Mail, SendMail } from '../management/mail.js';

export interface MailRoute {
  readonly smtpUrl: Secret | undefined;
  readonly from: string;
  /** Where mails are written while there is no SMTP server. */
  readonly outboxDir: string;
}

const SMTP_TIMEOUT_MS = 20_000;

/** Mail through the SMTP server where there is one, else as files. The library is loaded with the first mail. */
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
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
      });
    } finally {
      transport.close();
    }
  };
}

/** The same message that a server would get, readable by its owner alone: it may hold a code. */
async function writeToOutbox(folder: string, from: string, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  const { message } = await transport.sendMail({
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
  });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomUUID()}.eml`;
  await writeFile(join(folder, name), message as Buffer, { mode: 0o600, flag: 'wx' });
}
