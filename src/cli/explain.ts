import { InvalidArgumentError, type Command } from 'commander';
import type { ExplainedWire } from '../shapes/explained.js';
import { resolveKey } from './named.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, counted, facts } from './text.js';
import { present } from '../core/records.js';

interface Options {
  readonly key?: string;
  readonly tag?: string;
  readonly query?: string;
  readonly document?: readonly string[];
  readonly documents?: number;
}

type ModelWire = Pick<ExplainedWire, 'candidates' | 'passed_over' | 'more_passed_over'>;

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('explain')
    .argument('[model]', 'as callers name it (default: that of the key, or of the gateway)')
    .option(
      '--key <key>',
      'the key that asks: id, name, or the key itself (default: one without limits)',
    )
    .option('--tag <tag>', 'the tag that the request asks for')
    .option('--query <text>', 'its query')
    .option('--document <text>', 'one of its documents; may be repeated', collect)
    .option('--documents <count>', 'this many short documents, instead of texts', count)
    .action(onGateway(io, explain));
}

async function explain(session: Session, command: Command): Promise<void> {
  const { key, tag, query, document, documents } = command.opts<Options>();
  const token = key === undefined ? undefined : await resolveKey(session, key);
  const explained = await session.client.call('explainRoute', {
    body: present({
      model: command.args[0],
      tag,
      token_id: token?.id,
      query,
      documents: document === undefined ? undefined : [...document],
      document_count: documents,
    }),
  });
  session.show(explained, await describe(session, explained));
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function count(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

async function describe(session: Session, explained: ExplainedWire): Promise<string> {
  const { asked, model, tag, documents, refusal, outgoing, cost, fallbacks } = explained;
  const price = `${cost.price} units per ${cost.per.replace('_', ' ')}`;
  const parts = [
    facts([
      ['model', asked === model ? model : `${model}, asked for as ${asked}`],
      ['tag', tag ?? 'any'],
      ['documents', String(documents)],
      [
        'would be',
        refusal === null
          ? 'served'
          : `refused: ${refusal.status} ${refusal.code}: ${refusal.message}`,
      ],
      ['cost', `${amount(cost.estimated)} at ${price}; ${amount(cost.reserved)} set aside`],
    ]),
    await modelText(session, explained, refusal !== null),
  ];
  for (const fallback of fallbacks) {
    const text = await modelText(session, fallback, refusal !== null);
    parts.push(`Then model ${fallback.model}:\n${text}`);
  }
  if (outgoing !== null) {
    const headers = Object.entries(outgoing.headers).map(([name, value]) => `${name}: ${value}`);
    const more = outgoing.body_bytes > Buffer.byteLength(outgoing.body) ? '…' : '';
    parts.push(
      [
        `The first would get ${counted(outgoing.body_bytes, 'byte')}:`,
        `${outgoing.method} ${outgoing.url}`,
        ...headers,
        '',
        `${outgoing.body}${more}`,
      ].join('\n'),
    );
  }
  return parts.join('\n\n');
}

/** The channels of a model. A request that is refused has no chance with one of them. */
async function modelText(
  { table }: Session,
  explained: ModelWire,
  isRefused: boolean,
): Promise<string> {
  const { candidates, passed_over: passedOver, more_passed_over: more } = explained;
  const rows = candidates.map(({ id, name, provider, priority, chance, upstream_model: model }) => [
    ...[String(id), name, provider, String(priority)],
    isRefused ? 'none' : `${(chance * 100).toFixed(1)} %`,
    model,
  ]);
  const heading = ['ID', 'CHANNEL', 'PROVIDER', 'PRIORITY', 'CHANCE', 'UPSTREAM MODEL'];
  const asked = rows.length === 0 ? 'No channel would be asked.' : await table(heading, rows);
  const others = passedOver.map(({ id, name, message }) => [String(id), name, message]);
  if (others.length === 0) return asked;
  const rest = more === 0 ? '' : `\nand ${counted(more, 'more channel')} of other models`;
  return `${asked}\n\n${await table(['ID', 'PASSED OVER', 'WHY'], others)}${rest}`;
}
