import type { Command } from 'commander';
import { own } from '../core/records.js';
import { EXAMPLES } from './help-examples.js';

/** Options that are shown below the others, by the heading that they go under. */
const GROUPS: Readonly<Record<string, string>> = {
  'Which part of the list, and how it is printed:': 'limit offset before sort fields csv',
  'Limits:':
    'rate-limit max-concurrency requests-per-minute tokens-per-minute adaptive-concurrency key-max-concurrency key-requests-per-minute key-tokens-per-minute budget budget-period budget-time-zone budget-scope timeout',
  'Rarely needed:':
    'default-model aliases fallbacks dialect reply-cache reply-cache-ttl may-explain credential cost scores pair-tokens long-documents window-size window-stride retry-unsafe health-check',
};
const GROUP_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([heading, names]) =>
    names.split(' ').map((name) => [`--${name}`, heading] as const),
  ),
);

/** Gives a command, and all below it, examples and groups of options in its help. */
export function addHelp(command: Command, words: readonly string[]): void {
  for (const sub of command.commands) addHelp(sub, [...words, sub.name()]);
  for (const option of command.options) {
    const heading = GROUP_OF.get(option.long ?? '');
    if (heading !== undefined) option.helpGroup(heading);
  }
  const examples = own(EXAMPLES, words.join(' '))?.map((example) => `  rerank-gateway ${example}`);
  if (examples !== undefined) {
    const heading = examples.length === 1 ? 'Example:' : 'Examples:';
    command.addHelpText('after', `\n${[heading, ...examples].join('\n')}`);
  }
}
