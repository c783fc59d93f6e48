/** Lanes of the playground: the rankers that are compared. Pure. */
export interface LaneSpec {
  /** The name that callers use; may be `model@tag`. */
  readonly model: string;
  /** The only channel to ask, even if it is switched off. */
  readonly channel?: number;
  /** Replaces the instruction that all lanes share. */
  readonly instruction?: string;
}

/** Options that all lanes share besides query and documents; blank ones are left to the gateway. */
export interface LaneOptions {
  readonly top_n: string;
  readonly max_tokens_per_doc: string;
  readonly instruction: string;
  readonly priority: string;
  /** Blank: as the model does by itself. */
  readonly truncation: '' | 'true' | 'false';
}

export const MAX_LANES = 12;
/** More are shown as a table, and no more run at once: the playground’s key has room for as many. */
export const SIDE_BY_SIDE = 4;
export const NO_OPTIONS: LaneOptions = {
  ...{ top_n: '', max_tokens_per_doc: '', instruction: '', priority: '', truncation: '' },
};

/** Equal for lanes that would send the same request. */
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
  readonly priority?: number;
  readonly truncation?: boolean;
}

/** The body that a lane sends. If it names no channel, it is also a valid body for `/v1/rerank`. */
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
    ...priorityOf(options.priority),
    ...(options.truncation === '' ? {} : { truncation: options.truncation === 'true' }),
  };
}

const MOST_PRIORITY = 999;

function priorityOf(text: string): { readonly priority?: number } {
  const priority = Number(text);
  const isOne = text.trim() !== '' && Number.isInteger(priority);
  return isOne && priority >= 0 && priority <= MOST_PRIORITY ? { priority } : {};
}
