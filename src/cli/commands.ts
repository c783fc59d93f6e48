import type { Command } from 'commander';
import type { CliIo } from './session.js';

/** Adds commands to the program, with their options and actions. */
type AddCommands = (program: Command, io: CliIo) => void;

/** A command of the program as its help lists it. Its module is large: only a command that runs loads it. */
interface ListedCommand {
  readonly name: string;
  readonly alias?: string | undefined;
  readonly description: string;
  readonly load: () => Promise<{ readonly addCommands: AddCommands }>;
}

/** The commands of a module, by their names; a second name is in the singular. */
function commandsOf(
  load: ListedCommand['load'],
  descriptions: Readonly<Record<string, string>>,
): ListedCommand[] {
  return Object.entries(descriptions).map(([names, description]) => {
    const [name = '', alias] = names.split('|');
    return { name, alias, description, load };
  });
}

/** Every command of the program, in the order of its help. */
export const COMMANDS: readonly ListedCommand[] = [
  ...commandsOf(() => import('./login.js'), {
    login: 'log in to a gateway; later commands go there',
    logout: 'log out: revoke the saved access token and delete the file',
    whoami: 'show where commands go, and for which account',
  }),
  ...commandsOf(() => import('./keys.js'), { 'keys|key': 'API keys of clients' }),
  ...commandsOf(() => import('./channels.js'), {
    'channels|channel': 'providers with an address and credentials',
  }),
  ...commandsOf(() => import('./tags.js'), {
    'tags|tag': 'switch all channels with a tag off and on',
  }),
  ...commandsOf(() => import('./nodes.js'), {
    'nodes|node': 'running gateways, and whether each is up to date',
  }),
  ...commandsOf(() => import('./alerts.js'), {
    'alerts|alert': 'what is sent to webhooks, Slack and mail',
  }),
  ...commandsOf(() => import('./overview.js'), {
    overview: 'whether everything is all right, across all gateways',
    doctor: 'check settings, store and channels; exit code 1 if something needs a look',
  }),
  ...commandsOf(() => import('./explain.js'), {
    explain: 'show where a request would go now, why not elsewhere, and what it would cost',
  }),
  ...commandsOf(() => import('./probe.js'), {
    probe: 'find out what an unknown server speaks, and print a channel for it',
  }),
  ...commandsOf(() => import('./users.js'), { 'users|user': 'accounts of people' }),
  ...commandsOf(() => import('./codes.js'), {
    'codes|code': 'redemption codes, which people redeem for quota',
  }),
  ...commandsOf(() => import('./logs.js'), {
    'logs|log': 'requests',
    audit: 'list management writes: who did what, when and why',
  }),
  ...commandsOf(() => import('./examples.js'), {
    'examples|example': 'inputs of the playground that people keep',
  }),
  ...commandsOf(() => import('./spend.js'), {
    spend: 'add up who spent what, across all gateways',
  }),
  ...commandsOf(() => import('./prices.js'), { prices: 'what models cost' }),
  ...commandsOf(() => import('./config.js'), { config: 'the settings of the gateway' }),
  ...commandsOf(() => import('./reload.js'), {
    reload: 'let the gateways of this machine read their settings again, without a restart',
  }),
  ...commandsOf(() => import('./encryption.js'), {
    encryption: 'the key that encrypts the credentials of channels',
  }),
  ...commandsOf(() => import('./moving.js'), {
    export: 'write everything in the store to a file, to move it to another store',
    import: 'fill an empty store from a file that export has written',
  }),
  ...commandsOf(() => import('./support.js'), {
    'support-bundle':
      'write a file for people who help: settings, channels, nodes, failures, metrics',
  }),
  ...commandsOf(() => import('./backup.js'), {
    backup: 'copy the embedded store into a new folder',
  }),
  ...commandsOf(() => import('./restore.js'), {
    restore: 'bring the embedded store back to a backup',
  }),
  ...commandsOf(() => import('./completion.js'), {
    completion: 'print a script that completes commands in bash, zsh or fish',
  }),
];
