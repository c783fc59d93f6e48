/** As Kubernetes has them: a name with an optional domain before it, and a value that may be empty. */
const NAME =
  /^(?:(?=[^/]{1,253}\/)[a-z\d](?:[-a-z\d.]*[a-z\d])?\/)?[A-Za-z\d](?:[-\w.]{0,61}[A-Za-z\d])?$/;
const VALUE = /^(?:[A-Za-z\d](?:[-\w.]{0,61}[A-Za-z\d])?)?$/;
const MOST_LABELS = 16;
/** More than sixteen of the longest labels. */
export const MAX_LABELS_CHARACTERS = 8_192;

/** The mistake in a text of labels, and what would be right; `undefined` if there is none. */
export function labelsMistake(text: string): string | undefined {
  const pairs = pairsOf(text);
  if (pairs.length > MOST_LABELS) {
    return `may have at most ${MOST_LABELS} labels, and has ${pairs.length}`;
  }
  const names = new Set<string>();
  for (const pair of pairs) {
    const mistake = pairMistake(pair, names);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

function pairMistake(pair: string, names: Set<string>): string | undefined {
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  const shown = JSON.stringify(pair.slice(0, 80));
  if (at < 0) return `must be labels such as team=search,env=prod; ${shown} has no "="`;
  if (!NAME.test(name)) {
    return `has ${shown}: the name of a label has 1 to 63 letters, digits, "-", "_" and ".", begins and ends with a letter or digit, and may have a domain and "/" before it`;
  }
  if (!VALUE.test(value)) {
    return `has ${shown}: the value of a label is empty, or has up to 63 letters, digits, "-", "_" and ".", and begins and ends with a letter or digit`;
  }
  if (names.has(name)) return `has the label "${name}" more than once`;
  names.add(name);
  return undefined;
}

/** Labels in the order of their names, without blanks between them, as they are stored. */
export function labelsText(text: string): string {
  return pairsOf(text).sort().join(',');
}

function pairsOf(text: string): string[] {
  const pairs = text.split(/[,\n]/).map((pair) => pair.trim());
  return pairs.filter((pair) => pair !== '');
}
