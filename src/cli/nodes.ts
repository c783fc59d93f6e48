import type { Command } from 'commander';
import type { NodesWire } from '../shapes/node.js';
import { asList, type Columns } from './listing.js';
import { onGateway, type CliIo, type Session } from './session.js';

const COLUMNS = {
  node: ({ name }) => name,
  standing: ({ standing }) => standing,
  release: ({ release }) => release,
  since: ({ started_time: at }) => (at === null ? null : { at }),
  'in-flight': ({ in_flight: count }) => count,
  settling: ({ pending_settlements: count }) => count,
  faults: ({ faults }) => faults,
  busy: ({ busy }) => busy.map(({ name, in_flight: count }) => `${name}: ${count}`).join(', '),
  channels: ({ channels }) => channels.map(({ name, why }) => `${name}: ${why}`).join(', '),
} satisfies Columns<NodesWire['nodes'][number]>;

export function addCommands(program: Command, io: CliIo): void {
  asList(program.command('nodes').command('list'), COLUMNS)
    .description('list the gateways that use the store')
    .action(onGateway(io, listAll));
}

async function listAll({ client, list }: Session): Promise<void> {
  const listed = await client.call('listNodes');
  await list({
    columns: COLUMNS,
    rows: listed.nodes,
    none: `No gateway uses ${client.place}.`,
    json: listed,
    entries: 'nodes',
  });
}
