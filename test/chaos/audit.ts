import {
  mayBeForgotten,
  NAMELESS,
  type AttemptSeen,
  type CallSeen,
  type KeySeen,
  type Observations,
  type OffSeen,
  type ProcessSeen,
  type Span,
  type Violation,
} from './observations.js';

/** What is wrong with what was seen: nothing, if the gateway keeps its promises. */
export function audit(seen: Observations): readonly Violation[] {
  const asked = groupBy(seen.attempts, ({ content }) => content);
  const callers = groupBy(seen.calls, ({ content }) => content);
  const processes = new Map(seen.processes.map((process) => [process.name, process]));
  return [
    ...seen.calls.flatMap((call) => [
      ...unanswered(
        call,
        processes.get(call.process),
        asked.get(call.content) ?? [],
        callers.get(call.content) ?? [],
      ),
      ...wrong(call, asked.get(call.content) ?? []),
      ...late(seen, call, processes.get(call.process)),
    ]),
    ...askedTooOften(seen, asked),
    ...seen.off
      .filter(({ askedMs, fromMs }) => {
        return !mayBeForgotten({ fromMs: askedMs, toMs: fromMs }, seen.storeLosses);
      })
      .flatMap((off) => (off.kind === 'key' ? servedAnyway(seen, off) : sentAnyway(seen, off))),
    ...misspent(seen),
    ...seen.keys.flatMap((key) => tooManyAtOnce(seen, key, asked)),
    ...seen.processes.flatMap((process) => diedOrAlarmed(process, seen.storeLosses)),
    ...seen.unserved.map((what) => violation('recovery', `${what} is not served again`)),
  ];
}

function violation(
  rule: Violation['rule'],
  what: string,
  ...evidence: readonly unknown[]
): Violation {
  return { rule, what, evidence };
}

/** How long before a kill is told here a connection may have broken by it. */
const TOLD_MS = 500;
/** How long after a kill its connections break: on a busy machine a process needs its turn even to end. */
const GONE_MS = 2_000;

/** A request that was heard is answered; only a kill may cut it off. */
function unanswered(
  call: CallSeen,
  process: ProcessSeen | undefined,
  attempts: readonly AttemptSeen[],
  callers: readonly CallSeen[],
): Violation[] {
  const { end, sentMs, endedMs } = call;
  if (end.kind === 'silence') return [violation('answered once', 'no answer ever came', call)];
  if (end.kind !== 'cut') return [];
  const isKilled = process?.killsMs.some(
    (atMs) => sentMs - GONE_MS <= atMs && atMs <= endedMs + TOLD_MS,
  );
  if (isKilled === true) return [];
  // A kept connection may close just as a request sets out on it: that request was never heard.
  const isLeaving =
    process?.terminatedMs !== undefined && process.terminatedMs <= endedMs + TOLD_MS;
  const others = callers.filter((other) => other !== call);
  const own = attempts.filter(({ atMs }) => !others.some((other) => mayHaveAsked(other, atMs)));
  if (isLeaving && own.length === 0) return [];
  return [
    violation('answered once', 'a connection was cut by no kill', call, process, ...attempts),
  ];
}

/** No caller of the suite ever asks for something that is not there, or wrongly. */
const NEVER: ReadonlySet<number> = new Set([400, 404, 405, 408, 409, 413, 415, 422, 500]);

/** Whoever was cut off asks the same again, elsewhere: those attempts are of that call. */
function mayHaveAsked({ sentMs, endedMs }: CallSeen, atMs: number): boolean {
  return sentMs <= atMs && atMs <= endedMs + TOLD_MS;
}

function wrong(call: CallSeen, attempts: readonly AttemptSeen[]): Violation[] {
  const { end } = call;
  if (end.kind !== 'answered') return [];
  if (NEVER.has(end.status)) {
    return [
      violation(
        'right ranking',
        `a good request was answered with ${end.status}`,
        call,
        ...attempts,
      ),
    ];
  }
  return end.mistake === undefined
    ? []
    : [violation('right ranking', end.mistake, call, ...attempts)];
}

function late(
  { rules, stalls }: Observations,
  call: CallSeen,
  process: ProcessSeen | undefined,
): Violation[] {
  const { end, sentMs, endedMs, budgetMs } = call;
  if (end.kind !== 'answered') return [];
  const own: Span = { fromMs: sentMs, toMs: endedMs };
  const excusedMs = coveredMs([...stalls, ...(process?.frozen ?? [])], own);
  const overMs = endedMs - sentMs - budgetMs - excusedMs;
  if (overMs <= rules.slackMs) return [];
  return [violation('deadline', `answered ${Math.round(overMs)} ms after its deadline`, call)];
}

