import { Command, CommanderError } from 'commander';
import { CONFIG_EXIT_CODE, ConfigError, mistakeWire } from '../config/mistakes.js';
import { GatewayError } from '../core/errors.js';
import { EncryptionKeyError } from '../assembly/open-store.js';
import { StoreUnavailableError } from '../store/store.js';
import { GatewayUnreachableError } from '../client/api-client.js';
import { addAlertCommands } from './alerts.js';
import { addChannelCommands } from './channels.js';
import { addCodeCommands } from './codes.js';
import { addConfigCommands } from './config.js';
import { addEncryptionCommands } from './encryption.js';
import { addExampleCommands } from './examples.js';
import { addExplainCommand } from './explain.js';
import { addKeyCommands } from './keys.js';
import { addLoginCommands } from './login.js';
import { addLogCommands } from './logs.js';
import { addNodeCommands } from './nodes.js';
import { addOverviewCommand } from './overview.js';
import { releaseOf } from '../process/this-node.js';
import { UsageError } from './errors.js';
import { StoppedGatewayError } from '../client/client.js';
import { type CliIo, type GlobalOptions } from './session.js';
import { addMovingCommands } from './moving.js';
import { addSpendCommand } from './spend.js';
import { addSupportCommand } from './support.js';
import { addPriceCommand } from './prices.js';
import { addProbeCommand } from './probe.js';
import { addRestoreCommand } from './restore.js';
import { addTagCommands } from './tags.js';
import { addUserCommands } from './users.js';

/** Done. */
const OK = 0;
/** Understood but refused: what is named does not exist, or is in the wrong state for it. */
const REFUSED = 1;
/** Not understood: a wrong command, option or value. */
const USAGE = 2;
/** `EX_UNAVAILABLE` of sysexits: the store, or the gateway, cannot be reached. */
const UNAVAILABLE = 69;

const EPILOGUE = `
Once you are logged in (login), or with --url and --access-token (also: RERANK_GATEWAY_URL, RERANK_GATEWAY_ACCESS_TOKEN), the
commands go over HTTP to the gateway, as your account. Otherwise, and with --local, they work on its store, found through
the same settings (--config, CONFIG, the environment and .env), while it runs or not. "whoami" says which.
Amounts of quota are units; 500000 units are one dollar, and 1.50usd is understood too.
Exit codes: 0 done, 1 refused or something needs a look, 2 wrong usage, 69 store or gateway not reachable, 78 mistakes in the settings.`;

/** Runs one command line, without the name of the program; resolves to the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync(args, { from: 'user' });
    return OK;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return OK;
    const { exitCode, ...said } = explain(error);
    const { message } = said;
    if (wantsJson(program)) io.writeError(`${JSON.stringify({ error: said })}\n`);
    // The parser has already said it.
    else if (!(error instanceof CommanderError)) io.writeError(`${message}\n`);
    return exitCode;
  }
}

function createProgram(io: CliIo): Command {
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
  addLoginCommands(program, io);
  addKeyCommands(program, io);
  addChannelCommands(program, io);
  addTagCommands(program, io);
  addNodeCommands(program, io);
  addAlertCommands(program, io);
  addOverviewCommand(program, io);
  addExplainCommand(program, io);
  addProbeCommand(program, io);
  addUserCommands(program, io);
  addCodeCommands(program, io);
  addLogCommands(program, io);
  addExampleCommands(program, io);
  addSpendCommand(program, io);
  addPriceCommand(program, io);
  addConfigCommands(program, io);
  addEncryptionCommands(program, io);
  addMovingCommands(program, io);
  addSupportCommand(program, io);
  addRestoreCommand(program, io);
  return program;
}

/** Known once the options are read; those of the program are read before those of any command. */
function wantsJson(program: Command): boolean {
  return program.opts<GlobalOptions>().json ?? false;
}

function explain(error: unknown): {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly mistakes?: readonly ReturnType<typeof mistakeWire>[];
} {
  if (error instanceof ConfigError) {
    const mistakes = error.mistakes.map(mistakeWire);
    return { code: 'invalid_config', exitCode: CONFIG_EXIT_CODE, message: error.message, mistakes };
  }
  if (error instanceof StoreUnavailableError) {
    const message = `The store cannot be reached: ${error.message}`;
    return { code: 'store_unavailable', exitCode: UNAVAILABLE, message };
  }
  if (error instanceof EncryptionKeyError) {
    return { code: 'wrong_encryption_key', exitCode: CONFIG_EXIT_CODE, message: error.message };
  }
  if (error instanceof GatewayUnreachableError) {
    return { code: 'gateway_unreachable', exitCode: UNAVAILABLE, message: error.message };
  }
  if (error instanceof GatewayError) {
    const exitCode = error.code === 'invalid_request' ? USAGE : REFUSED;
    return { code: error.code, exitCode, message: error.message };
  }
  if (error instanceof CommanderError) {
    const message =
      error.code === 'commander.help'
        ? 'The command is incomplete; see --help.'
        : error.message.replace(/^error: /, '');
    return { code: 'invalid_request', exitCode: USAGE, message };
  }
  if (error instanceof UsageError || error instanceof StoppedGatewayError) {
    return { code: 'invalid_request', exitCode: USAGE, message: error.message };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'refused', exitCode: REFUSED, message };
}
