import { createHash } from 'node:crypto';
import { exampleCall, exampleOf } from './docs-example.js';
import type { JsonSchema } from './json-schema.js';
import { apiOperations } from './openapi.js';
import type { ApiOperation, ApiParameter, OpenApi } from './openapi-parts.js';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
nav ul { columns: 2; list-style: none; padding: 0; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
code, h3 span { font-family: ui-monospace, monospace; font-size: 0.9em; }
h3 b { border: 1px solid currentColor; border-radius: 4px; font-size: 0.7em; padding: 0.1em 0.5em; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
summary { cursor: pointer; }
pre { overflow-x: auto; }
`;

/** What the page's `Content-Security-Policy` must be: its own style and nothing else, no script at all. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(STYLE)
  .digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** An API reference for people, as one page that loads nothing from anywhere. */
export function docsPage(api: OpenApi): string {
  const operations = apiOperations(api);
  const areas = new Set(operations.map(({ operation }) => operation.tags[0] ?? ''));
  const links = [...areas].map((area) => `<li><a href="#${escape(area)}">${escape(area)}</a></li>`);
  const sections = [...areas].map((area) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === area);
    const entries = own.map(({ method, path, operation }) => entry(method, path, operation));
    return `<section id="${escape(area)}"><h2>${escape(area)}</h2>${entries.join('')}</section>`;
  });
  const paragraphs = api.info.description.split('\n\n').map((text) => `<p>${prose(text)}</p>`);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escape(api.info.title)}: API reference</title><style>${STYLE}</style></head><body>`,
    `<h1>${escape(api.info.title)}</h1>${paragraphs.join('')}`,
    '<p>The same as <a href="/openapi.json">OpenAPI 3.1</a>. In examples, <code>$GATEWAY</code> is the address of the gateway, and ' +
      '<code>$TOKEN</code> an API key or an access token. Bodies have what they must have.</p>',
    `<nav><ul>${links.join('')}</ul></nav>${sections.join('')}</body></html>`,
  ].join('\n');
}

function entry(method: string, path: string, operation: ApiOperation): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const ways = operation.security.flatMap((scheme) => Object.keys(scheme));
  const access = ways.length === 0 ? 'No login.' : `With ${ways.join(' or ')}.`;
  const body = requestBody?.content['application/json']?.schema;
  const given = parameters.map((parameter) =>
    row(parameter.name, placeOf(parameter), parameter.required, {
      ...parameter.schema,
      ...(parameter.description === undefined ? {} : { description: parameter.description }),
    }),
  );
  const reply = responses['200']?.content?.['application/json']?.schema;
  const failures = Object.entries(responses)
    .filter(([status]) => status !== '200')
    .map(([status, { description: codes }]) =>
      status.endsWith('XX') ? codes : `${status} ${codes}`,
    );
  return [
    `<article id="${escape(operation.operationId)}">`,
    `<h3><b>${method}</b> <span>${escape(path)}</span></h3>`,
    `<p>${prose(summary)}. ${prose(description ?? '')} ${access}</p>`,
    table('Parameters', given),
    table('Body', body === undefined ? [] : rows(body)),
    example('Example', exampleCall(method, path, operation)),
    `<details><summary>Reply</summary>${table('', reply === undefined ? [] : rows(reply))}`,
    example('', reply === undefined ? undefined : JSON.stringify(exampleOf(reply), null, 2)),
    `<p>Fails with: <code>${escape(failures.join('; '))}</code></p></details></article>`,
  ].join('');
}

function placeOf({ in: where, schema, deprecated }: ApiParameter): string {
  return `${where}, ${typeOf(schema)}${deprecated === true ? ', deprecated' : ''}`;
}

function table(title: string, body: readonly string[]): string {
  if (body.length === 0) return '';
  const heading = title === '' ? '' : `<h4>${title}</h4>`;
  return `${heading}<table><tbody>${body.join('')}</tbody></table>`;
}

function example(title: string, text: string | undefined): string {
  if (text === undefined) return '';
  return `${title === '' ? '' : `<h4>${title}</h4>`}<pre><code>${escape(text)}</code></pre>`;
}

/** The members of a schema, nested ones by their path. */
function rows(schema: JsonSchema, prefix = ''): string[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const inner = member.items?.properties === undefined ? member : member.items;
    const below = inner === member ? `${path}.` : `${path}[].`;
    return [row(path, typeOf(member), required.includes(name), member), ...rows(inner, below)];
  });
}

function row(name: string, type: string, required: boolean, schema: JsonSchema): string {
  const notes = [
    required ? 'required' : '',
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    schema.enum === undefined ? '' : `one of ${schema.enum.map(String).join(', ')}`,
    schema.description ?? '',
  ];
  const cells = [type, notes.filter((note) => note !== '').join('; ')];
  return `<tr><th scope="row"><code>${escape(name)}</code></th>${cells
    .map((cell) => `<td>${prose(cell)}</td>`)
    .join('')}</tr>`;
}

function typeOf({ type, items, anyOf }: JsonSchema): string {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeOf(items)}`;
  return typeof type === 'string' ? type : (type ?? ['anything']).join(' or ');
}

/** Text with its code between backticks. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
