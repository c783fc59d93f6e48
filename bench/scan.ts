import { Walk } from '../src/bytes/scanner.js';
import { BODIES, requestJson, type BodyName } from './bodies.js';

/**
 * Compares several ways to scan a request body: validating all strings in the list of documents and finding their ends. The
 * result of each way is checked first. Speeds are the best of many rounds in turns: other work on the machine can only slow
 * a round down.
 */
interface Way {
  readonly name: string;
  /** How many documents the body has; -1 if the scan fails. */
  readonly count: (body: Buffer) => number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NAMES = [{ name: 'documents' }];
const KEY = '"documents":[';

/** A JSON string. */
// eslint-disable-next-line no-control-regex -- what a string must not have
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;

const WAYS: readonly Way[] = [
  {
    name: 'WebAssembly with SIMD',
    count: (body) => {
      const walk = new Walk(body, NAMES);
      walk.go();
      return walk.list?.count ?? -1;
    },
  },
  {
    name: 'JSON.parse of the whole',
    count: (body) =>
      (JSON.parse(body.toString('utf8')) as { documents: unknown[] }).documents.length,
  },
  {
    name: 'JSON.parse of the whole as Latin-1',
    count: (body) =>
      (JSON.parse(body.toString('latin1')) as { documents: unknown[] }).documents.length,
  },
  {
    name: 'regular expression on Latin-1',
    count: (body) => {
      const text = body.toString('latin1');
      let count = 0;
      let at = text.indexOf(KEY) + KEY.length;
      for (;;) {
        STRING.lastIndex = at;
        if (!STRING.test(text)) return -1;
        count += 1;
        at = STRING.lastIndex;
        if (text.charCodeAt(at) !== COMMA) return count;
        at += 1;
      }
    },
  },
  {
    name: 'indexOf quotes, stepping from the first backslash on',
    count: (body) => {
      let count = 0;
      let backslash = next(body, BACKSLASH, 0);
      let at = body.indexOf(KEY) + KEY.length;
      for (;;) {
        if (body[at] !== QUOTE) return -1;
        let end = next(body, QUOTE, at + 1);
        if (backslash < end) {
          end = step(body, at);
          if (end < 0) return -1;
          backslash = next(body, BACKSLASH, end);
        }
        count += 1;
        if (body[end + 1] !== COMMA) return count;
        at = end + 2;
      }
    },
  },
  {
    name: 'indexOf quotes and backslashes, each escape by itself',
    count: (body) => {
      let count = 0;
      let at = body.indexOf(KEY) + KEY.length;
      let backslash = next(body, BACKSLASH, at);
      for (;;) {
        if (body[at] !== QUOTE) return -1;
        let end = next(body, QUOTE, at + 1);
        while (backslash < end) {
          const behind = backslash + (body[backslash + 1] === 0x75 ? 6 : 2);
          backslash = next(body, BACKSLASH, behind);
          if (end < behind) end = next(body, QUOTE, behind);
        }
        count += 1;
        if (body[end + 1] !== COMMA) return count;
        at = end + 2;
      }
    },
  },
  {
    name: 'stepping',
    count: (body) => {
      let count = 0;
      let at = body.indexOf(KEY) + KEY.length;
      for (;;) {
        if (body[at] !== QUOTE) return -1;
        const end = step(body, at);
        if (end < 0) return -1;
        count += 1;
        if (body[end + 1] !== COMMA) return count;
        at = end + 2;
      }
    },
  },
];

function next(body: Buffer, byte: number, from: number): number {
  const at = body.indexOf(byte, from);
  return at < 0 ? Infinity : at;
}

/** Finds the closing quote of the string that opens at `start`, byte by byte; -1 if the string is not valid. */
function step(body: Buffer, start: number): number {
  for (let at = start + 1; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < 0x20) return -1;
    if (byte !== BACKSLASH) continue;
    at += 1;
    if (body[at] === 0x75) {
      for (let digit = 1; digit <= 4; digit += 1) {
        const hex = body[at + digit] ?? 0;
        const isHex =
          (hex >= 0x30 && hex <= 0x39) ||
          (hex >= 0x41 && hex <= 0x46) ||
          (hex >= 0x61 && hex <= 0x66);
        if (!isHex) return -1;
      }
      at += 4;
    }
  }
  return -1;
}

const ROUND_US = 8_000;
const ROUNDS = 12;
const BODY_NAMES: readonly BodyName[] = [
  'plain',
  'prose',
  'chinese',
  'chinese-escaped',
  'cyrillic-escaped',
  'emoji-escaped',
  'objects',
  'short',
];
const SIZES = [10, 100, 1000];

console.log(`Node ${process.version}; gigabytes a second\n`);
const texts = BODY_NAMES.flatMap((name) =>
  SIZES.map((size) => ({
    title: `${name} ${size}`,
    size,
    body: requestJson(name, size, 'bench'),
    ofObjects: 'objects' in BODIES[name],
  })),
);
/** Beside each text 100 numbers, of which one or two digits are all there is of most. */
const vectors = SIZES.map((size) => ({
  title: `vectors ${size}`,
  size,
  body: Buffer.from(
    JSON.stringify({
      documents: Array.from({ length: size }, (_, index) => ({
        text: `${index}`,
        vector: Array.from({ length: 100 }, (_value, at) => ((index + at) * 7919) % 131),
      })),
    }),
  ),
  ofObjects: true,
}));
const bodies = [...texts, ...vectors];
const header = ['', ...bodies.map(({ title }) => title)];
const best = WAYS.map(() => bodies.map(() => 0));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [at, { body, size, ofObjects }] of bodies.entries()) {
    for (const [index, way] of WAYS.entries()) {
      const takesObjects = index < 3;
      if (ofObjects && !takesObjects) continue;
      if (way.count(body) !== size) throw new Error(`${way.name} miscounts`);
      const row = best[index];
      if (row !== undefined) row[at] = Math.max(row[at] ?? 0, speedOf(way, body));
    }
  }
}
console.log(line(header));
console.log(line(header.map((_, at) => (at === 0 ? '---' : '--:'))));
for (const [index, { name }] of WAYS.entries()) {
  console.log(
    line([name, ...(best[index] ?? []).map((speed) => (speed === 0 ? '' : speed.toFixed(2)))]),
  );
}

/** Measured in processor time, so that other programs do not count. */
function speedOf({ count }: Way, body: Buffer): number {
  const before = process.cpuUsage();
  let times = 0;
  for (let spent = 0; spent < ROUND_US; times += 1) {
    count(body);
    if (times % 8 === 0) spent = process.cpuUsage(before).user;
  }
  return (times * body.length) / process.cpuUsage(before).user / 1e3;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
