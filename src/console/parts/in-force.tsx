import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { duration } from '../lib/format.js';
import { w, wp } from '../words.js';
import { Link } from './buttons.js';
import { State } from './values.js';
import { toast } from './toast.js';

/** How a write took effect. */
export type How = Pick<ReplyOf<'disableTag'>, 'version' | 'in_force' | 'nodes' | 'waited_ms'>;

const EVERY_MS = 2_000;
const SIGNS = { confirmed: 'ok', bound_passed: 'warn', no_gateway: 'off' } as const;

/** On how many gateways a write of channels or tags is in force, and after how long; also once the late ones have it. */
export function InForce({ how }: { readonly how: How }) {
  const isLate = how.in_force === 'bound_passed';
  const { data } = useRead('listNodes', {}, { everyMs: EVERY_MS, enabled: isLate });
  const nodes = data?.nodes ?? [];
  const isByNow =
    isLate &&
    nodes.length >= how.nodes.total &&
    nodes.length > 0 &&
    nodes.every(({ version }) => version !== null && version >= how.version);
  if (isByNow) {
    return (
      <p role="status">
        <State sign="ok">{wp().inForce.byNow(nodes.length)}</State>
      </p>
    );
  }
  return (
    <p role="status">
      <State sign={SIGNS[how.in_force]}>{sentenceOf(how)}</State>
      {isLate ? (
        <>
          {' '}
          <Link to="nodes">{w().nav.nodes}</Link>
        </>
      ) : null}
    </p>
  );
}

/** The same as a toast. */
export function tellInForce(how: How | undefined): void {
  if (how !== undefined) toast(sentenceOf(how));
}

function sentenceOf({ in_force: state, nodes, waited_ms: waitedMs }: How): string {
  const { confirmed, total, late } = nodes;
  const after = duration(waitedMs);
  const words = wp().inForce;
  if (state === 'no_gateway') return words.noGateway;
  if (state === 'confirmed') return words.confirmed(confirmed, total, after);
  return total === 0 ? words.unknown(after) : words.late(confirmed, total, late.join(', '), after);
}
