/**
 * Stands in for `src/management/password-cost.ts` in every suite (`jest.config.js`): hundreds of logins need not take a tenth of
 * a second each. Hashes record their cost, so that processes of their own understand them.
 */
export const PASSWORD_COST = { ln: 11, r: 8, p: 2 };
