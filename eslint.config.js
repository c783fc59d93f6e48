import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const NAMED_EXPORTS = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: one name for one thing everywhere.',
};
const INSIDE =
  'What Node does not document belongs in nodes-inside.ts, which tries it at the start.';

export default tseslint.config(
  // AssemblyScript has its own compiler, which is strict.
  {
    ignores: [
      ...['dist', 'coverage', 'data', 'src/bytes/wasm/**/*.ts'],
      'src/console/api/{operations,members,member-words}.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      'no-restricted-syntax': ['error', NAMED_EXPORTS],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/load-config.ts', 'src/main.ts', 'src/cli.ts', 'src/process/backup.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only main.ts, cli.ts and backup.ts read the environment, through config.ts.',
        },
      ],
    },
  },
  {
    files: ['src/core/**/*.ts', 'src/providers/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Rules take `now` as an argument.' },
        { object: 'Math', property: 'random', message: 'Rules take `random` as an argument.' },
        { object: 'process', property: 'env', message: 'Rules do not read the environment.' },
      ],
    },
  },
  {
    files: ['src/{http,gateway,process,assembly}/**/*.ts'],
    ignores: ['src/{http,gateway/transport}/nodes-inside.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        NAMED_EXPORTS,
        {
          selector: 'Identifier[name=/^_[a-z]+[A-Z]|^_(handle|events|write|writev|read)$/]',
          message: INSIDE,
        },
        { selector: 'Identifier[name="setPrototypeOf"]', message: INSIDE },
        { selector: 'CallExpression[callee.property.name=/^(rawL|l)isteners$/]', message: INSIDE },
      ],
    },
  },
  {
    // One request is followed through these: each is read in a few screens.
    files: ['src/gateway/**/*.ts'],
    rules: { 'max-lines': ['error', 300] },
  },
  {
    // A page is parts that are read in a screen or two; words and what is generated are lists.
    files: ['src/console/**/*.{ts,tsx}'],
    ignores: ['src/console/words/*.ts'],
    rules: {
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', 120],
      complexity: ['error', 15],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', module: 'writable', URL: 'readonly' },
    },
  },
  {
    files: ['test/console/*.mjs'],
    languageOptions: {
      // Of Node, and of the page that the functions handed to the browser run in.
      globals: Object.fromEntries(
        [
          ...[
            'fetch',
            'setTimeout',
            'TextEncoder',
            'Blob',
            'Response',
            'CompressionStream',
            'btoa',
          ],
          ...['document', 'location', 'localStorage', 'performance', 'Event'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  prettier,
);
