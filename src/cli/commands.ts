import type { Command } from 'commander';
import type { CliIo } from './session.js';

/** Adds commands to the program, with their options and actions. */
type AddCommands = (program: Command, io: CliIo) => void;

/** A command of the program as its help lists it. Its module is large: only a command that runs loads it. */
interface ListedCommand {
  readonly name: string;
  readonly alias?: string;
  readonly description: string;
  /** Commands of one module share the function. */
  readonly load: () => Promise<AddCommands>;
}

const login = async (): Promise<AddCommands> => (await import('./login.js')).addLoginCommands;
const logs = async (): Promise<AddCommands> => (await import('./logs.js')).addLogCommands;
const overview = async (): Promise<AddCommands> =>
  (await import('./overview.js')).addOverviewCommand;
const moving = async (): Promise<AddCommands> => (await import('./moving.js')).addMovingCommands;

/** Every command of the program, in the order of its help. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'login',
    description: 'log in to a gateway; later commands go there',
    load: login,
  },
  {
    name: 'logout',
    description: 'log out: revoke the saved access token and delete the file',
    load: login,
  },
  {
    name: 'whoami',
    description: 'show where commands go, and for which account',
    load: login,
  },
  {
    name: 'keys',
    alias: 'key',
    description: 'API keys of clients',
    load: async () => (await import('./keys.js')).addKeyCommands,
  },
  {
    name: 'channels',
    alias: 'channel',
    description: 'providers with an address and credentials',
    load: async () => (await import('./channels.js')).addChannelCommands,
  },
  {
    name: 'tags',
    alias: 'tag',
    description: 'switch all channels with a tag off and on',
    load: async () => (await import('./tags.js')).addTagCommands,
  },
  {
    name: 'nodes',
    alias: 'node',
    description: 'running gateways, and whether each is up to date',
    load: async () => (await import('./nodes.js')).addNodeCommands,
  },
  {
    name: 'alerts',
    alias: 'alert',
    description: 'what is sent to webhooks, Slack and mail',
    load: async () => (await import('./alerts.js')).addAlertCommands,
  },
  {
    name: 'overview',
    description: 'whether everything is all right, across all gateways',
    load: overview,
  },
  {
    name: 'doctor',
    description: 'check settings, store and channels; exit code 1 if something needs a look',
    load: overview,
  },
  {
    name: 'explain',
    description: 'show where a request would go now, why not elsewhere, and what it would cost',
    load: async () => (await import('./explain.js')).addExplainCommand,
  },
  {
    name: 'probe',
    description: 'find out what an unknown server speaks, and print a channel for it',
    load: async () => (await import('./probe.js')).addProbeCommand,
  },
  {
    name: 'users',
    alias: 'user',
    description: 'accounts of people',
    load: async () => (await import('./users.js')).addUserCommands,
  },
  {
    name: 'codes',
    alias: 'code',
    description: 'redemption codes, which people redeem for quota',
    load: async () => (await import('./codes.js')).addCodeCommands,
  },
  {
    name: 'logs',
    alias: 'log',
    description: 'requests',
    load: logs,
  },
  {
    name: 'audit',
    description: 'list management writes: who did what, when and why',
    load: logs,
  },
  {
    name: 'examples',
    alias: 'example',
    description: 'inputs of the playground that people keep',
    load: async () => (await import('./examples.js')).addExampleCommands,
  },
  {
    name: 'spend',
    description: 'add up who spent what, across all gateways',
    load: async () => (await import('./spend.js')).addSpendCommand,
  },
  {
    name: 'prices',
    description: 'what models cost',
    load: async () => (await import('./prices.js')).addPriceCommand,
  },
  {
    name: 'config',
    description: 'the settings of the gateway',
    load: async () => (await import('./config.js')).addConfigCommands,
  },
  {
    name: 'reload',
    description: 'let the gateways of this machine read their settings again, without a restart',
    load: async () => (await import('./reload.js')).addReloadCommand,
  },
  {
    name: 'encryption',
    description: 'the key that encrypts the credentials of channels',
    load: async () => (await import('./encryption.js')).addEncryptionCommands,
  },
  {
    name: 'export',
    description: 'write everything in the store to a file, to move it to another store',
    load: moving,
  },
  {
    name: 'import',
    description: 'fill an empty store from a file that export has written',
    load: moving,
  },
  {
    name: 'support-bundle',
    description: 'write a file for people who help: settings, channels, nodes, failures, metrics',
    load: async () => (await import('./support.js')).addSupportCommand,
  },
  {
    name: 'backup',
    description: 'copy the embedded store into a new folder',
    load: async () => (await import('./backup.js')).addBackupCommand,
  },
  {
    name: 'restore',
    description: 'bring the embedded store back to a backup',
    load: async () => (await import('./restore.js')).addRestoreCommand,
  },
  {
    name: 'completion',
    description: 'print a script that completes commands in bash, zsh or fish',
    load: async () => (await import('./completion.js')).addCompletionCommand,
  },
];
