/** One line of a provider's invoice: what it counts, and on which day, or for which model. */
export interface InvoiceLine {
  /** `2026-10-05`; `undefined` if the file has no days. */
  readonly day: string | undefined;
  readonly model: string | undefined;
  readonly counts: Readonly<Partial<Record<InvoiceCount, number>>>;
}

/** What an invoice may count, by the names that providers use. */
const HEADINGS = {
  day: /^(?:usage[ _])?(?:date|day)$|^(?:start|usage)[ _](?:date|time)$/,
  model: /^model(?:[ _](?:name|id))?$/,
  dollars: /^(?:amount|cost|charge|total|price|dollars)(?:[ _(]*(?:usd|us\$|\$)\)?)?$/,
  requests: /^(?:num[ _])?(?:requests|calls)$/,
  tokens: /^(?:total[ _]|input[ _]|num[ _])?tokens$/,
  search_units: /^search(?:[ _]units|es)$/,
} as const;

export const INVOICE_COUNTS = ['dollars', 'requests', 'tokens', 'search_units'] as const;
export type InvoiceCount = (typeof INVOICE_COUNTS)[number];

/** A file that is not an invoice, in words. */
export class InvoiceError extends Error {
  override readonly name = 'InvoiceError';
}

/**
 * Reads an invoice as CSV: separated by commas, semicolons or tabs, with a heading. Columns that it does not know are left out, and
 * so are lines of totals, which have neither a day nor a model.
 * @throws InvoiceError if a column is missing, or a date or number cannot be read.
 */
export function readInvoice(text: string): InvoiceLine[] {
  const [heading = [], ...rows] = cellsOf(text);
  const column = (name: keyof typeof HEADINGS): number =>
    heading.findIndex((title) => HEADINGS[name].test(title.trim().toLowerCase()));
  const [day, model] = [column('day'), column('model')];
  const counts = INVOICE_COUNTS.map((name) => [name, column(name)] as const);
  const known = counts.filter(([, at]) => at !== -1);
  if ((day === -1 && model === -1) || known.length === 0) {
    throw new InvoiceError(
      `The file needs a column "date" or "model", and one of "amount", "requests", "tokens" and "search_units"; it has ${heading.join(', ') || 'none'}.`,
    );
  }
  return rows.flatMap((row, index) => {
    const line = index + 2;
    const [dayText, modelText] = [textAt(row, day), textAt(row, model)];
    if (dayText === undefined && modelText === undefined) return [];
    return [
      {
        day: dayText === undefined ? undefined : dayIn(dayText, line),
        model: modelText,
        counts: Object.fromEntries(
          known.map(([name, at]) => [name, numberIn(row[at] ?? '', line)]),
        ),
      },
    ];
  });
}

function textAt(row: readonly string[], at: number): string | undefined {
  const text = row[at]?.trim() ?? '';
  return text === '' ? undefined : text;
}

function dayIn(text: string, line: number): string {
  const [, year, month = '', date = ''] =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:$|[T ])/.exec(text) ?? [];
  if (year === undefined) {
    throw new InvoiceError(`Line ${line}: "${text}" is not a date such as 2026-10-05.`);
  }
  return `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`;
}

/** Commas between thousands; elsewhere one may stand before a fraction. */
const GROUPED = /^-?[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}(?:\.\d*)?$/;

/** `$1,234.50`, `1234.5 USD` or nothing. */
function numberIn(text: string, line: number): number {
  const bare = text.replace(/[\s$]|USD/gi, '');
  const value = Number(GROUPED.test(bare) ? bare.replaceAll(',', '') : bare);
  if (Number.isFinite(value)) return value;
  throw new InvoiceError(`Line ${line}: "${text}" is not a number such as 1234.50.`);
}

/** The cells of a CSV file, line by line; empty lines are left out. */
function cellsOf(text: string): string[][] {
  const first = text.slice(0, text.search(/\r?\n|$/));
  const separator = [';', '\t'].find((each) => first.includes(each)) ?? ',';
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  const endRow = (): void => {
    row.push(cell);
    if (row.some((each) => each.trim() !== '')) rows.push(row);
    [row, cell] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[(at += 1)] ?? '';
      else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === separator) [row, cell] = [[...row, cell], ''];
    else if (sign === '\n') endRow();
    else if (sign !== '\r') cell += sign;
  }
  endRow();
  return rows;
}
