/**
 * Which names can be told from others by looking at them: Unicode's UTS 39, as far as it can be kept without its tables. All
 * answers are what is wrong with a text, as the end of a sentence; `undefined` when nothing is.
 */

/** Scripts in daily use today (UAX 31, table 5). Letters of all others are refused in usernames. */
const SCRIPTS = [
  ...['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Georgian', 'Hebrew', 'Arabic', 'Thaana'],
  ...['Ethiopic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Khmer'],
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'],
].map((name) => ({ name, pattern: new RegExp(`^\\p{Script=${name}}$`, 'u') }));

/** Scripts that are written together; any other script stands alone ("highly restrictive" in UTS 39). */
const TOGETHER: readonly ReadonlySet<string>[] = [
  new Set(['Latin', 'Han', 'Hiragana', 'Katakana']),
  new Set(['Latin', 'Han', 'Bopomofo']),
  new Set(['Latin', 'Han', 'Hangul']),
];

/** Letters of phonetics and of old orthographies that look like others, the dotless i among them. */
const LATIN_FRINGE =
  /[\u0131\u0138\u0149\u017f-\u018e\u0190-\u019f\u01a2-\u01ae\u01b1-\u01cc\u01dd\u01f0-\u01f3\u021c-\u0225\u0234-\u0258\u025a-\u02af\u1d00-\u1dff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]/u;

/** Letters in Cyrillic, Greek and Armenian that look like a Latin letter, and that letter. */
const LOOKALIKES = new Map(
  [
    'аa АA ВB сc СC ԁd еe ЕE ҽe һh НH іi ІI јj ЈJ кk КK ӏl ӀI мm МM оo ОO рp РP ԛq гr ѕs ЅS тt ТT ѵv ѡw ԝw хx ХX уy УY үy ҮY ьb Ьb пn',
    'αa ΑA ΒB βb ϲc ϹC ΕE γy ΗH ηn ιi ΙI ϳj κk ΚK ΜM νv ΝN οo ΟO σo ρp ΡP τt ΤT υu ΥY χx ΧX ΖZ ωw',
    'օo Օo ոn սu Սu հh ցg զq յj աw լl ք9',
  ]
    .join(' ')
    .split(' ')
    .map((pair) => Array.from(pair) as [string, string]),
);

/** Digits that pass for letters. */
const DIGIT_LETTERS = new Map([
  ['0', 'o'],
  ['1', 'l'],
]);

/** Names reserved for the installation. */
const RESERVED = new Set(['root']);

/** Joiners, choices of form, and the tags of flags: good where they join something. */
const JOINER = '(?:\\u200c|\\u200d|\\ufe0e|\\ufe0f|[\\u{e0020}-\\u{e007f}])';

/** Invisible characters. */
const UNSEEN = new RegExp(
  `[\\p{Cc}\\p{Cs}\\u2028\\u2029\\u2800]|(?!${JOINER})\\p{Default_Ignorable_Code_Point}`,
  'u',
);

/** What joiners may follow: emoji, marks, and letters of the scripts that are written with them. */
const JOINED = [
  ...['Extended_Pictographic', 'Emoji_Modifier', 'M'].map((name) => `\\p{${name}}`),
  ...['Arabic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'].map(
    (name) => `\\p{Script=${name}}`,
  ),
  ...['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'].map((name) => `\\p{Script=${name}}`),
  // A keycap.
  '[#*0-9](?=\\ufe0f\\u20e3)',
  '[\\u{e0020}-\\u{e007f}]',
].join('|');
const STRAY_JOINER = new RegExp(`(?<!${JOINED})${JOINER}`, 'u');

/** Alphabets whose letters can be mistaken for each other's. */
const ALPHABETS =
  /\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee}|\p{Script=Coptic}|\p{Script=Lisu}/u;

/** Whether a text has invisible characters, or ones that make the rest of its line read differently. */
export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text) || STRAY_JOINER.test(text);
}

/** Whether a word mixes letters of two alphabets that look alike. */
export function mixesAlphabets(text: string): boolean {
  return text.split(/[^\p{L}\p{M}]+/u).some((word) => {
    const letters = Array.from(word).filter((letter) => ALPHABETS.test(letter));
    return new Set(letters.map(alphabetOf)).size > 1;
  });
}

/** The mistake in a username of permitted characters that could be taken for another. */
export function usernameMistake(username: string): string | undefined {
  const letters = Array.from(username).filter((letter) => /\p{L}/u.test(letter));
  // Some letters are invisible: the fillers of Hangul are drawn as nothing.
  if (hasUnseen(username)) return 'has a character that cannot be seen';
  if (LATIN_FRINGE.test(username)) return 'has a letter that can be mistaken for another one';
  const scripts = letters.map(
    (letter) => SCRIPTS.find(({ pattern }) => pattern.test(letter))?.name,
  );
  if (scripts.includes(undefined)) return 'has letters of a script that names are not written in';
  const used = new Set(scripts.filter((name) => name !== undefined));
  if (used.size > 1 && !TOGETHER.some((group) => [...used].every((name) => group.has(name)))) {
    return `mixes letters of ${[...used].join(' and ')}`;
  }
  if (letters.length > 0 && letters.every((each) => LOOKALIKES.has(each))) {
    return 'looks like one in Latin letters; add a letter that does not';
  }
  return numberings(username) > 1 ? 'mixes digits of different scripts' : undefined;
}

/** Whether a username is, or looks like, one that is reserved for the installation. */
export function isReserved(username: string): boolean {
  const seen = Array.from(username.normalize('NFKC'), (each) => LOOKALIKES.get(each) ?? each);
  const plain = seen.map((each) => DIGIT_LETTERS.get(each) ?? each).join('');
  return RESERVED.has(plain.toLowerCase());
}

function alphabetOf(letter: string): string {
  return SCRIPTS.find(({ pattern }) => pattern.test(letter))?.name ?? 'another';
}

/** How many sets of ten digits a text uses. */
function numberings(text: string): number {
  const digits = Array.from(text).filter((each) => /\p{Nd}/u.test(each));
  return new Set(digits.map(zeroOf)).size;
}

/** Each set of digits is contiguous and starts at its zero. */
function zeroOf(digit: string): number {
  let code = digit.codePointAt(0) ?? 0;
  for (let value = 0; value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - 1)); value += 1)
    code -= 1;
  return code;
}
