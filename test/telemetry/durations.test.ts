import { expect, it } from '@jest/globals';
import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import { ByLabels } from '../../src/telemetry/by-labels.js';
import { Durations } from '../../src/telemetry/durations.js';
import { fc } from '../support/property.js';

const BOUNDS = [0.001, 0.05, 0.1, 1, 30];
const SECONDS = fc.oneof(
  fc.constantFrom(0, ...BOUNDS),
  fc.double({ min: 0, max: 40, noNaN: true, noDefaultInfinity: true }),
);
const LABEL = fc.constantFrom('a', 'b', 'none', 'a"b\\');
const OBSERVED = fc.array(fc.tuple(SECONDS, LABEL, LABEL), { maxLength: 40 });

const DESCRIBED = { name: 'x_seconds', help: 'How long x took' };

it('reads like a histogram of prom-client, alone and added up over several processes', async () => {
  await fc.assert(
    fc.asyncProperty(OBSERVED, async (observed) => {
      const [registry, theirs] = [new Registry(), new Registry()];
      const labelNames = ['of', 'outcome'];
      const own = new Durations({
        ...DESCRIBED,
        ...{ labelNames, bounds: BOUNDS, registers: [registry] },
      });
      const oracle = new Histogram({
        ...DESCRIBED,
        ...{ labelNames, buckets: BOUNDS, registers: [theirs] },
      });
      for (const [seconds, of, outcome] of observed) {
        own.observe(seconds, of, outcome);
        oracle.labels(of, outcome).observe(seconds);
      }

      expect(await registry.metrics()).toBe(await theirs.metrics());
      expect(await addedUp(registry)).toBe(await addedUp(theirs));
    }),
  );
});

it('what is forgotten begins anew, also if it was the latest', () => {
  const values = new ByLabels((...labels) => ({ labels }));
  const before = values.of('a', 'ok');

  values.keepOnly(
    () => false,
    () => undefined,
  );

  expect(values.of('a', 'ok')).not.toBe(before);
  expect([...values.values()]).toHaveLength(1);
});

/** As two workers of one gateway send it to the process that adds up. */
async function addedUp(registry: Registry): Promise<string> {
  const sent = (await registry.getMetricsAsJSON()) as object[];
  return AggregatorRegistry.aggregate([sent, sent]).metrics();
}
