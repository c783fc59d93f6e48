import { w, wp } from '../words.js';
import { Moment, Money } from './values.js';

const MONEY: readonly string[] = ['quota', 'remain_quota', 'budget'];
const NEVER = -1;

/** A value of a member, for people. */
export function Value({ member, value }: { readonly member: string; readonly value: unknown }) {
  if (value === null || value === undefined || value === '') {
    return <span class="muted">{w().none}</span>;
  }
  if (typeof value === 'number') {
    if (MONEY.includes(member)) return <Money units={value} />;
    if (member === 'expired_time' && value !== NEVER) return <Moment seconds={value} />;
    if (member === 'status') return <>{wp().audit.statuses[value] ?? value}</>;
    return <>{value}</>;
  }
  return typeof value === 'string' ? <>{value}</> : <code>{JSON.stringify(value)}</code>;
}

/** The head of a table of members and their values. */
export function ValueHead({ titles }: { readonly titles: readonly string[] }) {
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
