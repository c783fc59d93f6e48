/** Something that needs attention; the kinds are listed most urgent first. */
export type Attention =
  | { readonly kind: 'requests_fail'; readonly name: ''; readonly share: number }
  | { readonly kind: 'channel_fails'; readonly name: string; readonly share: number }
  | { readonly kind: 'tag_off'; readonly name: string; readonly since: number }
  | { readonly kind: 'channel_unusable'; readonly name: string; readonly why: string }
  | { readonly kind: 'node'; readonly name: string; readonly standing: 'behind' | 'silent' }
  | { readonly kind: 'settlements'; readonly name: string; readonly count: number }
  | { readonly kind: 'outbox'; readonly name: '' };

export interface Seen {
  /** Admitted requests of the range that is shown; those that were refused are the callers' to mend. */
  readonly requests: { readonly admitted: number; readonly failed: number };
  /** Whether people may register, while mails reach nobody. */
  readonly unheardRegistration: boolean;
  /** Traffic of the last minutes. */
  readonly channels: readonly {
    readonly name: string;
    readonly requests: readonly number[];
    readonly failed: readonly number[];
  }[];
  readonly tags: readonly {
    readonly tag: string;
    readonly disabled: boolean;
    readonly changed_time: number;
  }[];
  readonly unusable: readonly { readonly name: string; readonly why: string }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly standing: 'current' | 'behind' | 'silent';
    readonly pending_settlements: number | null;
  }[];
}

const FEW_ATTEMPTS = 20;
const MANY_FAIL = 0.2;
const TOO_MANY_FAIL = 0.05;
/** This many pending settlements mean that the store has trouble; a few are always in progress. */
const MANY_SETTLEMENTS = 100;

/** What an operator would want to know at once, by fixed rules and without guessing. */
export function attentionTo(seen: Seen): Attention[] {
  const failing = seen.channels.flatMap(({ name, requests, failed }): Attention[] => {
    const [all, bad] = [sum(requests), sum(failed)];
    return all >= FEW_ATTEMPTS && bad / all >= MANY_FAIL
      ? [{ kind: 'channel_fails', name, share: bad / all }]
      : [];
  });
  const { admitted, failed } = seen.requests;
  return [
    ...(admitted >= FEW_ATTEMPTS && failed / admitted >= TOO_MANY_FAIL
      ? [{ kind: 'requests_fail', name: '', share: failed / admitted } as const]
      : []),
    ...failing,
    ...seen.tags
      .filter(({ disabled }) => disabled)
      .map(({ tag, changed_time: since }): Attention => ({ kind: 'tag_off', name: tag, since })),
    ...seen.unusable.map(({ name, why }): Attention => ({ kind: 'channel_unusable', name, why })),
    ...seen.nodes.flatMap(({ name, standing, pending_settlements: count }): Attention[] => [
      ...(standing === 'current' ? [] : [{ kind: 'node' as const, name, standing }]),
      ...(count === null || count < MANY_SETTLEMENTS
        ? []
        : [{ kind: 'settlements' as const, name, count }]),
    ]),
    ...(seen.unheardRegistration ? [{ kind: 'outbox', name: '' } as const] : []),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
