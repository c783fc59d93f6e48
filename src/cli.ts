#!/usr/bin/env node
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCli } from './cli/program.js';
import { wantsColour } from './cli/terminal.js';
import type { Environment } from './config/files.js';
import { withDotEnv } from './config/dot-env.js';
import { systemCode } from './core/errors.js';

async function ask(question: string, unseen = false): Promise<string> {
  // On standard error, so that standard output holds the result and nothing else.
  if (unseen) process.stderr.write(question);
  const prompt = createInterface({
    input: process.stdin,
    output: unseen ? nowhere() : process.stderr,
    // Otherwise the terminal itself would show what is typed.
    terminal: true,
  });
  try {
    return await prompt.question(unseen ? '' : question);
  } finally {
    prompt.close();
    if (unseen) process.stderr.write('\n');
  }
}

/** Swallows what would echo a password. */
function nowhere(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number but no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}

let environment: Environment | undefined;

const [node = '', , command, ...rest] = process.argv;
if (command === 'start') {
  provideSettings(process.env.CONFIG, rest);
  const gateway = new URL('main.js', import.meta.url);
  process.argv = [node, fileURLToPath(gateway), ...rest];
  await import(gateway.href);
} else {
  await runCommand();
}

/** The settings of a gateway that starts in a folder without any: one channel, which ranks inside the process. */
function provideSettings(named: string | undefined, args: readonly string[]): void {
  const file = join('config', 'gateway.yaml');
  const isNamed = (named ?? '') !== '' || args.some((arg) => /^--(config|help)\b|^-h$/.test(arg));
  if (isNamed || existsSync(file)) return;
  mkdirSync('config', { recursive: true });
  copyFileSync(new URL('../config/gateway.yaml', import.meta.url), file);
  process.stderr.write(`Wrote ${file}: add your channels there.\n`);
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** What reads the output, such as `head`, may have read enough: that is no failure. A full disk is one. */
function endWithOutput(error: Error): void {
  if (systemCode(error) === 'EPIPE') process.exit();
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
}

async function runCommand(): Promise<void> {
  process.stdout.on('error', endWithOutput);
  process.exitCode = await runCli(process.argv.slice(2), {
    // Read on first use, so that a mistake in .env is reported like any other, and --help works without it.
    get env() {
      return (environment ??= withDotEnv(process.env));
    },
    user: userName(),
    now: Date.now,
    writeOut: (output) => process.stdout.write(output),
    writeError: (output) => process.stderr.write(output),
    ask: process.stdin.isTTY ? ask : undefined,
    readInput: () => text(process.stdin),
    interrupted,
    terminal: process.stdout.isTTY ? process.stdout : undefined,
    colour: wantsColour(process.env, process.stdout.isTTY),
  });
}
