import type { Command } from 'commander';
import { confirm, onGateway, type CliIo, type Session } from './session.js';
import { moment, table } from './text.js';
import { wholeNumber } from './values.js';

export function addExampleCommands(program: Command, io: CliIo): void {
  const examples = program
    .command('examples')
    .alias('example')
    .description('inputs of the playground that people keep');

  examples
    .command('list')
    .description('list your own and those that others share, newest first')
    .action(onGateway(io, listAll));

  examples
    .command('show')
    .description('print what is in one, as the playground reads it from a file')
    .argument('<id>', 'its id', wholeNumber)
    .action(
      onGateway(io, async ({ backend, show }, { processedArgs }) => {
        const { content, ...example } = await backend.getExample(Number(processedArgs[0]));
        show({ ...example, content }, JSON.stringify(content, null, 2));
      }),
    );

  examples
    .command('delete')
    .description('delete one: your own or, as an admin, one that others share')
    .argument('<id>', 'its id', wholeNumber)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));
}

async function listAll({ backend, show }: Session): Promise<void> {
  const examples = await backend.listExamples();
  const rows = examples.map(({ id, name, shared, own, created_time: at }) => [
    ...[String(id), name, own ? 'you' : 'somebody else', shared ? 'yes' : 'no', moment(at)],
  ]);
  show(
    { items: examples, total: examples.length },
    examples.length === 0
      ? `No examples are kept in ${backend.place}.`
      : table(['ID', 'NAME', 'OF', 'SHARED', 'SINCE'], rows),
  );
}

async function remove(session: Session, command: Command): Promise<void> {
  const { yes } = command.opts<{ yes?: true }>();
  const id = Number(command.processedArgs[0]);
  const { name } = await session.backend.getExample(id);
  await confirm(session, `Example ${id} "${name}" will be deleted for good.`, yes);
  await session.backend.deleteExample(id);
  session.show({ id, name, deleted: true }, `Example ${id} "${name}" is deleted.`);
}
