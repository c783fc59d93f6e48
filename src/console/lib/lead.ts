/** What introduces a value, with the space before it: after punctuation of full width there is none. */
export function lead(words: string): string {
  return /[：。]$/.test(words) ? words : `${words} `;
}
