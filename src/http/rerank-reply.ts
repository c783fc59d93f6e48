import type { RankedRow, RerankRequest, Usage } from '../core/rerank.js';
import type { RerankReply } from '../gateway/rerank.js';

/**
 * The body of a ranking. Written by hand: the rows are plain numbers, documents are the caller's own bytes, and building
 * objects only to print them costs more than the rest of the reply.
 */
export function rerankReplyBody(
  id: string,
  request: RerankRequest,
  reply: Pick<RerankReply, 'rows' | 'usage' | 'warning'>,
): string | Buffer {
  const head = `{"id":"${id}","model":${JSON.stringify(request.model)},"results":[`;
  const tail = usageText(reply.usage, reply.warning);
  return request.returnDocuments
    ? withDocuments(head, request, reply.rows, tail)
    : head + rowsText(reply.rows) + tail;
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
