import { describe, expect, it } from '@jest/globals';
import { bodyOf, isSame, recordOf, undoOf } from '../../src/console/lib/audit.js';

const change = (member: string, before: unknown, after: unknown) => ({
  ...{ member, before, after, omitted: false },
});

describe('the record of an entry', () => {
  it.each([
    ['channel.update', 'channel:7', 'channels/7'],
    ['token.roll', 'token:3', 'keys/3'],
    ['user.login', 'user:1', 'people/1'],
    ['redemption.create', 'redemption:9', 'codes/9'],
    ['tag.disable', 'tag:a/b c', 'tags/a%2Fb%20c'],
    ['token.delete', 'token:3', undefined],
    ['channel.test_draft', 'channel:draft', undefined],
    ['redemption.delete_invalid', 'redemption', undefined],
    ['example.save', 'example:4', undefined],
  ])('%s of %s is at %s', (action, target, expected) => {
    expect(recordOf({ action, target })).toBe(expected);
  });
});

describe('undo', () => {
  it('sets back what people set, and says what it leaves', () => {
    const weight = change('weight', 1, 7);
    const changes = [weight, change('base_url', null, 'https://x'), change('settings', {}, {})];

    expect(undoOf({ action: 'channel.update', target: 'channel:7', changes })).toEqual({
      ...{ kind: 'channel', of: '7', changes: [weight] },
      left: ['base_url', 'settings'],
    });
  });

  it('is offered for a switch, and not where nothing can be set back', () => {
    const off = [change('disabled', false, true), change('reason', null, 'slow')];
    expect(undoOf({ action: 'tag.disable', target: 'tag:eu', changes: off })).toMatchObject({
      ...{ kind: 'tag', of: 'eu', left: [] },
    });

    const none = (action: string, target: string, changes = off): void => {
      expect(undoOf({ action, target, changes })).toBeUndefined();
    };
    none('channel.delete', 'channel:7');
    none('token.update', 'token:7', [change('remain_quota', 1, 2)]);
    none('token.update', 'token:7', [{ ...change('models', null, null), omitted: true }]);
    // Only the gateway sets 3.
    none('channel.update', 'channel:7', [change('status', 3, 1)]);
    none('user.update', 'user:7', []);
  });

  it('sends what there was, and an empty address for none', () => {
    expect(bodyOf([change('email', null, 'a@example.com'), change('tag', null, 'eu')])).toEqual({
      email: '',
      tag: null,
    });
  });

  it('knows values that are the same', () => {
    expect(isSame({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect(isSame('', null)).toBe(true);
    expect(isSame(undefined, null)).toBe(true);
    expect(isSame(['a'], ['b'])).toBe(false);
    expect(isSame(0, null)).toBe(false);
  });
});
