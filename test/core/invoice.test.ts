import { describe, expect, it } from '@jest/globals';
import { readInvoice } from '../../src/core/invoice.js';

describe('an invoice', () => {
  it('is read with any separator, quotes, money and columns of its own', () => {
    const commas =
      '\uFEFFDate,Project,"Amount (USD)",Total tokens\r\n2026-10-05,"a, ""b""","$1,234.50","1,000"\r\n,,9,9\r\n';
    const semicolons = 'model;search units\nrerank-v3.5;12\n\n';

    expect(readInvoice(commas)).toEqual([
      { day: '2026-10-05', model: undefined, counts: { dollars: 1_234.5, tokens: 1_000 } },
    ]);
    expect(readInvoice(semicolons)).toEqual([
      { day: undefined, model: 'rerank-v3.5', counts: { search_units: 12 } },
    ]);
    expect(readInvoice('model,cost\r\nm,12 usd\r\n\r\n')).toEqual([
      { day: undefined, model: 'm', counts: { dollars: 12 } },
    ]);
    expect(readInvoice('usage date\trequests\n2026/1/2\t\n')).toEqual([
      { day: '2026-01-02', model: undefined, counts: { requests: 0 } },
    ]);
  });

  it.each([
    ['a,b\n1,2\n', 'it has a, b.'],
    ['date\n2026-10-05\n', 'one of "amount"'],
    ['', 'it has none.'],
    ['date,amount\n05.10.2026,1\n', 'Line 2: "05.10.2026" is not a date'],
    ['date,amount\n2026-10-05,free\n', 'Line 2: "free" is not a number'],
    // Fractions behind a comma, which is for thousands.
    ['date;amount\n2026-10-05;12,50\n', 'Line 2: "12,50" is not a number'],
    ['date;amount\n2026-10-05;1.234,50\n', 'Line 2: "1.234,50" is not a number'],
    ['model;amount\nm;0,002\n', 'Line 2: "0,002" is not a number'],
  ])('says what is wrong with %j', (text, expected) => {
    expect(() => readInvoice(text)).toThrow(expected);
  });
});
