import type { HttpProvider, UpstreamCall } from './provider.js';
import { readReply, type RawReply, type ReplyReading } from './reply.js';

type Send = (call: UpstreamCall) => Promise<RawReply>;

/**
 * Reads the first reply to a call; if the provider returns rows in pages, continues until there are enough of them. `send`
 * posts one call; almost every provider needs only the first, and there is nothing to wait for. A page that fails or is empty
 * fails the call; a refusal that asks for the provider's other form is answered with it, once.
 */
export function readPages(
  provider: HttpProvider,
  call: UpstreamCall,
  first: RawReply,
  send: Send,
  now: () => number,
): ReplyReading | Promise<ReplyReading> {
  const reading = readReply(provider, call, first, now());
  if (reading.kind === 'failure') {
    const { otherForm } = reading;
    return otherForm === undefined ? reading : inOtherForm(provider, call, otherForm, send, now);
  }
  if (reading.nextPage === undefined) return reading;
  return readFurther(provider, call, reading, send, now);
}

async function inOtherForm(
  provider: HttpProvider,
  call: UpstreamCall,
  otherForm: UpstreamCall['settings'],
  send: Send,
  now: () => number,
): Promise<ReplyReading> {
  const other = { ...call, settings: { ...call.settings, ...otherForm } };
  return readFurther(
    provider,
    other,
    readReply(provider, other, await send(other), now()),
    send,
    now,
  );
}

async function readFurther(
  provider: HttpProvider,
  call: UpstreamCall,
  reading: ReplyReading,
  send: Send,
  now: () => number,
): Promise<ReplyReading> {
  if (reading.kind === 'failure' || reading.nextPage === undefined) return reading;
  const rows = [...reading.ranking.rows];
  let page: string | undefined = reading.nextPage;
  while (page !== undefined && rows.length < call.topN) {
    const next: UpstreamCall = { ...call, page };
    const more = readReply(provider, next, await send(next), now());
    if (more.kind === 'failure') return more;
    if (more.ranking.rows.length === 0) return emptyPage();
    rows.push(...more.ranking.rows);
    page = more.nextPage;
  }
  return { kind: 'ranking', ranking: { ...reading.ranking, rows } };
}

/** Empty pages that each promise another could go on forever. */
function emptyPage(): ReplyReading {
  return {
    kind: 'failure',
    failure: { kind: 'invalid', status: 200, message: 'a page came back without rows' },
  };
}
