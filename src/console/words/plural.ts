/** Counts in the plural form of the language; `#` stands for the number. */
export function plural(
  language: string,
): (
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
) => string {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (count, forms) =>
    (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count));
}
