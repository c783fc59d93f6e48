import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { createSendMail } from '../../src/mail/send-mail.js';
import { deferred } from '../support/deferred.js';
import { startMailServer } from '../support/mail-server.js';
import { until } from '../support/until.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('a mail server that goes on for ever is given up, and its connection closed', async () => {
  const asked = deferred();
  const left = deferred();
  const server = createServer((socket) => {
    socket.write('220 hello\r\n');
    socket.on('data', (line) => {
      if (!line.toString().startsWith('MAIL')) socket.write('250 go on\r\n');
      else asked.resolve();
    });
    const more = setInterval(() => socket.write('250-wait\r\n'), 50);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(more);
        left.resolve();
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const time = new AbortController();
  const timeouts = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
  const { port } = server.address() as AddressInfo;
  const smtpUrl = new Secret(`smtp://127.0.0.1:${port}`);
  const send = createSendMail({ smtpUrl, from: 'gateway@example.com', outboxDir: '' });

  const sent = send({ to: 'a@example.com', subject: 'Hello', text: 'Hello' });
  await asked.promise;
  time.abort();

  await expect(sent).rejects.toThrow('the mail server took too long');
  await left.promise;
  expect(timeouts).toHaveBeenCalledWith(45_000);
  server.close();
});

it('an address that requires TLS sends no password to a server without it', async () => {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.write('220 hello\r\n');
    socket
      .on('error', () => undefined)
      .on('data', (line) => {
        heard.push(line.toString());
        socket.write(line.toString().startsWith('EHLO') ? '250 AUTH PLAIN\r\n' : '500 unknown\r\n');
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const smtpUrl = new Secret(`smtp://me:secret@127.0.0.1:${port}?requireTLS=true`);
  const send = createSendMail({ smtpUrl, from: 'gateway@example.com', outboxDir: '' });

  await expect(send({ to: 'a@example.com', subject: 'Hello', text: 'Hello' })).rejects.toThrow(
    'STARTTLS',
  );

  expect(heard.map((line) => line.split(/[ \r]/)[0])).toEqual(['EHLO', 'STARTTLS']);
  server.close();
});

it('an address is one address, whatever is in it', async () => {
  const server = await startMailServer();
  const smtpUrl = new Secret(server.url);
  const send = createSendMail({ smtpUrl, from: 'gateway@example.com', outboxDir: '' });

  await send({ to: 'a@example.com, b@example.com', subject: 'S', text: 'T' }).catch(
    () => undefined,
  );

  expect([server.waiting('a@example.com'), server.waiting('b@example.com')]).toEqual([0, 0]);
  await server.close();
});

it('without a server a mail is a file, for its owner’s eyes, as a server would get it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mail-'));
  const outboxDir = join(folder, 'outbox');
  const send = createSendMail({ smtpUrl: undefined, from: 'gateway@example.com', outboxDir });

  await send({ to: 'a@example.com', subject: 'Hello', text: 'A code', id: 'msg_1' });

  const [name = ''] = readdirSync(outboxDir);
  const modes = [outboxDir, join(outboxDir, name)].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
  expect(readFileSync(join(outboxDir, name), 'utf8').split('\n')).toEqual(
    expect.arrayContaining([
      'From: gateway@example.com',
      'To: a@example.com',
      'Subject: Hello',
      'Message-ID: <msg_1@rerank-gateway>',
      'A code',
    ]),
  );
  rmSync(folder, { recursive: true });
});

it.each(['', '?pool=true'])('leaves no connection behind: %j', async (options) => {
  const server = await startMailServer();
  const smtpUrl = new Secret(server.url + options);
  const send = createSendMail({ smtpUrl, from: 'gateway@example.com', outboxDir: '' });

  await send({ to: 'a@example.com', subject: 'Hello', text: 'Hello', id: 'msg_1' });

  expect(await server.next('a@example.com')).toContain(
    '\r\nMessage-ID: <msg_1@rerank-gateway>\r\n',
  );
  await until('nobody is connected', () => server.connected() === 0, 5_000);
  await server.close();
});
