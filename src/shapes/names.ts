import type Joi from 'joi';
import { CHANNEL } from './channel.js';
import { BATCH, CODE } from './code.js';
import { DISCOVERED } from './discovered.js';
import { EXPLAINED } from './explained.js';
import { TOKEN } from './key.js';
import { AUDIT, OWN_USAGE, STATS, USAGE } from './log.js';
import { NODES } from './node.js';
import { OVERVIEW } from './overview.js';
import { PRICE, PRICE_CHANGE, PRICES } from './price.js';
import { OWN_REFUSED, REFUSED } from './refused.js';
import { LISTED_REQUEST, OWN_LISTED_REQUEST, OWN_REQUEST, REQUEST } from './request.js';
import { SESSION } from './session.js';
import { BREAKDOWN, SERIES, SUMMARY } from './stats.js';
import { SWITCHED, TAG_ENTRY } from './tag.js';
import { TESTED } from './tested.js';
import { USER } from './user.js';

/** The names that shapes have in the published document, and so in clients made from it. */
export const SHAPE_NAMES: Readonly<Record<string, Joi.Schema>> = {
  Account: USER,
  AuditEntry: AUDIT,
  Channel: CHANNEL,
  Code: CODE,
  CodeBatch: BATCH,
  Discovered: DISCOVERED,
  Explanation: EXPLAINED,
  Key: TOKEN,
  ListedRequest: LISTED_REQUEST,
  Login: SESSION,
  Nodes: NODES,
  Overview: OVERVIEW,
  OwnListedRequest: OWN_LISTED_REQUEST,
  OwnRefusal: OWN_REFUSED,
  OwnRequest: OWN_REQUEST,
  OwnUsage: OWN_USAGE,
  Price: PRICE,
  PriceChange: PRICE_CHANGE,
  Prices: PRICES,
  Refusal: REFUSED,
  Request: REQUEST,
  SpendBreakdown: BREAKDOWN,
  SpendSeries: SERIES,
  SpendSummary: SUMMARY,
  SwitchedTag: SWITCHED,
  Tag: TAG_ENTRY,
  Tested: TESTED,
  Usage: USAGE,
  UsageTotals: STATS,
};
