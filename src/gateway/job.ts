import type { Job } from './rank.js';

/**
 * The job in another scope, with other bounds on its attempts. Member by member: copies made with a spread have separate shapes, which
 * all readers pay for.
 */
export function boundJob(
  job: Job,
  scope: Job['scope'],
  mostMs: Job['mostMs'] = job.mostMs,
  elsewhere: Job['elsewhere'] = job.elsewhere,
  span: Job['span'] = job.span,
): Job {
  const isBound = scope === job.scope && mostMs === job.mostMs && elsewhere === job.elsewhere;
  if (isBound && span === job.span) return job;
  return {
    requestId: job.requestId,
    owner: job.owner,
    keyId: job.keyId,
    model: job.model,
    query: job.query,
    documents: job.documents,
    topN: job.topN,
    options: job.options,
    admits: job.admits,
    mayAnswer: job.mayAnswer,
    scope,
    trace: job.trace,
    elsewhere,
    mostMs,
    mayBeOldMs: job.mayBeOldMs,
    keepMs: job.keepMs,
    ignoresSwitches: job.ignoresSwitches,
    onSent: job.onSent,
    span,
  } satisfies { [K in keyof Required<Job>]: Job[K] };
}
