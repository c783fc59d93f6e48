import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { nodeName, thisNode } from '../../src/process/this-node.js';

describe('the name of a gateway', () => {
  it('is that of the machine, with what tells it from others there', () => {
    expect(nodeName('vm', 8080, undefined)).toBe('vm');
    expect(nodeName('vm', 8081, undefined)).toBe('vm:8081');
    expect(nodeName('vm', 8080, 4711)).toBe('vm:4711');
    // The system chooses the port.
    expect(thisNode(0).name).toBe(`${hostname()}:${process.pid}`);
    expect(thisNode(8081).name).toBe(`${hostname()}:8081`);
  });
});
