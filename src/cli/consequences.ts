import { Option, type Command } from 'commander';
import { confirm, type Session } from './session.js';
import { counted } from './text.js';

/** Something that a command changes. */
interface Changed {
  readonly id: number;
  readonly name: string;
}

/** Adds the option to see what would be changed, for commands that change several things. */
export function withDryRun(command: Command): Command {
  return command.addOption(
    new Option('-n, --dry-run', 'show what would be changed, and change nothing'),
  );
}

/** Whether --dry-run was given; if so, it has shown what would be changed. */
export function showDryRun(
  { show, isDryRun }: Session,
  what: string,
  channels: readonly Changed[],
  dark: readonly string[] = [],
): boolean {
  if (!isDryRun) return false;
  const listed = channels.map(({ id, name }) => ({ id, name }));
  show(
    { dry_run: true, channels: listed, dark_models: dark },
    [
      `${counted(channels.length, 'channel')} would be ${what}:`,
      ...channels.map(({ id, name }) => `  ${id}  ${name}`),
      ...(dark.length === 0 ? [] : [darkText(dark, 'would go')]),
      'Nothing was changed.',
    ].join('\n'),
  );
  return true;
}

/** Asks on a terminal before models go dark; a script is warned, and proceeds. */
export async function agreeToDark(session: Session, dark: readonly string[]): Promise<void> {
  if (dark.length === 0) return;
  const { io, isAgreed } = session;
  if (io.ask === undefined || isAgreed) {
    io.writeError(`${darkText(dark, dark.length === 1 ? 'goes' : 'go')}\n`);
  } else await confirm(session, darkText(dark, 'will go'));
}

/** Which models nothing will answer for. */
export function darkText(dark: readonly string[], goes: string): string {
  return `${counted(dark.length, 'model')} ${goes} dark (requests get 503): ${dark.join(', ')}.`;
}
