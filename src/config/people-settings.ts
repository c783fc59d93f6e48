import Joi from 'joi';
import {
  checkIssuer,
  checkNoFile,
  checkRootPassword,
  checkSmtpUrl,
  headerName,
  text,
} from './checks.js';
import {
  amount,
  count,
  flag,
  milliseconds,
  names,
  of,
  optional,
  secret,
  type SettingGroup,
} from './setting.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The account that the first start creates. */
export const ROOT = {
  username: of<string>(text().max(64), 'root', 'The account that the first start creates', {
    variable: 'ROOT_USERNAME',
  }),
  password: secret(
    Joi.string().custom(checkRootPassword),
    'Without it, a random one is made and printed once',
    { variable: 'ROOT_PASSWORD' },
  ),
  showSecrets: flag(
    true,
    'Whether the first start makes an API key and prints it, and the password if it made that. `false` in the image, whose log others may read',
    { variable: 'ROOT_SHOW_SECRETS' },
  ),
  quota: amount(1_000_000_000_000_000, 'What root may spend, in units'),
} satisfies SettingGroup;

/** People and their logins. Attempts are counted for each of login, register, reset and topup. */
export const ACCOUNTS = {
  registration: flag(false, '`true`: people may create their own accounts', {
    variable: 'REGISTRATION',
  }),
  initialQuota: amount(0, 'What a new account starts with, in units'),
  sessionIdleMs: count(7 * DAY_MS, 'A login ends when unused for this long', { shown: '7 days' }),
  sessionMaxMs: count(30 * DAY_MS, 'A login ends after this long in any case', {
    shown: '30 days',
  }),
  accessTokenMs: count(
    90 * DAY_MS,
    'An access token ends after this long, existing ones included',
    { shown: '90 days' },
  ),
  attemptsPerAddress: count(60, 'Attempts per window from one address; for IPv6, from one /64'),
  attemptsPerAccount: count(
    10,
    'Attempts per window on one account from one address; see docs/security.md',
  ),
  attemptsWindowMs: milliseconds(60_000, 'The window'),
  resetMailsPerHour: count(3, 'Reset mails per hour to one account'),
  keysPerAccount: count(
    200,
    'API keys that one account may have; commands on the store itself may exceed it',
  ),
} satisfies SettingGroup;

/** How people log in to the console and the management API, by a password or through somebody who vouches for them. */
export const LOGIN = {
  passwords: flag(true, 'Whether passwords are accepted, and sent by mail when forgotten', {
    variable: 'LOGIN_PASSWORDS',
  }),
  header: optional(
    headerName(),
    'The header in which a proxy of `server.trusted_proxies` names the user that it has authenticated, such as `Remote-User`',
    { variable: 'LOGIN_HEADER' },
  ),
  emailHeader: optional(headerName(), 'The header with the address of that user'),
  groupsHeader: optional(
    headerName(),
    'The header with the groups of that user, separated by commas',
  ),
  create: flag(false, 'Whether the first login of somebody vouched for makes an account'),
  link: flag(
    false,
    'Whether the first login takes over an existing account: one with the name in `login.header`, or with the address that the provider has verified',
  ),
  roles: names<'user' | 'auditor' | 'admin'>(
    Joi.string().valid('user', 'auditor', 'admin'),
    'The role that members of a group get at each login, the highest first; `"*"` is anybody. Anybody else is refused, unless there are none',
  ),
  accounts: names<string>(
    text().max(64),
    'The name of an existing account that all members of a group share; others have their own',
  ),
  sessionMaxMs: count(
    DAY_MS / 2,
    'A login that somebody else vouched for ends after this long; then they are asked again',
    { shown: '12 hours' },
  ),
} satisfies SettingGroup;

/** An OpenID provider, where people log in. */
export const OIDC = {
  issuer: optional(
    text().custom(checkIssuer),
    'The address of the provider, as in its `/.well-known/openid-configuration`',
    { variable: 'OIDC_ISSUER' },
  ),
  clientId: optional(text(), 'The id under which the provider knows the gateway', {
    variable: 'OIDC_CLIENT_ID',
  }),
  clientSecret: secret(Joi.string().min(1), 'The secret of that client; none for a public client', {
    variable: 'OIDC_CLIENT_SECRET',
  }),
  scopes: of<string>(text(), 'openid profile email', 'What the provider is asked for'),
  label: of<string>(text().max(64), 'Single sign-on', 'What the button of the login page says'),
  usernameClaim: of<string>(text(), 'preferred_username', 'The claim that names a new account'),
  groupsClaim: of<string>(
    text(),
    'groups',
    'The claim with the groups; a dot leads into a claim: `realm_access.roles`',
  ),
} satisfies SettingGroup;

/** How mail with one-time codes is sent. */
export const MAIL = {
  smtpUrl: secret(
    Joi.string().trim().custom(checkSmtpUrl),
    '`smtps://user:password@host:465`, or `smtp://user:password@host:587?requireTLS=true`, which without `requireTLS` also sends where the server offers no TLS',
    { variable: 'SMTP_URL' },
  ),
  from: of<string>(text(), 'rerank-gateway <no-reply@localhost>', 'The sender', {
    variable: 'MAIL_FROM',
  }),
  outboxDir: optional(
    text().custom(checkNoFile),
    'Where mails are written as `.eml` files while there is no SMTP server',
    { shown: '`outbox` in `data_dir`' },
  ),
} satisfies SettingGroup;
