import { expect, it } from '@jest/globals';
import {
  deliveryWaitMs,
  mailBody,
  slackBody,
  webhookBody,
  type OutgoingEvent,
} from '../../src/core/delivery.js';

const EVENT: OutgoingEvent = {
  id: 'msg_1',
  type: 'channel.disabled',
  atMs: 1_700_000_001_500,
  summary: 'Channel <narrow> is disabled',
  data: { channel: { id: 7, name: '<narrow>' }, reason: 'no_credit', since: 1_700_000_000 },
};

it('a webhook gets type, timestamp and data, and a channel as former releases sent it', () => {
  const { data } = EVENT;
  const more = { node: 'one', summary: EVENT.summary };

  expect(JSON.parse(webhookBody(EVENT, 'one'))).toEqual({
    ...data,
    ...{ id: 'msg_1', type: 'channel.disabled', node: 'one', time: 1_700_000_001 },
    timestamp: '2023-11-14T22:13:21.500Z',
    data: { ...data, ...more },
  });
  expect(JSON.parse(webhookBody({ ...EVENT, type: 'node.silent' }, 'one'))).toEqual({
    ...{ id: 'msg_1', type: 'node.silent', node: 'one', time: 1_700_000_001 },
    timestamp: '2023-11-14T22:13:21.500Z',
    data: { ...data, ...more },
  });
});

it('Slack gets a text and blocks, in which names cannot be markup', () => {
  expect(JSON.parse(slackBody(EVENT, 'one'))).toEqual({
    text: 'Channel &lt;narrow&gt; is disabled',
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'Channel &lt;narrow&gt; is disabled' } },
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: 'channel.disabled · from one · *reason* no_credit · *since* 1700000000',
          },
        ],
      },
    ],
  });
});

it('Slack gets no more than a block holds, and no half of what was escaped', () => {
  const summary = `12${'&'.repeat(2_000)}`;
  const { blocks } = JSON.parse(slackBody({ ...EVENT, summary }, 'one')) as {
    readonly blocks: readonly { readonly text?: { readonly text: string } }[];
  };

  expect(blocks[0]?.text?.text).toBe(`12${'&amp;'.repeat(579)}`);
});

it('a mail has the sentence as its subject, and the facts below', () => {
  const { subject, text } = JSON.parse(mailBody(EVENT, 'one')) as Record<string, string>;

  expect(subject).toBe('rerank-gateway: Channel <narrow> is disabled');
  expect(text).toContain('channel.disabled, 2023-11-14T22:13:21.500Z, one\n');
  expect(text).toContain('channel: {"id":7,"name":"<narrow>"}\n');
});

it('a failed try waits longer each time, as long as the receiver asks for, and is given up within a day', () => {
  const waits = (chance: number, asked = 0) =>
    [1, 2, 3, 9, 10].map((tries) => deliveryWaitMs(tries, asked, () => chance));

  expect(waits(0)).toEqual([500, 2_500, 15_000, 21_600_000, undefined]);
  expect(waits(1)).toEqual([1_000, 5_000, 30_000, 43_200_000, undefined]);
  expect(waits(1, 60_000)).toEqual([60_000, 60_000, 60_000, 43_200_000, undefined]);
  expect(waits(1, 1e12)[0]).toBe(86_400_000);
});

it('a mail has a subject that fits, and all of the sentence in its text', () => {
  const summary = 'x'.repeat(500);
  const event = { id: 'm', type: 'key.ending', atMs: 0, summary, data: { id: 7 } };

  const { subject, text } = JSON.parse(mailBody(event, 'one')) as Record<string, string>;

  expect(subject).toBe(`rerank-gateway: ${'x'.repeat(184)}`);
  expect(text).toBe(`${summary}\n\nkey.ending, 1970-01-01T00:00:00.000Z, one\nid: 7\n`);
});
