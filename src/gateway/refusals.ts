import type { Misfit } from '../core/eligibility.js';
import { ERRORS, GatewayError } from '../core/errors.js';
import { FAULTS, type UpstreamFailure } from '../core/retry.js';
import { DEFAULT_COOLDOWN_MS } from './channels/verdicts.js';
import type { Job, NoRanking } from './rank.js';

/** What a refusal needs to know about the request. */
type Refused = Pick<Job, 'model' | 'documents'>;

/** A failure to rank in words for the caller, which name nothing internal. */
export function refusalOf(why: NoRanking, job: Refused, maxCooldownMs: number): GatewayError {
  switch (why.kind) {
    case 'refused':
      return inputError(why.failure);
    case 'exhausted':
      return failedError(why.failures, maxCooldownMs);
    case 'misfit':
      return misfitError(why.misfits, job);
    case 'busy':
      return new GatewayError('overloaded', `Every provider for model "${job.model}" is busy.`, {
        retryAfterMs: why.retryAfterMs,
      });
    case 'switched_off':
      return noChannelError(job.model);
  }
}

/** Everything that serves a model is switched off. */
export function noChannelError(model: string): GatewayError {
  return new GatewayError(
    'no_channel_available',
    `No channel is available for model "${model}" at the moment.`,
    { retryAfterMs: DEFAULT_COOLDOWN_MS },
  );
}

/** The caller's input is at fault: 400, 413 or 422 as the upstream said, with its words. */
function inputError({ kind, status, message }: UpstreamFailure): GatewayError {
  const { code } = FAULTS[kind];
  const kept = status === 400 || status === 413 || status === 422 ? status : ERRORS[code].status;
  return new GatewayError(
    code,
    message === ''
      ? 'The provider refused the request as invalid.'
      : `The provider refused the request: ${message}`,
    { status: kept },
  );
}

/** All candidates failed: the caller's error, and whether trying again later makes sense. */
function failedError(failures: readonly UpstreamFailure[], maxCooldownMs: number): GatewayError {
  const last = failures.findLast(({ kind }) => kind !== 'limit' && kind !== 'rejected');
  if (last === undefined) {
    const refusal = failures.findLast(({ kind }) => kind === 'rejected') ?? failures.at(-1);
    return inputError(refusal ?? { kind: 'limit', status: undefined, message: '' });
  }
  if (failures.every(({ kind }) => kind === 'busy')) {
    const waits = failures.map(({ retryAfterMs }) => retryAfterMs ?? DEFAULT_COOLDOWN_MS);
    return new GatewayError('overloaded', 'Every provider for this model is overloaded.', {
      // No longer than the channels are paused.
      retryAfterMs: Math.min(...waits, maxCooldownMs),
    });
  }
  // Some were only busy: with other faults among them, the wait alone promises nothing.
  const { code } = FAULTS[last.kind === 'busy' ? 'transient' : last.kind];
  return new GatewayError(code, FAILED[code] ?? 'The provider failed to answer.');
}

const FAILED: Readonly<Partial<Record<string, string>>> = {
  upstream_timeout: 'The provider did not answer in time.',
  upstream_invalid_response: 'The provider answered with something that is not a ranking.',
};

function misfitError(misfits: readonly Misfit[], { model, documents }: Refused): GatewayError {
  if (misfits.every(({ limit }) => limit === 'images')) {
    return new GatewayError(
      'invalid_documents',
      `No provider behind model "${model}" accepts images. Send text, or use a multimodal model.`,
      { param: 'documents' },
    );
  }
  if (misfits.some(({ limit }) => limit === 'length')) {
    return new GatewayError(
      'payload_too_large',
      `The texts are longer than any provider behind model "${model}" accepts. Send shorter ones.`,
      { param: 'documents' },
    );
  }
  const most = Math.max(...misfits.map((misfit) => ('most' in misfit ? misfit.most : 0)));
  return new GatewayError(
    'too_many_documents',
    `Model "${model}" accepts at most ${most} documents in one request; this one has ${documents.count}.`,
    { param: 'documents' },
  );
}
