import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { beforeEnd, createScope } from '../../src/gateway/scope.js';

const T0 = 1_700_000_000_000;

afterEach(() => {
  jest.useRealTimers();
});

describe('Scope', () => {
  it('tells everyone who listens, once, and keeps the first reason', () => {
    const scope = createScope(T0, 60_000);
    const heard: string[] = [];
    scope.onEnd(() => heard.push('first'));
    scope.onEnd(() => heard.push('second'));

    scope.end('client_gone');
    scope.end('deadline');

    expect(heard).toEqual(['first', 'second']);
    expect(scope.ended).toBe('client_gone');
    scope.release();
  });

  it('takes off one listener and leaves the others', () => {
    const scope = createScope(T0, 60_000);
    const heard: string[] = [];
    const takeOff = scope.onEnd(() => heard.push('first'));
    scope.onEnd(() => heard.push('second'));

    takeOff();
    scope.end('client_gone');

    expect(heard).toEqual(['second']);
    scope.release();
  });

  it('calls a listener at once that comes after the end', () => {
    const scope = createScope(T0, 60_000);
    scope.end('client_gone');
    let heard = 0;

    scope.onEnd(() => (heard += 1));

    expect(heard).toBe(1);
    scope.release();
  });

  it('ends its children with its own reason, and never the other way round', () => {
    const scope = createScope(T0, 60_000);
    const one = scope.child();
    const other = scope.child();

    one.end('lost');
    expect(scope.ended).toBeUndefined();
    expect(other.ended).toBeUndefined();

    scope.end('deadline');
    expect([one.ended, other.ended]).toEqual(['lost', 'deadline']);
    expect(other.deadlineMs).toBe(scope.deadlineMs);
    scope.release();
  });

  it('lets go of a child that is released', () => {
    const scope = createScope(T0, 60_000);
    const child = scope.child();

    child.release();
    scope.end('client_gone');

    expect(child.ended).toBeUndefined();
    scope.release();
  });

  it('makes a child that has ended from a scope that has ended', () => {
    const scope = createScope(T0, 60_000);
    scope.end('deadline');

    expect(scope.child().ended).toBe('deadline');
    scope.release();
  });

  it('says by its error why it ended', () => {
    const gone = createScope(T0, 60_000);
    const late = createScope(T0, 60_000);
    gone.end('client_gone');
    late.end('deadline');

    expect(() => gone.throwIfEnded()).toThrow(
      expect.objectContaining({ code: 'client_closed_request' }),
    );
    expect(() => late.throwIfEnded()).toThrow(
      expect.objectContaining({ code: 'upstream_timeout' }),
    );
    gone.release();
    late.release();
  });

  it('ends by itself at its deadline', async () => {
    const scope = createScope(Date.now(), 1);

    await new Promise<void>((resolve) => scope.onEnd(resolve));

    expect(scope.ended).toBe('deadline');
    scope.release();
  });

  it('has its deadline by the clock that it was given, and holds no timer once it is released', () => {
    jest.useFakeTimers();
    const scope = createScope(T0, 60_000);
    const released = createScope(T0, 60_000);

    released.release();
    expect([scope.deadlineMs, jest.getTimerCount()]).toEqual([T0 + 60_000, 1]);
    jest.advanceTimersByTime(59_999);
    expect(scope.ended).toBeUndefined();
    jest.advanceTimersByTime(1);

    expect([scope.ended, released.ended]).toEqual(['deadline', undefined]);
    scope.release();
  });
});

describe('beforeEnd', () => {
  it('is the answer that comes before the end, or what it failed with', async () => {
    const scope = createScope(T0, 60_000);
    const failure = new Error('away');

    await expect(beforeEnd(scope, Promise.resolve(7))).resolves.toBe(7);
    await expect(beforeEnd(scope, Promise.reject(failure))).rejects.toBe(failure);
    scope.release();
  });

  it.each([() => Promise.resolve(7), () => Promise.reject(new Error('away'))])(
    'listens no longer than it takes: %#',
    async (answer) => {
      const scope = createScope(T0, 60_000);
      let listening = 0;
      const onEnd = (): (() => void) => {
        listening += 1;
        return () => (listening -= 1);
      };
      const waiting = beforeEnd({ ...scope, onEnd }, answer()).catch(() => undefined);
      expect(listening).toBe(1);

      await waiting;

      expect(listening).toBe(0);
      scope.release();
    },
  );

  it.each([
    ['client_gone', 'client_closed_request'],
    ['deadline', 'upstream_timeout'],
  ] as const)('is the error of a scope that ended first: %s', async (reason, code) => {
    const scope = createScope(T0, 60_000);
    const waiting = beforeEnd(scope, new Promise(() => undefined));

    scope.end(reason);

    await expect(waiting).rejects.toMatchObject({ code });
    await expect(beforeEnd(scope, Promise.resolve(7))).rejects.toMatchObject({ code });
    scope.release();
  });
});
