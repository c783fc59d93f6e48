import Joi from 'joi';
import { checkWebhookUrl, text, webhookSecret } from './checks.js';
import { EVENT_KINDS } from '../core/delivery.js';
import { Secret } from '../core/secret.js';

/** A receiver of alerts, as a file names it. */
export interface FileTarget {
  readonly name: string;
  readonly webhook?: string;
  readonly secret?: string;
  readonly slack?: string;
  readonly mail?: readonly string[];
  readonly kinds: readonly string[];
}

/** A receiver of alerts. */
export interface AlertTarget {
  readonly name: string;
  readonly form: 'webhook' | 'slack' | 'mail';
  /** Of a webhook, and of Slack's. */
  readonly url: Secret | undefined;
  readonly secret: Secret | undefined;
  /** Addresses for mail. */
  readonly to: readonly string[];
  readonly kinds: readonly string[];
}

const url = (): Joi.StringSchema => Joi.string().trim().custom(checkWebhookUrl);

/** Audit entries are many: only targets that name them get them. */
const USUAL_KINDS = EVENT_KINDS.filter((kind) => kind !== 'audit');

export const TARGETS_SCHEMA = Joi.array()
  .items(
    Joi.object<FileTarget>({
      name: text()
        .pattern(/^[a-z0-9][a-z0-9_-]{0,31}$/)
        .invalid('webhook')
        .required()
        .messages({
          'string.pattern.base': 'must be a short name in lower case, such as on-call',
          'any.invalid': 'is the name of alerts.webhook_url',
        }),
      webhook: url(),
      secret: webhookSecret(),
      slack: url(),
      mail: Joi.array()
        .items(
          text().email({ tlds: false }).messages({
            'string.email':
              'must be an address such as ada@example.com; several are a list, [ada@example.com, ben@example.com]',
          }),
        )
        .min(1)
        .single(),
      kinds: Joi.array()
        .items(Joi.string().valid(...EVENT_KINDS))
        .min(1)
        .default(USUAL_KINDS)
        .messages({ 'any.only': `must be one of ${EVENT_KINDS.join(', ')}` }),
    })
      .xor('webhook', 'slack', 'mail')
      .with('secret', 'webhook')
      .messages({ 'object.with': 'belongs to a webhook' }),
  )
  .unique('name')
  .default([]);

/** The targets of a file, and that of `alerts.webhook_url`. */
export function alertTargetsOf(
  written: readonly FileTarget[],
  usual: { readonly webhookUrl: Secret | undefined; readonly webhookSecret: Secret | undefined },
): AlertTarget[] {
  const secretOf = (value: string | undefined): Secret | undefined =>
    value === undefined ? undefined : new Secret(value);
  const named = written.map(({ name, webhook, secret, slack, mail = [], kinds }): AlertTarget => {
    const form = slack !== undefined ? 'slack' : webhook !== undefined ? 'webhook' : 'mail';
    return {
      ...{ name, form, url: secretOf(slack ?? webhook), secret: secretOf(secret) },
      ...{ to: mail, kinds },
    };
  });
  const { webhookUrl, webhookSecret } = usual;
  if (webhookUrl === undefined) return named;
  const first: AlertTarget = {
    ...{ name: 'webhook', form: 'webhook', url: webhookUrl, secret: webhookSecret },
    ...{ to: [], kinds: USUAL_KINDS },
  };
  return [first, ...named];
}
