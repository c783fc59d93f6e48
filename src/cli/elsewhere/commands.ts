import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parse, YAMLError } from 'yaml';
import { systemCode } from '../../core/errors.js';
import { namedUser, self } from '../accounts.js';
import { RefusedError } from '../errors.js';
import { onGateway, type CliIo, type Session } from '../session.js';
import { carryOver, reportText } from './carry.js';
import { addLitellmKeys } from './litellm-keys.js';
import { planOfLitellm } from './litellm.js';
import { readNewApi } from './new-api-file.js';
import { planOfNewApi } from './new-api.js';
import type { Plan } from './plan.js';

interface Options {
  readonly user?: string;
  readonly keys?: readonly string[];
}

/** `import litellm` and `import new-api`: what other gateways have, taken over from their files. */
export function addElsewhereCommands(imports: Command, io: CliIo): void {
  imports
    .command('litellm')
    .description('take over the rerankers and keys of a LiteLLM proxy')
    .argument('<file>', 'its config.yaml')
    .option('--keys <files...>', 'replies of its /key/list?return_full_object=true&size=100')
    .option('--user <user>', 'whose the keys are: name, address or id (default: root)')
    .option('--dry-run', 'report, and write nothing')
    .addHelpText(
      'after',
      `
Variables such as os.environ/COHERE_API_KEY are read from the environment of this command. Keys keep working: LiteLLM stores
the same hash of them. They can only be carried over on the store itself (--local).

Examples:
  rerank-gateway import litellm config.yaml --keys keys.json --dry-run
  rerank-gateway import litellm config.yaml --keys keys.json`,
    )
    .action(
      onGateway(io, async (session, command) => {
        const { keys = [], user } = command.opts<Options>();
        const plan = planOfLitellm(yamlOf(command.args[0] ?? ''), io.env);
        addLitellmKeys(plan, keys.map(yamlOf), io.now());
        if (plan.keys.length > 0) {
          plan.toDo.push(
            'Keys spend from the balance of their account too: look at it with "users show", and raise it with "users update --quota".',
          );
        }
        await run(session, plan, user);
      }),
    );

  imports
    .command('new-api')
    .description('take over channels, accounts, keys and codes of new-api or one-api')
    .argument('<file>', 'its SQLite file, such as one-api.db')
    .option('--dry-run', 'report, and write nothing')
    .addHelpText(
      'after',
      `
Keys and codes keep working, and can only be carried over on the store itself (--local). Passwords need a reset.

Examples:
  rerank-gateway import new-api one-api.db --dry-run
  rerank-gateway import new-api one-api.db`,
    )
    .action(
      onGateway(io, async (session, command) => {
        await run(session, planOfNewApi(readNewApi(command.args[0] ?? ''), io.now()));
      }),
    );
}

async function run({ client, show, isDryRun }: Session, plan: Plan, user?: string): Promise<void> {
  const owner = user === undefined ? await self(client) : await namedUser(client, user);
  const report = await carryOver(client, plan, { dryRun: isDryRun, owner: owner.id });
  show(report, reportText(report));
}

/** A file of YAML, or of JSON, which is YAML too. */
function yamlOf(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new RefusedError(`There is no file ${file}.`);
    if (!(error instanceof YAMLError)) throw error;
    throw new RefusedError(`${file} cannot be read: ${error.message}`);
  }
}
