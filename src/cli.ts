#!/usr/bin/env node
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { runCli } from './cli/program.js';

async function ask(question: string): Promise<string> {
  // On standard error, so that standard output is the result and nothing else.
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await prompt.question(question);
  } finally {
    prompt.close();
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number and no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  user: userName(),
  now: Date.now,
  writeOut: (output) => process.stdout.write(output),
  writeError: (output) => process.stderr.write(output),
  ask: process.stdin.isTTY ? ask : undefined,
  readInput: () => text(process.stdin),
});
