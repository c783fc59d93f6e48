/**
 * Times the lexical ranker: `npx tsx bench/lexical.ts`. The goal is 5 ms for 100 documents of 1 kB on one core. The plain
 * design, which counts substrings in a `Map`, runs beside it to show what the numeric grams gain.
 */
import { lexicalSlices, scoreLexically } from '../src/rankers/lexical.js';

const ROUNDS = 60;

const SAMPLES: readonly (readonly [name: string, query: string, words: string])[] = [
  [
    'English',
    'How do I restore a database backup after the server has crashed?',
    'the server keeps a copy of every table and a database can be restored from its last backup when a crash has damaged it while users of other services see only a short pause before their requests continue',
  ],
  [
    'German',
    'Wie stelle ich eine Datensicherung nach einem Serverausfall wieder her?',
    'für die Wiederherstellung größerer Datenbanken über mehrere Rechner müssen zunächst alle Sicherungen geprüft und anschließend nach einem Ausfall in der richtigen Reihenfolge zurückgespielt werden',
  ],
  [
    'Russian',
    'Как восстановить резервную копию базы данных после сбоя сервера?',
    'сервер хранит копию каждой таблицы и базу данных можно восстановить из последней резервной копии когда сбой повредил её',
  ],
  [
    'Japanese',
    'サーバー障害後にデータベースのバックアップを復元するにはどうすればよいですか',
    'サーバーはすべての表の写しを保存しており、 障害でデータベースが壊れた場合でも、 最後のバックアップから復元することができます。',
  ],
];

/** Text of about `size` characters, the same in every run. */
function textOf(words: readonly string[], size: number, seed: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < size) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `${words[(state >>> 8) % words.length] ?? ''} `;
  }
  return text.slice(0, size);
}

/** The inner loop of the plain design, without the scoring: substrings as keys of a `Map`. */
function countSubstrings(query: string, documents: readonly string[]): number {
  const grams = new Map<string, number>();
  const eachGram = (text: string, tell: (gram: string) => void): void => {
    for (const [word] of text
      .normalize('NFKC')
      .toLowerCase()
      .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
      const padded = `_${word}_`;
      for (let at = 0; at + 4 <= padded.length; at += 1) tell(padded.slice(at, at + 4));
    }
  };
  eachGram(query, (gram) => grams.set(gram, 0));
  for (const document of documents) {
    eachGram(document, (gram) => {
      const times = grams.get(gram);
      if (times !== undefined) grams.set(gram, times + 1);
    });
  }
  return grams.size;
}

function timed(run: () => unknown): { p50: number; p95: number } {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  const sorted = times.sort((a, b) => a - b);
  return { p50: sorted[ROUNDS >> 1] ?? 0, p95: sorted[Math.floor(ROUNDS * 0.95)] ?? 0 };
}

function longestSliceMs(query: string, text: string): number {
  const slices = lexicalSlices(query, { count: 1, text: () => text }, 65_536);
  let longest = 0;
  for (let done: boolean | undefined = false; done !== true;) {
    const start = performance.now();
    done = slices.next().done;
    longest = Math.max(longest, performance.now() - start);
  }
  return longest;
}

console.log('100 documents of 1000 characters, ms     numeric p50  p95   substrings p50  p95');
for (const [name, query, words] of SAMPLES) {
  const vocabulary = words.split(' ');
  const documents = Array.from({ length: 100 }, (_, index) => textOf(vocabulary, 1000, index));
  const numeric = timed(() => scoreLexically(query, documents));
  const plain = timed(() => countSubstrings(query, documents));
  const cells = [numeric.p50, numeric.p95, plain.p50, plain.p95].map((ms) => ms.toFixed(2));
  console.log(name.padEnd(40), cells.join('   '));
}

console.log('\nOne document of 8 million characters in slices of 65 536: longest slice, ms');
for (const [name, query, words] of SAMPLES) {
  const text = textOf(words.split(' '), 8_000_000, 1);
  console.log(name.padEnd(40), longestSliceMs(query, text).toFixed(2));
}
const accents = 'a\u0301\u0323\u0302\u0327'.repeat(400_000);
console.log('accents in the wrong order'.padEnd(40), longestSliceMs('a\u0301', accents).toFixed(2));
const zalgo = `a${'\u0301\u0323'.repeat(500_000)}`;
console.log(
  'one letter, a million accents'.padEnd(40),
  longestSliceMs('a\u0301', zalgo).toFixed(2),
);