/** Identical calls may be answered by one ranking; never does one call ask more often than it may. */
function askedTooOften(
  { calls }: Observations,
  asked: ReadonlyMap<string, readonly AttemptSeen[]>,
): Violation[] {
  const callers = groupBy(calls, ({ content }) => content);
  const violations: Violation[] = [];
  for (const [content, attempts] of asked) {
    if (content === NAMELESS) continue;
    const mine = callers.get(content) ?? [];
    const most = mine.reduce((sum, { mostAttempts }) => sum + mostAttempts, 0);
    if (attempts.length <= most) continue;
    const what =
      mine.length === 0
        ? 'an upstream was asked what nobody had asked'
        : `${attempts.length} attempts for ${mine.length} calls`;
    violations.push(violation('limits', what, ...mine, ...attempts));
  }
  return violations;
}

/** No attempt on what is switched off, from the return of the switch on. */
function sentAnyway({ attempts, calls, processes }: Observations, off: OffSeen): Violation[] {
  const named = (attempt: AttemptSeen): string | undefined =>
    off.kind === 'tag' ? attempt.tag : attempt.channel;
  const sent = attempts.filter(
    (attempt) =>
      named(attempt) === off.name && attempt.atMs > off.fromMs && attempt.atMs < off.toMs,
  );
  if (sent.length === 0) return [];
  const excused = new Set<string>();
  const left = sent.filter((attempt) => {
    const call = calls.find(({ content }) => content === attempt.content);
    const process = processes.find(({ name }) => name === call?.process);
    // A process that is stopped between its last look and the write goes on with the write: that one request, once.
    const woke = process?.frozen.find(
      ({ fromMs, toMs }) =>
        fromMs < off.fromMs + TOLD_MS && toMs <= attempt.atMs && attempt.atMs - toMs < TOLD_MS,
    );
    if (process === undefined || woke === undefined) return true;
    const once = `${process.name} ${woke.fromMs}`;
    if (excused.has(once)) return true;
    excused.add(once);
    return false;
  });
  if (left.length === 0) return [];
  const what = `${left.length} attempts on ${off.kind} ${off.name}, which was off`;
  return [violation('switched off', what, off, ...left)];
}

/** A key that is disabled serves nobody. */
function servedAnyway({ calls }: Observations, off: OffSeen): Violation[] {
  const served = calls.filter(
    ({ keyId, sentMs, endedMs, end }) =>
      String(keyId) === off.name &&
      sentMs > off.fromMs &&
      endedMs < off.toMs &&
      end.kind === 'answered' &&
      end.status === 200,
  );
  if (served.length === 0) return [];
  return [violation('switched off', `key ${off.name} was disabled, and served`, off, ...served)];
}

/** Every unit is somewhere, once; and what was charged is what callers got. */
function misspent(seen: Observations): Violation[] {
  const calls = groupBy(seen.calls, ({ keyId }) => keyId);
  const violations: Violation[] = [];
  for (const key of seen.keys) {
    const { id, granted, mayBeGranted, remain, used, busy } = key;
    const difference = remain + used - granted;
    if (!sumsOf(mayBeGranted).has(difference)) {
      const what = `key ${id} was given ${granted} and has ${remain} left of it after ${used} were spent`;
      violations.push(violation('money', what, key));
    }
    const mine = calls.get(id) ?? [];
    const owed = owedBy(seen, mine);
    if (used < owed.least || used > owed.most) {
      const what = `key ${id} was charged ${used}, and owed ${owed.least} to ${owed.most}`;
      violations.push(violation('money', what, key, ...owed.doubtful));
    }
    if (busy !== 0)
      violations.push(violation('money', `${busy} places of key ${id} are held`, key));
  }
  for (const owner of seen.owners) {
    const { id, granted, remain, used, reservations } = owner;
    if (remain + used !== granted) {
      const what = `user ${id} had ${granted} and has ${remain} after ${used} were spent`;
      violations.push(violation('money', what, owner));
    }
    const ofKeys = seen.keys
      .filter((key) => owner.keys.includes(key.id))
      .reduce((sum, key) => sum + key.used, 0);
    if (ofKeys !== used) {
      const what = `user ${id} spent ${used}, and the keys ${ofKeys}`;
      violations.push(violation('money', what, owner));
    }
    if (reservations !== 0) {
      violations.push(
        violation('money', `${reservations} reservations of user ${id} are left`, owner),
      );
    }
  }
  return violations;
}

