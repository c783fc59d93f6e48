/** What a new password hash costs: 32 MiB and about a tenth of a second. Old hashes record their own. */
export const PASSWORD_COST = { ln: 15, r: 8, p: 3 };
