import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import type { Document, Node } from 'yaml';
import { layoutMistakes, yaml, type LayoutMistake } from './layout.js';

export type SettingPath = readonly (string | number)[];

export interface YamlMistake extends LayoutMistake {
  readonly path?: SettingPath;
}

/**
 * The value of a YAML 1.2 document, or else what is wrong with its layout; an empty one is null.
 *
 * js-yaml reads it, which takes a quarter of the time of `yaml` where there are thousands of channels (`npm run bench:channels -- --yaml`).
 * `yaml` says what a mistake is and where: it is asked only when there is one.
 */
export function parseYaml(
  text: string,
): { readonly value: unknown } | { readonly mistakes: readonly YamlMistake[] } {
  try {
    return { value: load(text, { schema: CORE_SCHEMA }) };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const document = yaml().parseDocument(text, { prettyErrors: false });
    const mistakes = [...layoutMistakes(document, text), ...unusableNodes(document)];
    if (mistakes.length > 0) return { mistakes };
    if (document.contents === null) return { value: null };
    return { mistakes: [{ offset: error.mark?.position ?? 0, message: error.reason }] };
  }
}

/** What is sound YAML, and yet no setting. */
function unusableNodes(document: Document): YamlMistake[] {
  const { isScalar, visit } = yaml();
  const mistakes: YamlMistake[] = [];
  if (document.errors.length > 0) return mistakes;
  visit(document, {
    Pair: (_, { key }, above) => {
      if (isScalar(key)) return;
      const message =
        'a setting must have a plain name; put a text that begins with { or [ in quotes';
      mistakes.push({ offset: (key as Node).range?.[0] ?? 0, path: pathTo(above), message });
    },
    Alias: (_, alias, above) => {
      if (alias.resolve(document) !== undefined) return;
      const message =
        'refers to a value (*name) that nothing before it has named (&name); put a text that begins with * in quotes';
      mistakes.push({ offset: alias.range?.[0] ?? 0, path: pathTo([...above, alias]), message });
    },
  });
  return mistakes;
}

function pathTo(nodes: readonly unknown[]): SettingPath {
  const { isPair, isScalar, isSeq } = yaml();
  return nodes.flatMap<string | number>((node, index) => {
    if (isSeq(node)) return [node.items.indexOf(nodes[index + 1])];
    return isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [];
  });
}

/** The line of each setting of a sound file, by `pathKey`; the entries of a list at the top are numbered from `first`. */
export function linesOf(
  text: string,
  first: Readonly<Record<string, number>>,
): ReadonlyMap<string, number> {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = yaml();
  const lines = new Map<string, number>();
  const counter = new LineCounter();
  const put = (path: SettingPath, offset = 0): void => {
    lines.set(pathKey(path), counter.linePos(offset).line);
  };
  const walk = (node: unknown, path: SettingPath): void => {
    if (isMap<Node, Node | null>(node)) {
      for (const { key, value } of node.items) {
        const at = [...path, isScalar(key) ? String(key.value) : ''];
        // A text may begin in a line below its name.
        put(at, (isScalar(value) && value.value !== null ? value : key).range?.[0]);
        walk(value, at);
      }
    } else if (isSeq<Node>(node)) {
      const [list = ''] = path;
      const from = path.length === 1 ? (first[list] ?? 0) : 0;
      for (const [index, item] of node.items.entries()) {
        const at = [...path, from + index];
        put(at, item.range?.[0]);
        walk(item, at);
      }
    }
  };
  walk(parseDocument(text, { lineCounter: counter, prettyErrors: false }).contents, []);
  return lines;
}

export function pathKey(path: SettingPath): string {
  return JSON.stringify(path);
}