/** What a key's calls may have cost: those whose end, or whose settlement, nobody can know make the difference. */
function owedBy(
  seen: Observations,
  calls: readonly CallSeen[],
): { readonly least: number; readonly most: number; readonly doubtful: readonly CallSeen[] } {
  let least = 0;
  let most = 0;
  const doubtful: CallSeen[] = [];
  for (const call of calls) {
    const { end } = call;
    if (end.kind === 'answered') {
      most += end.cost;
      if (maySettle(seen, call)) least += end.cost;
      else doubtful.push(call);
    } else if (end.kind !== 'unheard') {
      most += call.mostCost;
      doubtful.push(call);
    }
  }
  return { least, most, doubtful };
}

/** Whether nothing kept the settlement of an answered call from the store: no kill right after it, no loss of the store. */
function maySettle(
  { processes, storeTroubles, storeLosses, rules }: Observations,
  call: CallSeen,
): boolean {
  const { endedMs } = call;
  const killsMs = processes.find(({ name }) => name === call.process)?.killsMs ?? [];
  let dueMs = endedMs + rules.settleMs;
  for (const { fromMs, toMs } of [...storeTroubles].sort((a, b) => a.fromMs - b.fromMs)) {
    if (fromMs - rules.settleMs <= dueMs && toMs >= endedMs) {
      dueMs = Math.max(dueMs, toMs + rules.settleMs);
    }
  }
  if (killsMs.some((atMs) => atMs >= endedMs - TOLD_MS && atMs <= dueMs)) return false;
  return !storeLosses.some(({ fromMs, toMs }) => fromMs <= dueMs && toMs >= endedMs);
}

/** Requests of one key at work at once, as upstreams saw them. */
function tooManyAtOnce(
  { calls, processes }: Observations,
  key: KeySeen,
  asked: ReadonlyMap<string, readonly AttemptSeen[]>,
): Violation[] {
  if (key.maxConcurrency === 0) return [];
  const callers = groupBy(calls, ({ content }) => content);
  const steps: { readonly atMs: number; readonly by: 1 | -1; readonly call: CallSeen }[] = [];
  for (const call of calls) {
    if (call.keyId !== key.id || call.end.kind !== 'answered') continue;
    // What a killed process had under way is given back when it expires, while an upstream may still be at it.
    if ((processes.find(({ name }) => name === call.process)?.killsMs.length ?? 0) > 0) continue;
    // What several have asked is not known to be asked for this one.
    if (callers.get(call.content)?.length !== 1) continue;
    for (const { atMs, answeredMs } of asked.get(call.content) ?? []) {
      if (answeredMs === undefined || answeredMs <= atMs || answeredMs > call.endedMs) continue;
      steps.push({ atMs, by: 1, call }, { atMs: answeredMs, by: -1, call });
    }
  }
  steps.sort((one, other) => one.atMs - other.atMs || one.by - other.by);
  const running = new Set<CallSeen>();
  for (const { by, call } of steps) {
    if (by === 1) running.add(call);
    else running.delete(call);
    if (running.size > key.maxConcurrency) {
      const what = `${running.size} requests of key ${key.id} at once, which may have ${key.maxConcurrency}`;
      return [violation('limits', what, key, ...running)];
    }
  }
  return [];
}

/** What a settlement finds that comes after a store has forgotten its reservation. */
const FORGOTTEN = 'the reservation is gone';

/** A process ends when it is told to, and well; and it never says that units were lost, unless the store has lost them. */
function diedOrAlarmed(process: ProcessSeen, losses: readonly Span[]): Violation[] {
  const { name, exit, killsMs, terminatedMs, alarms } = process;
  const violations = alarms
    .filter((line) => losses.length === 0 || !line.includes(FORGOTTEN))
    .map((line) => violation('processes', `${name} raised an alarm`, line));
  if (exit === undefined || killsMs.length > 0) return violations;
  if (terminatedMs === undefined) {
    violations.push(violation('processes', `${name} ended by itself`, process));
  } else if (exit.code !== 0) {
    violations.push(
      violation('processes', `${name} ended with ${exit.code ?? 'a signal'}`, process),
    );
  }
  return violations;
}

/** All that some of the amounts may add up to, none of them included. */
function sumsOf(amounts: readonly number[]): Set<number> {
  let sums = new Set([0]);
  for (const amount of amounts) sums = new Set([...sums].flatMap((sum) => [sum, sum + amount]));
  return sums;
}

/** How much of a span others cover, which may overlap. */
function coveredMs(spans: readonly Span[], { fromMs, toMs }: Span): number {
  let covered = 0;
  let atMs = fromMs;
  for (const span of [...spans].sort((one, other) => one.fromMs - other.fromMs)) {
    const endMs = Math.min(span.toMs, toMs);
    covered += Math.max(0, endMs - Math.max(span.fromMs, atMs));
    atMs = Math.max(atMs, endMs);
  }
  return covered;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
