import type { Command } from 'commander';
import { parse } from 'yaml';
import { printConfig } from '../config.js';
import { withoutStore, type CliIo } from './session.js';
import { counted } from './text.js';

export function addConfigCommands(program: Command, io: CliIo): void {
  const config = program.command('config').description('the settings of the gateway');

  config
    .command('print')
    .description('print the settings in force, secrets masked')
    .action(
      withoutStore(io, ({ settings, show }) => {
        const text = printConfig(settings());
        show(parse(text), text);
      }),
    );

  config
    .command('check')
    .description('report every mistake in the settings, or that there is none')
    .action(
      withoutStore(io, ({ settings, show }) => {
        const { channels = [], tags } = settings();
        show(
          { valid: true, channels: channels.length, tags: tags.length },
          `The settings are in order: ${counted(channels.length, 'channel')}, ${counted(tags.length, 'tag')}.`,
        );
      }),
    );
}
