import type { Page, Slice } from './page.js';
import { number, recordOf, text } from './records.js';

/** One message on its way to one target, such as a webhook. */
export interface Delivery {
  /** The message and its target. */
  readonly id: string;
  /** The same for all targets and all tries. */
  readonly messageId: string;
  /** What happened, such as `channel.disabled`. */
  readonly type: string;
  readonly target: string;
  /** A sentence for people. */
  readonly summary: string;
  /** The body, in the target's form. */
  readonly body: string;
  readonly atMs: number;
}

export type DeliveryState = 'waiting' | 'sent' | 'dead';

/** How the last try ended. */
export interface DeliveryOutcome {
  readonly state: DeliveryState;
  /** Failed tries. */
  readonly tries: number;
  /** Why the last try failed; empty if it did not. */
  readonly error: string;
  /** When a waiting one is due. */
  readonly dueAtMs: number;
}

export interface DeliveryRecord extends Delivery, DeliveryOutcome {
  /** When its state was last set. */
  readonly changedMs: number;
}

export const DELIVERIES = recordOf<DeliveryRecord>('deliveries', {
  id: text('id'),
  messageId: text('messageId'),
  type: text('type'),
  target: text('target'),
  summary: text('summary'),
  body: text('body'),
  atMs: number('atMs'),
  state: text<DeliveryState>('state'),
  tries: number('tries'),
  error: text('error'),
  dueAtMs: number('dueAtMs'),
  changedMs: number('changedMs'),
});

/** A condition that people are alerted to, and how severe it is now; '' ends it. */
export interface AlertCondition {
  readonly key: string;
  readonly value: string;
}

export interface DeliveryQuery extends Slice {
  readonly state?: DeliveryState;
}

/** Deliveries to receivers elsewhere, and their outcomes. */
export interface DeliveryStore {
  /**
   * Adds those whose ids are new. With a condition, adds them only if its value differs from the last one, which is set in the
   * same step: of several nodes that report the same, one adds. `full`: more than `most` are waiting, and nothing was added.
   */
  addDeliveries(
    deliveries: readonly Delivery[],
    nowMs: number,
    most: number,
    condition?: AlertCondition,
  ): Promise<'added' | 'known' | 'full'>;
  /** The conditions that have not ended, with their values. */
  alertConditions(): Promise<ReadonlyMap<string, string>>;
  /** Takes those that are due, longest first, so that they are due for no other node until `forMs` have passed. */
  takeDeliveries(nowMs: number, forMs: number, most: number): Promise<readonly DeliveryRecord[]>;
  /** Records how a try ended. Of those that are sent, and of the dead, the newest `keep` remain. */
  endDelivery(id: string, outcome: DeliveryOutcome, nowMs: number, keep: number): Promise<void>;
  /** Makes a delivery due now, as if it had not been tried; `undefined` if it is unknown. */
  redeliver(id: string, nowMs: number): Promise<DeliveryRecord | undefined>;
  /** Newest first. */
  listDeliveries(query: DeliveryQuery): Promise<Page<DeliveryRecord>>;
}
