import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { PatientServer } from '../../src/http/connections.js';
import { until } from '../support/until.js';

it('another protocol on the port hears at once of the end, and is closed after the grace of idle connections', async () => {
  const calls: string[] = [];
  const server = new PatientServer({}, (_req, res) => res.end(), {
    announceEnd: () => calls.push('announced'),
    close: () => calls.push('closed'),
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const idle = connect(port, '127.0.0.1');
  await once(server, 'connection');

  const drained = server.drain(20_000);
  expect(calls).toEqual(['announced']);
  await until('the other protocol is closed', () => calls.includes('closed'));
  idle.destroy();
  await drained;

  expect(calls.slice(0, 2)).toEqual(['announced', 'closed']);
});
