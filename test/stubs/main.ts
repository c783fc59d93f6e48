import { stringify } from 'yaml';
import { allProviders } from '../../src/providers/index.js';
import { FAULTS } from './faults.js';
import { knownStub, startStubs, stubModel } from './server.js';

/** `npm run stubs [port]`: every provider on one port, and the channels for them as a configuration to paste. */

const stubs = await startStubs(Number(process.argv[2] ?? 0));
const providers = allProviders().filter(({ transport }) => transport === 'http');

const channels = providers.map(({ id }) => ({
  name: `stub-${id}`,
  ...stubs.channel(id),
  tag: 'stub',
  models: { [id]: stubModel(id) },
}));

const lines = [
  `# Stubs of ${providers.length} providers at ${stubs.origin}. Ctrl-C ends them.`,
  '# A fault is switched on with the base URL (<stub>/<id>/!<fault>), with the words !stub:<fault> in a query, or with',
  '# the header x-stub-mode. Faults of all:',
  ...Object.entries(FAULTS).map(([name, does]) => `#   ${name}: ${does}`),
  '# Besides, error-<name> answers with one of a provider’s own errors, and these are variants of single ones:',
  ...providers.flatMap(({ id }) =>
    Object.entries(knownStub(id).variants).map(([name, does]) => `#   ${id}: ${name}: ${does}`),
  ),
  '',
  stringify({ channels }),
];
process.stdout.write(`${lines.join('\n')}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stubs.close());
}
