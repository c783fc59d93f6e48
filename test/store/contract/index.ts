import { describe } from '@jest/globals';
import { describeAccounts } from './accounts.js';
import { describeAdmission } from './admission.js';
import { describeBudgets } from './budgets.js';
import { describeChannels } from './channels.js';
import { describeDeliveries } from './deliveries.js';
import { describeDuties } from './duties.js';
import { describeExamples } from './examples.js';
import { describeIdentities } from './identities.js';
import type { OpenHarness } from './harness.js';
import { describeLogs } from './logs.js';
import { describeNodes } from './nodes.js';
import { describePlaces } from './places.js';
import { describePrices } from './prices.js';
import { describeRedemption } from './redemption.js';
import { describeReplies } from './replies.js';
import { describeSecrets } from './secrets.js';
import { describeSessions } from './sessions.js';
import { describeShares } from './shares.js';
import { describeStats } from './stats.js';
import { describeTokens } from './tokens.js';
import { describeUsers } from './users.js';

/** What every implementation of the store must do, race by race. Each test opens a store of its own. */
export function describeStoreContract(name: string, open: OpenHarness): void {
  describe(`the ${name} store`, () => {
    describeAdmission(open);
    describeBudgets(open);
    describeTokens(open);
    describeChannels(open);
    describeUsers(open);
    describeRedemption(open);
    describeSessions(open);
    describeAccounts(open);
    describeLogs(open);
    describeNodes(open);
    describeDeliveries(open);
    describeDuties(open);
    describeExamples(open);
    describeIdentities(open);
    describeReplies(open);
    describeStats(open);
    describeShares(open);
    describePlaces(open);
    describePrices(open);
    describeSecrets(open);
  });
}
