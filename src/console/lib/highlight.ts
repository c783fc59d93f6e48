/** A piece of a text; `hit` if it is a word of the query. */
interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Words of a text, divided by the rules of its language: Chinese has no spaces between them. */
function wordsOf(text: string): Intl.SegmentData[] {
  return [...SEGMENTER.segment(text)];
}

/** The words of a query that are worth highlighting. */
export function marksOf(query: string): ReadonlySet<string> {
  const words = wordsOf(query).filter(({ isWordLike }) => isWordLike === true);
  const isWorth = (word: string): boolean => word.length > 3 || /[^ -~]/.test(word);
  return new Set(words.map(({ segment }) => segment.toLowerCase()).filter(isWorth));
}

/** Cuts a text into pieces, so that the words of the query can be highlighted. Pure. */
export function highlighted(text: string, marks: ReadonlySet<string>): Piece[] {
  const whole = text.toLowerCase();
  // Dividing a text takes long, and most of a long list have nothing to be marked.
  if (![...marks].some((mark) => whole.includes(mark))) return [{ text, hit: false }];
  const pieces: Piece[] = [];
  for (const { segment } of wordsOf(text)) {
    const hit = marks.has(segment.toLowerCase());
    const last = pieces.at(-1);
    if (last?.hit === hit) pieces[pieces.length - 1] = { text: last.text + segment, hit };
    else pieces.push({ text: segment, hit });
  }
  return pieces;
}
