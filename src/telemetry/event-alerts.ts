import { randomUUID } from 'node:crypto';
import type { OutgoingEvent } from '../core/delivery.js';
import { dollars } from '../core/quota.js';
import type { BreakerEvent, OutageEvent, ReadEvents } from '../gateway/events.js';
import type { AlertCondition } from '../store/store.js';
import type { Sender } from './sender.js';

/**
 * Alerts people to channels that are paused, disabled or back, once for all nodes, and to settlements that were given up, once
 * in ten minutes.
 */
export function eventAlerts(sender: Pick<Sender, 'deliver'>, now: () => number): ReadEvents {
  return (events) => {
    for (const event of events) {
      if (event.kind === 'fault' && event.unsettled !== undefined) {
        const { unsettled: units, requestId } = event;
        sender.deliver({
          ...{ id: `msg_settlement_${Math.floor(now() / SETTLEMENTS_MS)}`, atMs: now() },
          type: 'settlement.given_up',
          summary: `The spending of a request could not be settled: ${dollars(units)}`,
          data: { units, request_id: requestId ?? null },
        });
      }
      if (event.kind !== 'breaker' && event.kind !== 'outage') continue;
      if (event.state === 'half_open') continue;
      const { alert, condition } =
        event.kind === 'outage' ? outageAlert(event) : circuitAlert(event, now());
      sender.deliver({ id: `msg_${randomUUID()}`, atMs: now(), ...alert }, condition);
    }
  };
}

const SETTLEMENTS_MS = 600_000;

interface Alert {
  readonly alert: Omit<OutgoingEvent, 'id' | 'atMs'>;
  readonly condition: AlertCondition;
}

function outageAlert(event: OutageEvent): Alert {
  const { channelId, channel, state, reason, message, sinceMs } = event;
  const isOff = state === 'disabled';
  const because = message === '' ? reason : `${reason}: ${message}`;
  return {
    alert: {
      type: `channel.${state}`,
      summary: isOff
        ? `Channel ${channel} is disabled (${because})`
        : `Channel ${channel} is back in service`,
      data: {
        channel: { id: channelId, name: channel },
        ...{ reason, message: message === '' ? null : message },
        ...{ since: seconds(sinceMs), until: null },
      },
    },
    condition: { key: `disabled:${channelId}:${channel}`, value: isOff ? reason : '' },
  };
}

function circuitAlert(event: BreakerEvent, nowMs: number): Alert {
  const { channelId, channel, state, reason, sinceMs, forMs } = event;
  const isOpen = state === 'open';
  return {
    alert: {
      type: isOpen ? 'channel.circuit_opened' : 'channel.circuit_closed',
      summary: isOpen
        ? `Channel ${channel} is paused: its requests fail (${reason})`
        : `Channel ${channel} answers again`,
      data: {
        channel: { id: channelId, name: channel },
        ...{ reason: reason === '' ? null : reason, message: null, since: seconds(sinceMs) },
        until: isOpen ? seconds(nowMs + forMs) : null,
      },
    },
    // A circuit that opens again after its probe is still the same trouble.
    condition: { key: `circuit:${channelId}:${channel}`, value: isOpen ? 'open' : '' },
  };
}

/** Null if it is unknown. */
function seconds(ms: number): number | null {
  return ms === 0 ? null : Math.floor(ms / 1_000);
}
