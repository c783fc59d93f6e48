import { Command, CommanderError } from 'commander';
import { releaseOf } from '../process/this-node.js';
import { COMMANDS } from './commands.js';
import { addHelp } from './help.js';
import type { CliIo, GlobalOptions } from './session.js';

/** Options of the program that take a value. */
const WITH_VALUE = ['--config', '--url', '--access-token'];

/** The command that needs all others. */
const WHOLE = 'completion';

/** Done. */
const OK = 0;
const EPILOGUE = `
Once you are logged in (login), or with --url and --access-token (also: RERANK_GATEWAY_URL, RERANK_GATEWAY_ACCESS_TOKEN), the
commands go over HTTP to the gateway, as your account. Otherwise, and with --local, they work on its store, found through
the same settings (--config, CONFIG, the environment and .env), while it runs or not. "whoami" says which.
Amounts of quota are units; 500000 units are one dollar, and 1.50usd is understood too.
Exit codes: 0 done, 1 refused or something needs a look, 2 wrong usage, 69 store or gateway not reachable, 78 mistakes in the settings.`;

/** Runs one command line, without the name of the program; resolves to the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const given = withHelpOption(args);
  const program = await createProgram(io, commandIn(given));
  try {
    await program.parseAsync(given, { from: 'user' });
    return OK;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return OK;
    const { explain } = await import('./failures.js');
    const { exitCode, ...said } = explain(error);
    const { message } = said;
    if (wantsJson(program)) io.writeError(`${JSON.stringify({ error: said })}\n`);
    // The parser has already said it.
    else if (!(error instanceof CommanderError)) io.writeError(`${message}\n`);
    return exitCode;
  }
}

async function createProgram(io: CliIo, wanted: string | undefined): Promise<Command> {
  const program = new Command('rerank-gateway');
  program
    .description('Keys, channels, tags, accounts, codes and logs of the rerank gateway.')
    .version(releaseOf())
    .option('--config <path>', 'a YAML file, or a folder of YAML files (also: CONFIG)')
    .option('--json', 'print JSON, for scripts')
    .option('--url <url>', 'the gateway to talk to, if not the one of the saved login')
    .option('--access-token <secret>', 'env:NAME for a variable, or - for standard input')
    .option('--local', 'work on the store directly, even when logged in')
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .configureOutput({
      writeOut: io.writeOut,
      writeErr: (text) => {
        if (!wantsJson(program)) io.writeError(text);
      },
    })
    .showSuggestionAfterError();
  program
    .command('start')
    .description('run the gateway in this folder: settings in config/gateway.yaml, data in data')
    .addHelpText(
      'after',
      '\nOptions such as --config and --print-config follow it: rerank-gateway start --help',
    );
  await addCommands(program, io, wanted);
  return program;
}

/** Adds the command that runs, or all of them; of the others, only what the help of the program lists. */
async function addCommands(program: Command, io: CliIo, wanted: string | undefined): Promise<void> {
  const running = COMMANDS.filter(
    ({ name, alias }) =>
      wanted !== undefined && (wanted === name || wanted === alias || wanted === WHOLE),
  );
  const modules = await Promise.all(running.map(({ load }) => load()));
  for (const add of new Set(modules.map(({ addCommands: add }) => add))) add(program, io);
  for (const { name, alias, description } of COMMANDS) {
    const command =
      program.commands.find((added) => added.name() === name) ?? program.command(name);
    command.description(description);
    if (alias !== undefined) command.alias(alias);
  }
  addHelp(program, []);
}

/** The name of the command on a line, before its options are read. */
function commandIn(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg, index) => {
    return !arg.startsWith('-') && !WITH_VALUE.includes(args[index - 1] ?? '');
  });
  return args[at];
}

/** The parser knows `help keys`, but not `help keys create`. */
function withHelpOption(args: readonly string[]): readonly string[] {
  const [first, ...others] = args;
  return first === 'help' && others.length > 0 ? [...others, '--help'] : args;
}

/** Known once the options are read; those of the program are read before those of any command. */
function wantsJson(program: Command): boolean {
  return program.opts<GlobalOptions>().json ?? false;
}
