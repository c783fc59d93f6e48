import { mocker, timers } from './globals.mjs';

/** Gives jest the globals of Node itself where it would make a world of its own for each suite. */
export default class NodeItself {
  global = globalThis;
  moduleMocker = mocker;
  fakeTimers = null;
  fakeTimersModern = timers;
  /** Jest puts one in its place that belongs to the suite. */
  #console = console;

  async setup() {
    // The globals are there.
  }

  async teardown() {
    globalThis.console = this.#console;
  }

  getVmContext() {
    return null;
  }
}
