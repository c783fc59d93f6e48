/** What a share link of the playground carries: inputs alone, and nothing that runs. */
export interface Shared {
  readonly query: string;
  readonly documents: string;
  readonly lanes: readonly string[];
}

const PREFIX = 'v1.';
/** Beyond that browsers and chats cut addresses. */
export const MAX_LINK = 32_768;

export async function shareText(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await through(bytes, new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** `undefined` for what is too large, cut off, or not ours. */
export async function readShared(text: string): Promise<Shared | undefined> {
  if (!text.startsWith(PREFIX) || text.length > MAX_LINK) return undefined;
  try {
    const binary = atob(text.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const plain = await through(bytes, new DecompressionStream('deflate-raw'));
    const value: unknown = JSON.parse(new TextDecoder().decode(plain));
    return isShared(value) ? value : undefined;
  } catch {
    // Whatever is wrong with it, it is not what this page makes.
    return undefined;
  }
}

function isShared(value: unknown): value is Shared {
  if (typeof value !== 'object' || value === null) return false;
  const { query, documents, lanes } = value as Partial<Record<keyof Shared, unknown>>;
  return (
    typeof query === 'string' &&
    typeof documents === 'string' &&
    Array.isArray(lanes) &&
    lanes.every((lane) => typeof lane === 'string')
  );
}

const MAX_PLAIN = 8 * 1024 * 1024;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_PLAIN) throw new Error('too large');
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
