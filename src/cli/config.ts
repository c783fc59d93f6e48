import type { Command } from 'commander';
import { parse } from 'yaml';
import { printConfig } from '../config/print.js';
import { checkConfig } from '../config/load-config.js';
import { withoutStore, type CliIo } from './session.js';
import { counted } from './text.js';

export function addCommands(program: Command, io: CliIo): void {
  const config = program.command('config');

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
    .description('check the settings and report every mistake')
    .option('--store-channels', 'accept models and tags that only channels in the store may have')
    .action(
      withoutStore(io, ({ sources, show }, command) => {
        const { storeChannels } = command.opts<{ readonly storeChannels?: boolean }>();
        const { channels = [], tags } = checkConfig(sources, { storeChannels });
        show(
          { valid: true, channels: channels.length, tags: tags.length },
          `The settings are valid: ${counted(channels.length, 'channel')}, ${counted(tags.length, 'tag')}.`,
        );
      }),
    );
}
