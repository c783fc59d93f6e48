/** `set` replaces a balance, `add` moves it (and may be negative): both are atomic under running traffic. */
export type QuotaChange = { readonly set: number } | { readonly add: number };
