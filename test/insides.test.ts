import { expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOMS = ['http', 'gateway', 'process', 'assembly'];
const ALLOWED = ['http/nodes-inside.ts', 'gateway/transport/nodes-inside.ts'];
/** Members of Node's objects that Node does not document, and what changes or takes over its objects. */
const INSIDE =
  /(?<![\w$])(?:_[a-z]+[A-Z]\w*|_(?:handle|events|write|writev|read)|setPrototypeOf|(?<=\.)(?:rawListeners|listeners)(?=\())(?![\w$])/g;
const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'/g;

it('only the two files that try them at the start use what Node does not document', () => {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join('src', room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(room, name)),
  );
  const users = files.filter((file) => {
    const code = readFileSync(join('src', file), 'utf8').replaceAll(COMMENT_OR_STRING, '');
    return code.search(INSIDE) >= 0;
  });

  expect(users.toSorted()).toEqual(ALLOWED.toSorted());
});
