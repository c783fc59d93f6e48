/**
 * Runs a suite as jest does, but in Node itself: jest's own runner loads every module of the gateway and of its packages
 * again for each suite, which took a quarter of the time. Here a process loads them once, and only the files of `test` again.
 */
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createEmptyTestResult } from '@jest/test-result';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatResultsErrors } from 'jest-message-util';
import { register as registerTypeScript } from 'tsx/esm/api';
import { expect, jest } from './globals.mjs';

const TICKS_PER_SECOND = 100;
/** A rejection that nobody has handled a turn after one of these events is a failure. */
const ENDS = ['hook_success', 'hook_failure', 'test_fn_success', 'test_fn_failure', 'run_finish'];
/** A suite may put other timers in the place of Node's. */
const { setImmediate } = globalThis;

registerTypeScript();
register('./modules.mjs', import.meta.url);
addEventHandler(onEvent);

let suites = 0;
const unhandled = new Map();
const LISTENERS = {
  uncaughtException: blame,
  unhandledRejection: (error, promise) => unhandled.set(promise, error),
  rejectionHandled: (promise) => unhandled.delete(promise),
};

/** Notes the CPU seconds that the suite took, with those of the processes that it started and saw end. */
export default async function runSuite(globalConfig, config, _environment, _runtime, path) {
  const before = cpuSeconds();
  const start = Date.now();
  suites += 1;
  begin(globalConfig, path);
  const giveBack = takeOver();
  try {
    await import(`${pathToFileURL(path)}?suite=${suites}`);
    const ran = await run();
    const result = resultOf(ran, globalConfig, config, path);
    const end = Date.now();
    return {
      ...result,
      perfStats: { ...result.perfStats, start, end, runtime: end - start },
      cpuSeconds: cpuSeconds() - before,
    };
  } finally {
    jest.useRealTimers();
    giveBack();
  }
}

/** Listens in the place of whoever listens to errors in this process; returns what ends that, and what the suite set in the environment. */
function takeOver() {
  const environment = { ...process.env };
  const events = Object.entries(LISTENERS);
  const others = events.map(([event]) => process.rawListeners(event));
  for (const [event, listener] of events) process.removeAllListeners(event).on(event, listener);
  return () => {
    for (const [at, [event]] of events.entries()) {
      process.removeAllListeners(event);
      for (const other of others[at]) process.on(event, other);
    }
    for (const name of Object.keys(process.env))
      if (!(name in environment)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, environment);
  };
}

function begin(globalConfig, testPath) {
  // Jest's own does not know the source maps of modules that it did not load.
  Error.prepareStackTrace = undefined;
  Error.stackTraceLimit = 100;
  resetState();
  const state = getState();
  state.testTimeout = globalConfig.testTimeout;
  if (globalConfig.testNamePattern) {
    state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');
  }
  expect.setState({ testPath, expand: globalConfig.expand });
}

async function onEvent({ name, test }) {
  if (name === 'test_start') {
    expect.setState({ currentTestName: fullName(test) });
  } else if (name === 'test_done') {
    test.numPassingAsserts = expect.getState().numPassingAsserts;
    test.errors.push(...expect.extractExpectedAssertionsErrors().map(({ error }) => error));
  } else if (ENDS.includes(name)) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const error of unhandled.values()) blame(error);
    unhandled.clear();
  }
}

function fullName({ name, parent }) {
  return parent === undefined || parent.name === 'ROOT_DESCRIBE_BLOCK'
    ? name
    : `${fullName(parent)} ${name}`;
}

/** Fails the test that runs, or else the suite. */
function blame(error) {
  const { currentlyRunningTest, unhandledErrors } = getState();
  const [, of] = /([^\s(/]+\.test\.ts)/.exec(error?.stack) ?? [];
  if (of !== undefined && !expect.getState().testPath.endsWith(of)) {
    error.stack = `This comes from ${of}, which ended before.\n${error.stack}`;
  }
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
}

function resultOf({ testResults, unhandledErrors }, globalConfig, config, testFilePath) {
  const tests = testResults.map(({ testPath, errors, status, ...rest }) => ({
    ...rest,
    ancestorTitles: testPath.slice(1, -1),
    title: testPath.at(-1),
    fullName: testPath.slice(1).join(' '),
    status: statusOf(status, errors),
    failureMessages: errors,
    failureDetails: [],
  }));
  const counted = (wanted) => tests.filter(({ status }) => status === wanted).length;
  const messages = [
    formatResultsErrors(tests, config, globalConfig, testFilePath),
    ...unhandledErrors,
  ].filter(Boolean);
  return {
    ...createEmptyTestResult(),
    failureMessage: messages.length > 0 ? messages.join('\n') : undefined,
    numFailingTests: counted('failed'),
    numPassingTests: counted('passed'),
    numPendingTests: counted('pending'),
    numTodoTests: counted('todo'),
    testExecError:
      unhandledErrors.length > 0 ? { message: '', stack: unhandledErrors.join('\n') } : undefined,
    testFilePath,
    testResults: tests,
  };
}

function statusOf(status, errors) {
  if (status === 'done') return errors.length > 0 ? 'failed' : 'passed';
  return status === 'skip' ? 'pending' : status;
}

function cpuSeconds() {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // What follows the name: utime, stime, cutime and cstime are the 12th to the 15th.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
