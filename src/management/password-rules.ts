import { invalid } from './fields.js';

const MIN_PASSWORD_CHARACTERS = 8;
const MAX_PASSWORD_CHARACTERS = 256;

/** Words that passwords are made from before anything else is tried. */
const WORDS = `
  password passwort passwd passwords motdepasse contrasena senha parola wachtwoord haslo salasana sifre mima pass secret
  secrets letmein iloveyou iloveu loveyou trustno welcome hello hola hallo bonjour access changeme changeit change login logon
  signin default temp temporary test tester testing demo sample example guest user username admin administrator root toor
  superuser sysadmin system server service manager master boss operator support oracle mysql postgres postgresql mariadb mongodb
  redis docker kubernetes jenkins ubuntu debian linux windows microsoft google facebook samsung apple iphone android cisco
  rerank reranker gateway api token key keys cloud prod production staging internet computer
  monkey dragon shadow sunshine princess football baseball basketball superman batman spiderman pokemon starwars master killer
  ranger harley soccer hockey freedom whatever flower mustang corvette ferrari mercedes porsche pepper cookie cheese
  banana orange purple silver golden diamond phoenix matrix maverick merlin tigger ginger buster snoopy scooby chocolate
  butterfly angel lovely friends family summer winter spring autumn sommer monday tuesday wednesday thursday friday saturday
  sunday january february march april june july august september october november december yellow green black white blue
  michael jordan jennifer thomas robert george andrew charlie michelle daniel joshua matthew anthony william jessica ashley
  amanda nicole samantha hannah maggie liverpool chelsea arsenal barcelona juventus love sex god money lucky happy woaini
  пароль привет любовь админ 密码 我爱你 パスワード 비밀번호 사랑해 סיסמה κωδικός
`;

/** Rows of keys, of the alphabet and of numbers. */
const ROWS = `
  йцукенгшщзхъ йцукенгшщз йцукенг йцукен фывапролджэ фывапролдж фывапрол фывапр фыва ячсмитьбю ячсмить ячсмит
  qwertyuiop qwertyui qwerty qwertz azerty asdfghjkl asdfghjk asdfgh asdf zxcvbnm zxcvbn zxcv qwer wert yuiop hjkl poiuytrewq
  qwertzuiop qwertzui zuiop yxcvbnm azertyuiop azertyui qsdfghjklm qsdfghjk wxcvbn
  lkjhgfdsa mnbvcxz qazwsxedc qazwsx 1qaz2wsx3edc4rfv 1qaz2wsx3edc 1qaz2wsx 1qazxsw2 2wsx3edc zaq12wsx zaq1 xsw2 q1w2e3r4t5y6
  q1w2e3r4t5 q1w2e3r4 q1w2e3 1q2w3e4r5t6y 1q2w3e4r5t 1q2w3e4r 1q2w3e qwe123 abc123 a1b2c3d4 a1b2c3
  abcdefghijklmnopqrstuvwxyz abcdefghijkl abcdefghij abcdefgh abcdefg abcdef abcde abcd zyxwvu
  01234567890 1234567890 123456789 12345678 1234567 123456 12345 09876543210 0987654321 987654321 87654321 7654321 654321 54321
  5201314 1314520 147258369 147258 159753 741852963 789456123 123321 112233 11223344 121212 123123 !@#$%^&*() !@#$%^&* !@#$%^
`;

const COMMON_WORDS = WORDS.trim().split(/\s+/);

/** How letters are disguised. */
const DISGUISES: Readonly<Record<string, string>> = {
  a: 'a@4',
  b: 'b8',
  e: 'e3',
  g: 'g9',
  i: 'i1!|',
  l: 'l1|',
  o: 'o0',
  s: 's$5',
  t: 't7+',
  z: 'z2',
};

const COMMON_PARTS = anyOf([...COMMON_WORDS, ...ROWS.trim().split(/\s+/)]);
/** Too many of them to identify, if they are not of the shortest. */
const MANY_WORDS = 4;
const LONG_WORD = anyOf(COMMON_WORDS.filter((word) => Array.from(word).length > 4));
/** Years, counters, and what is put behind a word so that it passes. */
const TRIMMINGS =
  /(?<!\p{N})\p{N}{1,4}(?!\p{N})|(?<![^\p{L}\p{N} ])[^\p{L}\p{N} ]{1,3}(?![^\p{L}\p{N} ])/gu;
/** More of them between other characters are not put there for show. */
const FEW_TRIMMINGS = 2;
/** What must be left of a password without all that. */
const MIN_OWN_CHARACTERS = 3;
/** Birthdays and telephone numbers have fewer. */
const MIN_DIGITS = 12;
const REPEATED = /^(.{1,8})\1+$/su;
const SHORTEST_NAME = 3;

const RIGHT = 'choose another, such as four words that have nothing to do with each other';

/** Refuses easily guessed passwords. `names` are what the account is known by. */
export function checkPassword(
  password: string,
  names: readonly (string | undefined)[],
  param = 'password',
): void {
  const plain = password.normalize('NFKC').toLowerCase();
  const characters = Array.from(plain);
  if (characters.length < MIN_PASSWORD_CHARACTERS || characters.length > MAX_PASSWORD_CHARACTERS) {
    throw invalid(
      param,
      `${param} must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    );
  }
  if (
    new Set(characters).size < 3 ||
    REPEATED.test(plain) ||
    (/^\p{N}+$/u.test(plain) && characters.length < MIN_DIGITS) ||
    isGuessed(plain)
  ) {
    throw invalid(param, `${param} is one of the first that anybody would try; ${RIGHT}.`);
  }
  const parts = names.flatMap((name) => partsOf(name ?? ''));
  if (parts.length === 0) return;
  // Names first: a common word may be a part of one.
  if (isGuessed(plain.replace(anyOf(parts), ' '))) {
    throw invalid(
      param,
      `${param} must not be made from the name or the address of the account; ${RIGHT}.`,
    );
  }
}

/** Whether a text holds little besides common parts and their trimmings. */
function isGuessed(plain: string): boolean {
  if (new Set(plain.match(LONG_WORD)).size >= MANY_WORDS) return false;
  const rest = plain.replace(COMMON_PARTS, ' ').replaceAll(/\s+/g, ' ');
  const trimmings = [...new Set(rest.match(TRIMMINGS))];
  if (trimmings.join('').replaceAll(/\P{N}/gu, '').length >= MIN_DIGITS) return false;
  const own = Array.from(rest.replaceAll(TRIMMINGS, '').replaceAll(' ', '')).length;
  const more = own === 0 ? 0 : Math.max(0, trimmings.length - FEW_TRIMMINGS);
  return own + more < MIN_OWN_CHARACTERS;
}

/** A name or an address, and its words. */
function partsOf(name: string): readonly string[] {
  const plain = name.normalize('NFKC').toLowerCase();
  const words = [plain, ...plain.split(/[^\p{L}\p{N}]+/u)];
  return words.filter((word) => Array.from(word).length >= SHORTEST_NAME);
}

/** Finds words, disguised ones too; the longer one where two begin. */
function anyOf(words: readonly string[]): RegExp {
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(disguised).join('|'), 'gu');
}

function disguised(word: string): string {
  return Array.from(word, (letter) => {
    const forms = DISGUISES[letter];
    return forms === undefined ? escaped(letter) : `[${forms}]`;
  }).join('');
}

function escaped(letter: string): string {
  return /[\p{L}\p{N}]/u.test(letter)
    ? letter
    : `\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`;
}
