import { driveClosed, type Aim } from './load.js';

/**
 * Sends large requests one after the other, in a process of its own: writing and reading megabytes would delay whoever
 * measures small ones. The parent sends each order, and hears how many requests were answered.
 */
export interface Order {
  readonly aim: Aim;
  readonly seconds: number;
}

process.on('message', ({ aim, seconds }: Order) => {
  void driveClosed(aim, seconds).then((closed) => process.send?.(closed));
});
