/** Clients generated from the gateway's own OpenAPI document: they compile, and do what they say against a gateway. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { BEST, DOCUMENTS, QUERY, ROOT_PASSWORD, startGateway } from './gateway.mjs';

// Beside the packages that the program imports.
const FOLDER = join(import.meta.dirname, 'node_modules', '.generated');

/** What an application would write; the compiler must refuse the path that is none. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

export async function use(baseUrl: string, password: string, query: string, documents: string[]) {
  const visitor = createClient<paths>({ baseUrl });
  const login = await visitor.POST('/api/user/login', { body: { username: 'root', password } });
  if (login.data === undefined) throw new Error(login.error.message);
  const cookie = login.response.headers.get('set-cookie')?.split(';')[0] ?? '';
  const root = createClient<paths>({ baseUrl, headers: { cookie } });
  const made = await root.POST('/api/token', { body: { name: 'typed', unlimited_quota: true } });
  if (made.data === undefined) throw new Error(made.error.message);
  const key: string = made.data.data.key;
  const listed = await root.GET('/api/token', { params: { query: { page_size: 5 } } });
  const page = typeof listed.data === 'object' ? listed.data.data.items : [];
  const names: string[] = page.map(({ name }) => name);
  const caller = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const asked = { model: 'local', query, documents, top_n: 1 };
  const ranked = await caller.POST('/v1/rerank', { body: asked });
  const results = ranked.data !== undefined && 'results' in ranked.data ? ranked.data.results : [];
  const refused = await visitor.GET('/api/token');
  const code: string | undefined = refused.error?.code;
  // @ts-expect-error No operation has this path.
  await visitor.GET('/api/nothing');
  return { username: login.data.data.username, names, best: results[0]?.index, code };
}
`;

let gateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.stop());

it('openapi-typescript and openapi-fetch: a typed client', async () => {
  const types = astToString(await openapiTS(new URL('/openapi.json', gateway.url)));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{"type":"module"}');
  writeFileSync(join(FOLDER, 'api.ts'), types);
  writeFileSync(join(FOLDER, 'use.ts'), PROGRAM);

  const program = ts.createProgram([join(FOLDER, 'use.ts')], {
    ...{ strict: true, skipLibCheck: true, outDir: join(FOLDER, 'out'), rootDir: FOLDER },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: [] },
  });
  const mistakes = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  assert.deepEqual(
    mistakes.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    [],
  );

  const { use } = await import(pathToFileURL(join(FOLDER, 'out', 'use.js')).href);
  const { names, ...done } = await use(gateway.url, ROOT_PASSWORD, QUERY, DOCUMENTS);
  assert.deepEqual(done, { username: 'root', best: BEST, code: 'unauthorized' });
  assert.ok(names.includes('typed'));
});
