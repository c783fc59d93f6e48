/** What a suite imports from `@jest/globals`: jest's own parts, which change the globals of Node itself. */
import { jestExpect as expect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

export const mocker = new ModuleMocker(globalThis);
export const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

const jest = {
  ...bound(mocker, ['spyOn', 'restoreAllMocks']),
  ...bound(timers, ['useFakeTimers', 'useRealTimers', 'getTimerCount']),
  ...bound(timers, ['advanceTimersByTime', 'advanceTimersByTimeAsync']),
};

function bound(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
}

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test };
