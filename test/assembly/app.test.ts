import { expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { onlyChannel } from '../support/upstream.js';

const open = opened();

it.each([
  [5_000, 1],
  [30_000, 0],
])(
  'names channels that pauses of %i ms let requests through to between checks',
  async (openMs, lines) => {
    const gateway = await startGateway({
      traffic: { breaker_open_ms: openMs },
      channels: [onlyChannel('http://127.0.0.1:9', { health_check_s: 30 })],
    });
    open.push(gateway);

    const warnings = gateway.log.filter((line) => line.includes('between failed health checks'));

    expect(warnings).toHaveLength(lines);
    for (const line of warnings) expect(line).toContain('"channels":["only"]');
  },
);
