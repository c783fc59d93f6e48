import { expect, it } from '@jest/globals';
import { ALERT_OPERATIONS } from '../../src/operations/alerts.js';
import type { OperationCall } from '../../src/operations/operation.js';
import { freshManagement, OPERATOR } from '../support/management.js';

const management = freshManagement();

it('an alert that is sent again is due at once, and in the audit log', async () => {
  const { store, deps } = management;
  const woken: string[] = [];
  const alerting = { wake: () => void woken.push('awake') };
  const alert = { type: 'key.ending', target: 'hook', summary: '', body: '{}', atMs: deps.now() };
  await store.addDeliveries([{ ...alert, id: 'a', messageId: 'm' }], deps.now(), 10);
  const again = (id: string) => {
    const call = {
      ...{ deps: { ...deps, alerting }, params: { id }, query: {}, body: undefined },
      ...{ actor: OPERATOR, login: {} },
    } as unknown as OperationCall;
    return ALERT_OPERATIONS.find(({ id: name }) => name === 'resendAlert')
      ?.prepare(call)
      .run();
  };

  await expect(again('b')).rejects.toMatchObject({ code: 'not_found' });
  expect(woken).toEqual([]);
  expect(await again('a')).toMatchObject({ data: { id: 'a', state: 'waiting' } });

  expect(woken).toEqual(['awake']);
  expect(await management.audited()).toMatchObject([
    { action: 'alert.resend', target: 'alert:a', detail: { type: 'key.ending', target: 'hook' } },
  ]);
});
