import type { ServerResponse } from 'node:http';
import { rankLikeCohere, type Answer, type SeenRequest } from './upstream.js';

/** Keeps replies back until the test lets them go. */
export interface Gate {
  readonly answer: Answer;
  /** How many wait now. */
  readonly waiting: number;
  /** Answers all that wait, and from then on at once. */
  open(): void;
}

export function closedGate(then: Answer = rankLikeCohere): Gate {
  const held: (readonly [SeenRequest, ServerResponse])[] = [];
  let isOpen = false;
  return {
    answer(request, res) {
      if (isOpen) return then(request, res);
      held.push([request, res]);
    },
    get waiting() {
      return held.filter(([, res]) => !res.destroyed).length;
    },
    open() {
      isOpen = true;
      for (const [request, res] of held.splice(0)) void then(request, res);
    },
  };
}
