/** Lanes of the playground: what ranks beside what. Pure. */
export interface LaneSpec {
  /** As callers name it, `model@tag` too. */
  readonly model: string;
  /** The one channel that is asked for it, also where it is switched off. */
  readonly channel?: number;
  /** Takes the place of the one that all lanes have. */
  readonly instruction?: string;
}

/** What all lanes are given beside query and documents; a blank one is left to the gateway. */
export interface LaneOptions {
  readonly top_n: string;
  readonly max_tokens_per_doc: string;
  readonly instruction: string;
}

export const MAX_LANES = 4;
export const NO_OPTIONS: LaneOptions = { top_n: '', max_tokens_per_doc: '', instruction: '' };

/** The same for lanes that would ask the same of the same. */
export function keyOf({ model, channel, instruction }: LaneSpec): string {
  return JSON.stringify([model, channel, instruction]);
}

interface LaneBody {
  readonly model: string;
  readonly query: string;
  readonly documents: string[];
  readonly channel_id?: number;
  readonly ignore_switches?: boolean;
  readonly top_n?: number;
  readonly max_tokens_per_doc?: number;
  readonly instruction?: string;
}

/** The body that a lane sends. One that names no channel is a body of `/v1/rerank` too. */
export function bodyOf(
  { model, channel, instruction: own }: LaneSpec,
  query: string,
  documents: readonly string[],
  options: LaneOptions,
): LaneBody {
  const instruction = (own ?? options.instruction).trim();
  const numbers = (['top_n', 'max_tokens_per_doc'] as const).flatMap((name) => {
    const value = Number(options[name]);
    return Number.isSafeInteger(value) && value > 0 ? [[name, value] as const] : [];
  });
  return {
    model,
    query,
    documents: [...documents],
    ...(channel === undefined ? {} : { channel_id: channel, ignore_switches: true }),
    ...Object.fromEntries(numbers),
    ...(instruction === '' ? {} : { instruction }),
  };
}
