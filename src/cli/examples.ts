import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../core/errors.js';
import { documentsOfFile, textOfBytes, textOfDocuments } from '../core/documents-in.js';
import type { ExampleContent } from '../shapes/example.js';
import { UsageError } from './errors.js';
import { isId, theOnly } from './named.js';
import type { Client, ItemOf } from '../client/client.js';
import { asList, type Columns } from './listing.js';
import { confirm, onGateway, type CliIo, type Session } from './session.js';
import { listOrNone } from './values.js';

const COLUMNS = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  of: ({ own }) => (own ? 'you' : 'somebody else'),
  shared: ({ shared }) => (shared ? 'yes' : 'no'),
  since: ({ created_time: at }) => ({ at }),
} satisfies Columns<ItemOf<'listExamples'>>;

export function addCommands(program: Command, io: CliIo): void {
  const examples = program.command('examples');

  asList(examples.command('list'), COLUMNS)
    .description('list your own and those that others share, newest first')
    .action(onGateway(io, listAll));

  examples
    .command('show')
    .description('print what is in one, as the playground reads it from a file')
    .argument('<example>', 'its id or name')
    .action(
      onGateway(io, async ({ client, show }, { args: [given] }) => {
        const params = { id: await resolveExample(client, given) };
        const { content, ...example } = await client.call('getExample', { params });
        show({ ...example, content }, JSON.stringify(content, null, 2));
      }),
    );

  examples
    .command('save')
    .description(
      'keep one: its query and documents will be in the store, which holds none otherwise',
    )
    .argument(
      '<file>',
      'as the playground reads it: .txt, .csv, .tsv, .jsonl, .json, or a body of /v1/rerank; - for JSON on standard input',
    )
    .option('--name <name>', 'what it is called (default: the name of the file)')
    .option('--query <text>', 'what is asked, where the file does not say')
    .option('--models <names>', 'the lanes that it opens with: a,b', listOrNone)
    .option('--shared', 'everybody with a login sees it')
    .action(onGateway(io, save));

  examples
    .command('delete')
    .description('delete one: your own or, as an admin, one that others share')
    .argument('<example>', 'its id or name')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));
}

async function resolveExample(client: Client, given = ''): Promise<number> {
  if (isId(given)) return Number(given);
  const all = await client.call('listExamples');
  const found = all.filter(({ name }) => name === given);
  const known = (): Promise<string[]> => Promise.resolve(all.map(({ name }) => name));
  return (await theOnly('example', given, found, known)).id;
}

async function listAll({ client, list }: Session): Promise<void> {
  const examples = await client.call('listExamples');
  await list({
    columns: COLUMNS,
    rows: examples,
    none: `No examples are kept in ${client.place}.`,
    json: { items: examples, total: examples.length },
  });
}

interface SaveOptions {
  readonly name?: string;
  readonly query?: string;
  readonly models?: readonly string[];
  readonly shared?: true;
}

async function save({ io, client, show }: Session, command: Command): Promise<void> {
  const given = command.opts<SaveOptions>();
  const file = String(command.processedArgs[0]);
  const text = file === '-' ? await io.readInput() : await textOf(file);
  const { content, problems } = contentOf(file, text, given);
  const name = given.name ?? (file === '-' ? undefined : basename(file));
  if (name === undefined) throw new UsageError('Standard input has no name: give --name.');
  const saved = await client.call('saveExample', {
    body: { name, shared: given.shared === true, content },
  });
  const about = problems.length === 0 ? '' : `\nNot read: ${problems.join('; ')}`;
  show({ ...saved, not_read: problems }, `Example ${saved.id} "${name}" is saved.${about}`);
}

async function textOf(file: string): Promise<string> {
  try {
    return textOfBytes(await readFile(file));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/** What the playground opens: a file that it saved is that as it is. */
function contentOf(
  file: string,
  text: string,
  { query: asked, models }: SaveOptions,
): { readonly content: ExampleContent; readonly problems: readonly string[] } {
  const members = membersOf(text);
  const lanes = models ?? (typeof members.model === 'string' ? [members.model] : []);
  if (typeof members.query === 'string' && typeof members.documents === 'string') {
    const own = { ...members, ...(asked === undefined ? {} : { query: asked }) };
    return { content: models === undefined ? own : { ...own, lanes }, problems: [] };
  }
  const read = documentsOfFile(file === '-' ? 'a.json' : file, text);
  const source = file === '-' ? 'what is on standard input' : file;
  if (read.documents.length === 0) {
    const why = read.problems.length === 0 ? '' : `: ${read.problems.join('; ')}`;
    throw new UsageError(`There are no documents in ${source}${why}`);
  }
  const query = asked ?? read.query;
  if (query === undefined) throw new UsageError(`There is no query in ${source}: give --query.`);
  return {
    content: {
      ...{ query, documents: textOfDocuments(read.documents), lanes },
      labels: placesOf(read.labels),
      ids: placesOf(read.ids),
    },
    problems: read.problems,
  };
}

/** What is there, with its place. */
function placesOf<T>(values: readonly (T | undefined)[]): (readonly [index: number, value: T])[] {
  return values.flatMap((value, index) => (value === undefined ? [] : [[index, value] as const]));
}

/** The members of a JSON object; none of anything else. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

async function remove(session: Session, command: Command): Promise<void> {
  const id = await resolveExample(session.client, command.args[0]);
  const { name } = await session.client.call('getExample', { params: { id } });
  await confirm(session, `Example ${id} "${name}" will be deleted for good.`);
  await session.client.call('deleteExample', { params: { id } });
  session.show({ id, name, deleted: true }, `Example ${id} "${name}" is deleted.`);
}
