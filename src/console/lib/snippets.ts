/** Code to paste, with the gateway's own address. A key is named, never written, unless it is handed in. */
export interface RerankCode {
  readonly address: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key?: string | undefined;
}

export type CodeLanguage = 'curl' | 'typescript' | 'python';

export const EXAMPLE_BODY = {
  query: 'Which planet has the most moons?',
  documents: [
    'Mercury has no moons at all.',
    'Saturn is the planet with the most moons: well over a hundred.',
    'Olive oil keeps best in the dark.',
  ],
};

export function codeFor(language: CodeLanguage, code: RerankCode): string {
  return WRITERS[language](code);
}

const WRITERS: Readonly<Record<CodeLanguage, (code: RerankCode) => string>> = {
  curl: ({ address, body, key }) =>
    [
      `curl ${address}/v1/rerank \\`,
      `  -H "Authorization: Bearer ${key ?? '$KEY'}" \\`,
      "  -H 'Content-Type: application/json' \\",
      `  -d ${quoted(JSON.stringify(body, null, 2))}`,
    ].join('\n'),
  typescript: ({ address, body, key }) =>
    [
      `const reply = await fetch('${address}/v1/rerank', {`,
      "  method: 'POST',",
      '  headers: {',
      `    Authorization: ${key === undefined ? '`Bearer ${process.env.KEY}`' : `'Bearer ${key}'`},`,
      "    'Content-Type': 'application/json',",
      '  },',
      `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`,
      '});',
      'if (!reply.ok) throw new Error(await reply.text());',
      'const { results } = await reply.json();',
      'for (const { index, relevance_score } of results) console.log(index, relevance_score);',
    ].join('\n'),
  python: ({ address, body, key }) =>
    [
      'import json, os, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${address}/v1/rerank",`,
      `    data=json.dumps(json.loads(${pythonText(JSON.stringify(body))})).encode(),`,
      '    headers={',
      `        "Authorization": ${key === undefined ? '"Bearer " + os.environ["KEY"]' : `"Bearer ${key}"`},`,
      '        "Content-Type": "application/json",',
      '    },',
      ')',
      'with urllib.request.urlopen(request) as reply:',
      '    for result in json.load(reply)["results"]:',
      '        print(result["index"], result["relevance_score"])',
    ].join('\n'),
};

/** As a shell reads it: nothing within single quotes is special but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A string literal of JSON is one of Python too, once its own escapes are escaped. */
function pythonText(text: string): string {
  return JSON.stringify(text);
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
