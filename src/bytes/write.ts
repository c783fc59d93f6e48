import { JsonFragment, type JsonBody } from './fragment.js';
import { AT_ONCE_BYTES, worked, type Paced } from './pace.js';

/** Shorter fragments are sooner copied than sent by themselves. */
const LEAST_ENCLOSED_BYTES = 8_192;

/**
 * The JSON of `body`, ready to be sent: a text, bytes in one piece, or a long fragment that stays where it lies between two texts.
 * Large results are put together a step in each turn.
 */
export function writeJson(body: JsonBody): JsonFragment | Promise<JsonFragment> {
  const parts: Part[] = [];
  const rest = write(body, '', parts);
  if (parts.length === 0) return new JsonFragment(rest);
  parts.push(rest);
  const [before, fragment, after] = parts;
  if (parts.length === 3 && typeof fragment === 'object') {
    const isAlone = before === '' && after === '';
    const { lying } = fragment;
    if (lying !== undefined && isAlone) return fragment;
    if (lying !== undefined && lying.length >= LEAST_ENCLOSED_BYTES) {
      return JsonFragment.enclosed(String(before), lying, String(after));
    }
    if (isAlone) return joined(fragment);
  }
  return joined(JsonFragment.joined(parts));
}

type Part = string | JsonFragment;

function joined(fragment: JsonFragment): JsonFragment | Promise<JsonFragment> {
  if (fragment.size > AT_ONCE_BYTES) return worked(joining(fragment), fragment.size);
  return new JsonFragment(fragment.bytes);
}

function* joining(fragment: JsonFragment): Paced<JsonFragment> {
  const whole = Buffer.allocUnsafe(fragment.size);
  yield* fragment.copying(whole, 0);
  return new JsonFragment(whole);
}

/** Appends `value` to `text`; a fragment flushes the text before it into `parts`. Returns the open text. */
function write(value: JsonBody, text: string, parts: Part[]): string {
  if (typeof value === 'string') return text + JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return text + JSON.stringify(value ?? null);
  if (value instanceof JsonFragment) {
    if (value.text !== undefined) return text + value.text;
    parts.push(text, value);
    return '';
  }
  if (isList(value)) {
    let open = text + '[';
    for (let index = 0; index < value.length; index += 1) {
      open = write(value[index], index === 0 ? open : open + ',', parts);
    }
    return open + ']';
  }
  let open = text + '{';
  let first = true;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    open = write(member, `${open}${first ? '' : ','}${JSON.stringify(name)}:`, parts);
    first = false;
  }
  return open + '}';
}

function isList(value: readonly JsonBody[] | object): value is readonly JsonBody[] {
  return Array.isArray(value);
}
