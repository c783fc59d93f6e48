import { GatewayError } from '../../core/errors.js';
import { FAULTS } from '../../core/retry.js';
import type { Job, Offer, Outcome, Plan } from '../rank.js';
import { noChannelError } from '../refusals.js';
import type { Routing, Target } from '../target.js';

/** A ranking by one channel alone, whatever its priority, weight and health: how an admin judges one. */
export interface Trial {
  readonly channelId: number;
  /** Whether it may be switched off, directly or by its tag. */
  readonly ignoresSwitches: boolean;
}

/** The target of a trial. @throws GatewayError where its channel cannot serve it, or is off and may not be. */
export function judgeTrial(routing: Routing, trial: Trial, target: Target): Target {
  const { plans, unusable } = routing.channels.current;
  const offer = offerOn(trial, plans.get(target.model)?.offers ?? []);
  if (offer !== undefined) {
    if (offer.route.live || trial.ignoresSwitches) return target;
    throw noChannelError(target.model);
  }
  const broken = unusable.get(target.model)?.find(({ channel }) => channel.id === trial.channelId);
  if (broken === undefined) {
    throw new GatewayError('model_not_found', `The channel does not serve "${target.model}".`, {
      param: 'model',
    });
  }
  throw new GatewayError('no_channel_available', `The channel cannot be used: ${broken.why}.`);
}

/** One attempt on the channel of a trial, within the tags that request and key are bound to. */
export async function rankOnTrial(plan: Plan, trial: Trial, job: Job): Promise<Outcome> {
  const offer = offerOn(trial, plan.offers);
  if (offer === undefined || !job.admits(offer.route)) {
    return { kind: 'none', why: { kind: 'switched_off' } };
  }
  const { ignoresSwitches } = trial;
  const outcome = await plan.ask(offer, { ...job, ignoresSwitches });
  switch (outcome.kind) {
    case 'ranked':
      return outcome;
    case 'withdrawn':
      return { kind: 'none', why: { kind: 'switched_off' } };
    case 'failed': {
      const { failure } = outcome;
      const isInputs = !FAULTS[failure.kind].failsOver;
      return {
        kind: 'none',
        why: isInputs ? { kind: 'refused', failure } : { kind: 'exhausted', failures: [failure] },
      };
    }
  }
}

function offerOn({ channelId }: Trial, offers: readonly Offer[]): Offer | undefined {
  return offers.find(({ id }) => id === channelId);
}
