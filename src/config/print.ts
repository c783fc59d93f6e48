import { stringify } from 'yaml';
import type { Config } from './values.js';
import { CHANNEL_ENABLED } from '../core/channel.js';
import type { Price } from '../core/quota.js';
import { mapValues, snakeCase } from '../core/records.js';
import { Secret } from '../core/secret.js';

/** The settings in force as YAML in the shape of a file, every secret masked. */
export function printConfig(config: Config): string {
  const { callers, models, prices, channels, tags, alerts, ...groups } = config;
  const shown = {
    ...mapValues(groups, snakeKeys),
    alerts: { ...snakeKeys(alerts), targets: alerts.targets.map(snakeKeys) },
    callers: {
      aliases: callers.aliases,
      anonymous: callers.anonymous === undefined ? undefined : snakeKeys(callers.anonymous),
      aws_keys: mapValues(callers.awsKeys, String),
    },
    models: {
      default: snakeKeys({ ...models.fallback }),
      ...mapValues(models.named, (rules) => snakeKeys({ ...rules })),
    },
    prices: {
      default: fromPrice(prices.fallback),
      models: mapValues(prices.models, fromPrice),
    },
    tags: tags.map(snakeKeys),
    channels: channels?.map(({ declared, credentials }) => {
      const { status, settings, models, ...rest } = declared;
      return {
        ...snakeKeys(rest),
        enabled: status === CHANNEL_ENABLED,
        models,
        settings: snakeKeys(settings),
        credentials: snakeKeys(credentials),
      };
    }),
  };
  return stringify(shown, { lineWidth: 0 });
}

function fromPrice({ per, units: amount }: Price): Record<string, number> {
  return { [`per_${per}`]: amount };
}

/** The members in snake case, with secrets masked. */
function snakeKeys(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]: [string, unknown]) => [
      snakeCase(name),
      value instanceof Secret ? value.toString() : value,
    ]),
  );
}
