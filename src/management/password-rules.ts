import { invalid } from './fields.js';

const MIN_PASSWORD_CHARACTERS = 8;
const MAX_PASSWORD_CHARACTERS = 256;

/** Passwords that are tried first on any account; shorter ones are refused for their length. */
const COMMON = new Set(
  `12345678 123456789 1234567890 12345678910 0123456789 87654321 987654321 11223344 1q2w3e4r 1q2w3e4r5t 1qaz2wsx
  abcd1234 abc12345 administrator asdfghjk asdfghjkl changeme changeit computer football iloveyou internet letmein1
  liverpool michelle passw0rd password password! password1 password12 password123 password1234 p@ssw0rd princess
  q1w2e3r4 qwer1234 qwerty12 qwerty123 qwertyui qwertyuiop sunshine superman trustno1 welcome1 whatever zaq12wsx
  zxcvbnm1`
    .trim()
    .split(/\s+/),
);

/** Refuses easily guessed passwords. `names` are what the account is known by. */
export function checkPassword(
  password: string,
  names: readonly (string | undefined)[],
  param = 'password',
): void {
  const characters = Array.from(password.normalize('NFKC'));
  if (characters.length < MIN_PASSWORD_CHARACTERS || characters.length > MAX_PASSWORD_CHARACTERS) {
    throw invalid(
      param,
      `${param} must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`,
    );
  }
  const plain = password.normalize('NFKC').toLowerCase();
  if (new Set(characters).size < 3 || COMMON.has(plain)) {
    throw invalid(param, `${param} is one of the first that anybody would try; choose another.`);
  }
  if (names.some((name) => plain === name?.toLowerCase())) {
    throw invalid(param, `${param} must not be the name or the address of the account.`);
  }
}
