type Cell = string | number | null;

/** A table as RFC 4180 has it. A text that a spreadsheet would run as a formula remains text. */
export function csvOf(heading: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return csvRows([heading, ...rows]);
}

/** Rows to go below others. */
export function csvRows(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

/**
 * What spreadsheets take for the beginning of a formula, full-width and small forms included: at the beginning of a cell, and after
 * any separator other than the comma that a program may be set to. Looks back from the sign, so that long blanks take no
 * longer than other text.
 */
const FORMULA =
  /[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212](?<=(?:^|[;|\t\r\n])[\s"\u00a0\u3000\ufeff]*.)/gsu;

function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(FORMULA, "'$&").replace(/^(?=[\t\r])/, "'");
  return /[",;\r\n\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
