/** The known name that was probably meant, if there is a close one: a different spelling, or a letter or two away. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const allowed = Math.max(1, Math.floor(name.length / 4));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(plain(name), plain(candidate));
    if (distance <= allowed && (best === undefined || distance < best.distance)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** The shortest part of a name that says what was meant. */
const MIN_PART = 3;

/** Says that a name is unknown, and which one was probably meant, or else which ones there are. */
export function unknownName(name: string, known: readonly string[], what: string): string {
  const near = closest(name, known);
  if (near !== undefined) return `is not ${what}; did you mean ${near}?`;
  const within = known.filter((each) => name.length >= MIN_PART && each.includes(name));
  if (within.length > 0) {
    const oneOf = within.length > 1 ? 'one of ' : '';
    return `is not ${what}; did you mean ${oneOf}${within.join(', ')}?`;
  }
  return known.length === 0 ? `is not ${what}` : `is not ${what}; available: ${known.join(', ')}`;
}

/** The same as a sentence about a value. */
export function unknownValue(value: string, known: readonly string[], what: string): string {
  return `"${value}" ${unknownName(value, known, what)}.`.replace(/\?\.$/, '?');
}

/** How many letters to add, drop, change or swap with a neighbour to turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + same,
      );
      if (row > 1 && column > 1 && swapped(from, to, row, column)) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

function swapped(from: string, to: string, row: number, column: number): boolean {
  return from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
}
