import { BUDGET_MEMBERS } from './budget.js';
import { presentMembers, type MembersOf, type MemberSpec } from './members.js';

/** By which keys and accounts are told apart in reports, written as `team=search,env=prod`. */
export const LABEL_MEMBERS = {
  labels: {
    type: 'labels',
    default: '',
    flag: 'label <labels>',
    label: 'labels',
    title: 'Labels',
    hint: 'Such as team=search,env=prod: spending can be listed by them.',
    unset: 'none',
    help: 'Labels such as team=search,env=prod, by which keys and accounts are listed and spending is added up; a key without a label has that of its account.',
  },
} as const satisfies Readonly<Record<string, MemberSpec>>;

/** The plain members of an account, one row each. */
export const ACCOUNT_MEMBERS = {
  ...BUDGET_MEMBERS,
  ...LABEL_MEMBERS,
} as const satisfies Readonly<Record<string, MemberSpec>>;

export type AccountMembers = MembersOf<typeof ACCOUNT_MEMBERS>;

/** Those of its members that a record has. */
export function accountMembersOf(record: Partial<AccountMembers>): Partial<AccountMembers> {
  return presentMembers(ACCOUNT_MEMBERS, record);
}

/** The value of one label in a text of labels; `undefined` if it is not among them. */
export function labelIn(labels: string, name: string): string | undefined {
  const start = `${name}=`;
  return labels
    .split(',')
    .find((each) => each.startsWith(start))
    ?.slice(start.length);
}

/** What a text of labels between two commas contains if it has a label: `team` with any value, or `team=search`. */
export function labelPart(wanted: string): string {
  return wanted.includes('=') ? `,${wanted},` : `,${wanted}=`;
}

/** Whether a text of labels has one: `team` with any value, or `team=search`. */
export function hasLabel(labels: string, wanted: string): boolean {
  return `,${labels},`.includes(labelPart(wanted));
}
