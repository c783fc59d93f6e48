import type { HttpProvider, UpstreamCall } from './provider.js';
import { readReply, type RawReply, type ReplyReading } from './reply.js';

type Send = (call: UpstreamCall) => Promise<RawReply>;

/**
 * Sends a call and reads its reply; if the provider returns rows in pages, continues until there are enough of them. `send`
 * posts one call; almost every provider needs only one. A page that fails or is empty fails the call; a refusal that asks
 * for the provider's other form is answered with it, once.
 */
export async function readPages(
  provider: HttpProvider,
  call: UpstreamCall,
  send: Send,
  now: () => number,
): Promise<ReplyReading> {
  const reading = readReply(provider, call, await send(call), now());
  if (reading.kind === 'ranking' || reading.otherForm === undefined) {
    return readFurther(provider, call, reading, send, now);
  }
  const other = { ...call, settings: { ...call.settings, ...reading.otherForm } };
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
