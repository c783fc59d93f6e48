import { parseArgs } from 'node:util';
import { SABOTAGES, STORM_SECONDS } from './settings.js';
import { ATTACK_NAMES } from './attacks/attacker.js';
import { runAttacks } from './attacks/run.js';
import { runChaos } from './run.js';
import { STORE_KINDS, type StoreKind } from './stores.js';
import type { Violation } from './observations.js';

const USAGE = `Usage: npm run chaos -- [options]

  --self-test   put a violation in on purpose, one after the other, and see that each is found
  --attacks [name…]  attack one gateway over HTTP, one way after the other
  --help        this text

CHAOS_SEED      what happens, and when; the same seed again for the same schedule (default: another one each time)
CHAOS_SECONDS   how long things happen (default: ${STORM_SECONDS}; each attack 3)
CHAOS_STORE     ${STORE_KINDS.join(', ')} (default: single)
CHAOS_WORKERS   processes of a gateway that is attacked (default: 1)
CHAOS_QUIET     not empty: tells the end alone
`;

const { values: options, positionals } = parseArgs({
  options: {
    'self-test': { type: 'boolean' },
    attacks: { type: 'boolean' },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
});

const MOST_SHOWN = 10;
const MOST_EVIDENCE = 24;

async function main(): Promise<number> {
  if (options.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const seed = process.env.CHAOS_SEED ?? String(Date.now());
  const seconds = Number(process.env.CHAOS_SECONDS ?? STORM_SECONDS);
  if (options.attacks === true) {
    const attacks = positionals.length === 0 ? ATTACK_NAMES : positionals;
    const each = Number(process.env.CHAOS_SECONDS ?? 3);
    const workers = Number(process.env.CHAOS_WORKERS ?? 1);
    const done = await runAttacks({ seed, seconds: each, workers, attacks, tell });
    show(done.violations);
    print(`${done.summary}\nseed ${seed}: ${done.violations.length} violations`);
    return done.violations.length === 0 ? 0 : 1;
  }
  const store = storeNamed(process.env.CHAOS_STORE ?? 'single');
  if (options['self-test'] === true) return selfTest(seed, seconds, store);
  const { violations, summary } = await runChaos({ seed, seconds, store, tell });
  show(violations);
  print(`${summary}\nseed ${seed}: ${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

/** Each promise is broken once by a patched gateway: a suite that does not notice is worth nothing. */
async function selfTest(seed: string, seconds: number, store: StoreKind): Promise<number> {
  let missed = 0;
  for (const { name, breaks } of SABOTAGES) {
    const { violations } = await runChaos({ seed, seconds, store, sabotage: name, tell });
    const found = violations.filter(({ rule }) => breaks.includes(rule));
    if (found.length === 0) missed += 1;
    const [first] = found;
    const shown = first === undefined ? 'NOT FOUND' : `found ${found.length} times: ${first.what}`;
    print(`${name}: ${shown}`);
  }
  return missed === 0 ? 0 : 1;
}

function storeNamed(name: string): StoreKind {
  const kind = STORE_KINDS.find((each) => each === name);
  if (kind === undefined) throw new Error(`CHAOS_STORE must be ${STORE_KINDS.join(', ')}`);
  return kind;
}

function show(violations: readonly Violation[]): void {
  for (const { rule, what, evidence } of violations.slice(0, MOST_SHOWN)) {
    print(`VIOLATION of "${rule}": ${what}`);
    for (const line of evidence.slice(0, MOST_EVIDENCE)) {
      print(`  ${typeof line === 'string' ? line : JSON.stringify(line)}`);
    }
  }
}

function tell(what: string): void {
  if ((process.env.CHAOS_QUIET ?? '') === '') print(`${new Date().toISOString()} ${what}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await main();
