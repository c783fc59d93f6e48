import { Option, type Command } from 'commander';
import { RefusedError } from './errors.js';
import { listPart } from '../client/client.js';
import type { AlertWire } from '../shapes/alert.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { counted } from './text.js';
import { pageOf, withPage, type PageOptions } from './values.js';

interface ListOptions extends PageOptions {
  readonly state?: AlertWire['state'];
}

const COLUMNS = {
  id: ({ id }) => id,
  time: ({ time: at }) => ({ at }),
  target: ({ target }) => target,
  state: ({ state }) => state,
  failed: ({ tries }) => tries,
  alert: ({ summary }) => summary,
  error: ({ error }) => error,
} satisfies Columns<AlertWire>;

export function addCommands(program: Command, io: CliIo): void {
  const alerts = program.command('alerts');

  withPage(asList(alerts.command('list'), COLUMNS))
    .description('list what was sent, when and where to, newest first')
    .addOption(new Option('--state <state>', 'in this state').choices(['waiting', 'sent', 'dead']))
    .action(onGateway(io, listAll));

  alerts
    .command('test')
    .description('send a test message to every target; exit code 1 if one does not take it')
    .argument('[target]', 'only this one')
    .action(onGateway(io, test));

  alerts
    .command('resend')
    .description('send an alert again, such as a dead one')
    .argument('<id>', 'of the alert, as the list shows it')
    .action(
      onGateway(io, async ({ client, show }, { processedArgs: [id] }) => {
        const alert = await client.call('resendAlert', { params: { id: id as string } });
        show(alert, `"${alert.summary}" is sent to ${alert.target} again.`);
      }),
    );
}

async function listAll({ client, list }: Session, command: Command): Promise<void> {
  const { state, ...options } = command.opts<ListOptions>();
  const page = pageOf(options);
  const query = state === undefined ? {} : { state };
  await list({
    columns: COLUMNS,
    none: 'No alerts.',
    ...pageAsRows(await listPart(client, 'listAlerts', query, page), page),
  });
}

async function test({ client, show, table }: Session, command: Command): Promise<void> {
  const [target] = command.processedArgs as [string | undefined];
  const body = target === undefined ? {} : { target };
  const results = await client.call('testAlerts', { body });
  const rows = results.map((one) => [one.target, one.error ?? 'accepted']);
  show(results, await table(['TARGET', 'ANSWER'], rows));
  const failed = results.filter(({ error }) => error !== null).length;
  if (failed > 0) throw new RefusedError(`${counted(failed, 'target')} did not take it.`);
}
