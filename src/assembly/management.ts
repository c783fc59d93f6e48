import { randomBytes } from 'node:crypto';
import type { Config } from '../config/values.js';
import type { ChannelTable } from '../gateway/channels/table.js';
import { createDiscover } from '../gateway/look/discover.js';
import { createListUpstreamModels } from '../gateway/look/upstream-models.js';
import type { OperationDeps } from '../operations/operation.js';
import { openIdFrom } from './logins.js';
import type { Upstreams } from './upstreams.js';

/** What comes from other parts as it is. */
type Given = Pick<
  OperationDeps,
  'store' | 'now' | 'gateway' | 'explain' | 'logIds' | 'sendMail' | 'alerting' | 'later'
>;

/** What the operations work with. */
export function createManagement(
  config: Config,
  release: string,
  parts: Given & { readonly upstreams: Upstreams; readonly channels: ChannelTable },
): OperationDeps {
  const { upstreams, channels, ...given } = parts;
  const { upstream, neural, tools, declared, probe } = upstreams;
  const { gateway, accounts, login, mail, server, console, log } = config;
  return {
    ...{ ...given, probe, accounts, randomBytes },
    logins: login,
    allowPrivateUpstreams: gateway.allowPrivateUpstreams,
    allowMetadataUpstreams: gateway.allowMetadataUpstreams,
    stalenessMs: gateway.stalenessMs,
    get deadlineMs() {
      return gateway.deadlineMs;
    },
    statsDays: log.statsDays,
    publicUrl: server.publicUrl,
    keepsExamples: console.examples,
    about: {
      release,
      mail: mail.smtpUrl === undefined ? 'outbox' : 'smtp',
      defaultModel: gateway.defaultModel,
      usageEntries: log.usageEntries,
      refusedEntries: log.refusedEntries,
      retentionDays: log.retentionDays,
    },
    prices: config.prices,
    known: {
      refresh: () => channels.refresh(),
      names: () => Promise.resolve((id) => channels.current.byId.get(id)?.channel.name),
      fallbacksOf: (model) => channels.current.plans.get(model)?.answers.slice(1) ?? [],
    },
    discover: createDiscover({ upstream, neural, tools, now: given.now }),
    listUpstreamModels: createListUpstreamModels({ upstream, declared }),
    openId: openIdFrom(config, given.now),
  };
}
