/**
 * Builds the labelled questions that ship, from texts in `node_modules`: `node bench/build-questions.mjs`. A README has to be found by
 * the description of its package, and the rest of a doc comment by its first sentence. What repeats the question is taken out of the text
 * that answers it. Only packages with a permissive license are taken, and each text says where it is from.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
const POOL = 300;
const LEAST_CHARS = 400;
const MOST_CHARS = 4_000;
const PERMISSIVE = /^(?:MIT|MIT-0|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|BlueOak-1\.0\.0)$/;

save('readmes', readmes());
save('docstrings', docstrings());

/** The READMEs of all packages whose description says something. */
function readmes() {
  return packages().flatMap(({ folder, about, from }) => {
    const file = readdirSync(folder).find((name) => /^readme(?:\.md)?$/i.test(name));
    const query = wordsOf(about.description ?? '').length >= 4 ? about.description.trim() : '';
    if (file === undefined || query === '') return [];
    const names = new Set(wordsOf(about.name));
    const text = proseOf(readFileSync(join(folder, file), 'utf8'))
      .filter((line) => !repeats(line, query))
      .join('\n');
    // A question that names its package would be answered by the name.
    const asked = query
      .split(/\s+/)
      .filter((word) => !names.has(word.toLowerCase()))
      .join(' ');
    return wordsOf(asked).length < 4 ? [] : [{ query: asked, text, from }];
  });
}

/** The doc comments of type declarations, without tags and examples of code. */
function docstrings() {
  return packages().flatMap(({ folder, from }) => {
    if (!/@types\/node|joi|undici|ioredis|preact|express/.test(folder)) return [];
    return declarationsIn(folder).flatMap((file) => {
      const comments = readFileSync(file, 'utf8').matchAll(/\/\*\*([^]*?)\*\//g);
      return Array.from(comments, ([, comment]) => {
        const text = comment.replace(/^\s*\* ?/gm, '').replace(/```[^]*?```/g, '');
        const described = text.split(/^@\w+/m)[0].replace(/\s+/g, ' ').trim();
        const [query = '', ...rest] = sentencesOf(described);
        const answer = rest.filter((sentence) => !repeats(sentence, query)).join(' ');
        return { query, text: answer, from };
      }).filter(({ query }) => wordsOf(query).length >= 5);
    });
  });
}

function packages() {
  const names = readdirSync(MODULES).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(MODULES, name)).map((inner) => `${name}/${inner}`)
      : name.startsWith('.')
        ? []
        : [name],
  );
  return names.flatMap((name) => {
    const folder = join(MODULES, name);
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const from = `${about.name} ${about.version} (${about.license})`;
    return PERMISSIVE.test(about.license) ? [{ folder, about, from }] : [];
  });
}

function declarationsIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts') && !name.includes('node_modules'))
    .sort()
    .map((name) => join(folder, name));
}

/** The lines of a README that are sentences: no headings, pictures, tables or code. */
function proseOf(markdown) {
  return markdown
    .replace(/```[^]*?```/g, '')
    .replace(/<[^>]*>/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split('\n')
    .map((line) => line.replace(/^[\s>*-]+/, '').trim())
    .filter((line) => wordsOf(line).length >= 6 && !/^[#|[]|https?:/.test(line));
}

function sentencesOf(text) {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment.trim());
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether a line says the question again: it has most of its words. */
function repeats(line, query) {
  const has = new Set(wordsOf(line));
  const asked = wordsOf(query);
  return asked.filter((word) => has.has(word)).length > 0.7 * asked.length;
}

/** Takes texts in an order that is drawn with fixed numbers, so that the same packages give the same file. */
function save(name, all) {
  const seen = new Set();
  const usable = shuffled(all, sequence(20_261)).filter(({ query, text }) => {
    const beginning = text.slice(0, LEAST_CHARS);
    const isNew = !seen.has(query) && !seen.has(beginning);
    seen.add(query).add(beginning);
    return isNew && text.length >= LEAST_CHARS;
  });
  const lines = usable
    .slice(0, POOL)
    .map(({ query, text, from }) =>
      JSON.stringify({ query, text: text.slice(0, MOST_CHARS), from }),
    );
  const file = fileURLToPath(new URL(`./data/${name}.jsonl`, import.meta.url));
  writeFileSync(file, `${lines.join('\n')}\n`);
  process.stdout.write(`${name}: ${lines.length} of ${usable.length} texts\n`);
}

function shuffled(list, random) {
  const all = [...list];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other], all[at]];
  }
  return all;
}

/** Numbers from 0 to 1 by Park and Miller. */
function sequence(seed) {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
