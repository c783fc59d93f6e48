import { quoted } from '../core/json.js';
import type { RankedRow, RerankRequest, Usage } from '../core/rerank.js';
import type { RerankReply } from '../gateway/rerank.js';

/**
 * The body of a ranking. Written by hand: the rows are plain numbers, documents are the caller's own bytes, and building
 * objects only to print them costs more than the rest of the reply.
 */
export function rerankReplyBody(
  id: string,
  request: RerankRequest,
  reply: Pick<RerankReply, 'rows' | 'usage' | 'warning' | 'written'>,
): string | Buffer {
  const head = `{"id":"${id}","model":${quoted(request.model)},"results":[`;
  const tail = usageText(reply.usage, reply.warning);
  return request.returnDocuments
    ? withDocuments(head, request, reply.rows, tail)
    : head + (asWritten(reply) ?? rowsText(reply.rows)) + tail;
}

/** The rows in the upstream's own bytes, where the ranking came out as they say: writing numbers anew costs most of a reply. */
function asWritten({ rows, written }: Pick<RerankReply, 'rows' | 'written'>): string | undefined {
  if (written?.values.length !== rows.length * 2) return undefined;
  const { values, bytes } = written;
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row?.index !== values[at * 2] || row?.score !== values[at * 2 + 1]) return undefined;
  }
  return bytes.toString('latin1');
}

function rowsText(rows: readonly RankedRow[]): string {
  let text = '';
  for (const { index, score } of rows) {
    text += `${text === '' ? '' : ','}{"index":${index},"relevance_score":${scoreText(score)}}`;
  }
  return text;
}

function withDocuments(
  head: string,
  request: RerankRequest,
  rows: readonly RankedRow[],
  tail: string,
): Buffer {
  const parts: Buffer[] = [];
  let open = head;
  for (const { index, score } of rows) {
    parts.push(
      Buffer.from(`${open}{"index":${index},"relevance_score":${scoreText(score)},"document":`),
      request.documents.echo(index),
    );
    open = '},';
  }
  parts.push(Buffer.from(`}${tail}`));
  return Buffer.concat(parts);
}

/** Always with a fraction or an exponent: typed clients refuse an integer where a float is due. */
function scoreText(score: number): string {
  return Number.isInteger(score) ? score.toFixed(1) : String(score);
}

function usageText(usage: Usage, warning: string | undefined): string {
  const { inputTokens, searchUnits } = usage;
  return (
    `],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":${searchUnits}},` +
    `"tokens":{"input_tokens":${inputTokens},"output_tokens":0}${warning === undefined ? '' : `,"warnings":[${JSON.stringify(warning)}]`}},` +
    `"usage":{"prompt_tokens":${inputTokens},"completion_tokens":0,"total_tokens":${inputTokens}}}`
  );
}
