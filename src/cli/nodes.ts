import type { Command } from 'commander';
import type { NodesWire } from '../shapes/node.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { moment, names, table } from './text.js';

export function addNodeCommands(program: Command, io: CliIo): void {
  program
    .command('nodes')
    .command('list')
    .description('list the gateways that use the store')
    .action(onGateway(io, listAll));
}

async function listAll({ client, show }: Session): Promise<void> {
  const listed = await client.call('listNodes');
  show(
    listed,
    listed.nodes.length === 0
      ? `No gateway uses ${client.place}.`
      : table(
          [
            ...['NODE', 'STANDING', 'RELEASE', 'SINCE', 'IN FLIGHT', 'SETTLING', 'FAULTS'],
            ...['BUSY', 'CHANNELS'],
          ],
          listed.nodes.map(rowOf),
        ),
  );
}

function rowOf(node: NodesWire['nodes'][number]): string[] {
  const told = (value: number | null): string => (value === null ? '' : String(value));
  return [
    node.name,
    node.standing,
    node.release ?? '',
    node.started_time === null ? '' : moment(node.started_time),
    told(node.in_flight),
    told(node.pending_settlements),
    told(node.faults),
    names(
      node.busy.map(({ name, in_flight }) => `${name}: ${in_flight}`),
      '',
    ),
    names(
      node.channels.map(({ name, why }) => `${name}: ${why}`),
      '',
    ),
  ];
}
