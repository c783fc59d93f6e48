import type { Door } from '../gateway/door.js';
import type { GatewayDeps } from '../gateway/rerank.js';
import type { StartTrace } from '../gateway/trace-context.js';
import type { Authenticate, ReadSigned } from './authentication.js';
import type { AddressList } from './client-address.js';
import type { ExplainRouteDeps } from './explained.js';
import type { Load } from './load.js';
import type { ReplyBatches } from './reply-batches.js';

export interface RerankRouteDeps extends ExplainRouteDeps {
  readonly gateway: GatewayDeps;
  readonly authenticate: Authenticate;
  /** Reads signed requests; absent if no key may sign. */
  readonly readSigned: ReadSigned | undefined;
  readonly load: Load;
  readonly door: Door;
  readonly replies: ReplyBatches;
  readonly startTrace: StartTrace;
  readonly trustedProxies: AddressList | undefined;
  readonly bodyLimitBytes: number;
  readonly bodyTimeoutMs: number;
  readonly maxDocuments: number;
  readonly deadlineMs: number;
  readonly defaultModel: string | undefined;
}
