import type { Attention } from '../lib/attention.js';
import { percent } from '../lib/format.js';
import { plural } from './plural.js';

const many = plural('en');

/** Sentences that come with the pages that need them. `zh-pages.ts` has the type of this one. */
export const enPages = {
  channels: {
    one: 'Channel',
    new: 'Add a channel',
    none: 'No channel yet.',
    noneHelp: 'A channel is a provider with an address, credentials and models. Requests go to it.',
    find: 'Name, address or model',
    provider: 'Provider',
    anyProvider: 'Any provider',
    anyTag: 'Any tag',
    model: 'Model',
    anyState: 'Any state',
    state: 'State',
    sort: 'Order',
    sorts: { id: 'By age', name: 'By name', tried: 'As they are tried' },
    order: 'Priority · weight',
    states: {
      live: 'live',
      off: 'takes no traffic',
      disabled: 'switched off',
      auto_disabled: 'taken out by the gateway',
      tag_disabled: 'off by its tag',
      credentials_locked: 'its credentials cannot be read',
      unusable: 'does not fit its provider',
    } as Readonly<Record<string, string>>,
    declared: 'configuration',
    declaredHelp:
      'Declared in the configuration: change it there, and restart. Only its switch works here.',
    address: 'Address',
    ownAddress: 'the provider’s own',
    inside: 'inside the gateway',
    credentials: 'Credentials',
    noCredentials: 'none',
    timeout: 'Timeout',
    timeoutDefault: 'the gateway’s',
    atOnce: 'At once',
    noBound: 'no bound',
    scores: 'Scores',
    scoreKinds: { raw: 'as the provider gives them', normalized: 'as probabilities' },
    settings: 'Settings',
    switchOff: 'Switch off…',
    off: 'Switch off',
    switchOn: 'Switch on',
    offTitle: (name: string) => `Switch “${name}” off?`,
    offHelp: 'When it answers, no gateway starts another attempt on it.',
    deleteTitle: (name: string) => `Delete the channel “${name}”?`,
    deleteManyTitle: (count: number) =>
      `Delete ${many(count, { one: '# channel', other: '# channels' })}?`,
    deleteHelp: 'With its credentials, which nobody can read back.',
    copy: 'Copy…',
    copyTitle: (name: string) => `A channel like “${name}”`,
    copyHelp:
      'Credentials are not copied: give those of the copy here or later. It starts switched off.',
    copyName: 'Name of the copy',
    makeCopy: 'Make the copy',
    retag: 'Tag…',
    retagTitle: (count: number) =>
      `Another tag for ${many(count, { one: '# channel', other: '# channels' })}`,
    retagHelp: 'Empty: no tag.',
    give: 'Give the tag',
    test: 'Test',
    testHelp: 'Sends two documents, and costs what the provider takes for that.',
    testing: 'asking the provider…',
    playground: 'Open in the playground',
    requests: 'Requests of this channel',
    editTitle: (name: string) => `Change “${name}”`,
    nothingChanged: 'Nothing was changed.',
    connection: 'Connection',
    addressHelp: (own: string | null) =>
      own === null ? 'Where the server is: https://host:port.' : `Empty: ${own}`,
    credentialSet: 'Set. Empty: it stays.',
    credentialsAnew:
      'A change of the address, or of a setting that may lead requests elsewhere, asks for the credentials again.',
    models: 'Models',
    modelsHelp:
      'One a line: the name that callers use; where the provider’s is another, “name = provider’s name”.',
    examples: 'Such as:',
    routing: 'Routing',
    tag: 'Tag',
    tagHelp: 'Channels with one tag are switched together.',
    priority: 'Priority',
    priorityHelp: 'Higher is tried first.',
    weight: 'Weight',
    weightHelp: 'Its share among equal priorities; 0: only when nothing else is left.',
    timeoutMs: 'Timeout of an attempt, in ms',
    timeoutHelp: 'Empty: the gateway’s.',
    atOnceHelp: '0: no bound.',
    healthCheck: 'Health check every, in s',
    healthCheckHelp: 'Two short documents each time. 0: none. Empty: as its provider wants it.',
    pairTokens: 'Tokens of query and document together',
    pairTokensHelp: 'What its model reads. Empty: what is known of the provider.',
    windowSize: 'Documents of a window',
    windowSizeHelp:
      'For models that rank all together: longer lists are shown in windows of so many.',
    windowStride: 'How far the next window lies',
    windowStrideHelp: 'Empty: half a window.',
    longDocuments: 'Documents longer than the model reads',
    longKinds: {
      truncate: 'their beginning is ranked',
      chunk: 'the best of their parts is ranked',
    },
    pausedOn: (node: string, seconds: number, reason: string) =>
      `left alone by ${node} for ${seconds} s (${reason})`,
    outSince: 'Out since',
    nextTry: 'Tried again',
    paused: 'Left alone',
    retryUnsafe: 'Send again what the provider may have served already: it may be paid for twice',
    more: 'More',
    yes: 'yes',
    no: 'no',
    default: (value: string) => `default: ${value}`,
    required: 'needed',
  },
  models: {
    none: 'No model yet.',
    noneHelp: 'Models come with channels: add one.',
    noneForUsers: 'This gateway serves no model yet. Ask an admin.',
    model: 'Model',
    find: 'Model',
    live: 'live',
    dark: 'no channel takes it now',
    price: 'Price',
    prices: {
      request: (amount: string) => `${amount} per 1,000 requests`,
      search_unit: (amount: string) => `${amount} per 1,000 searches`,
      million_tokens: (amount: string) => `${amount} per million tokens`,
    },
    free: 'free',
    aliases: 'Other names',
    served: 'Served by',
    servedBy: (live: number, all: number) => `${live} of ${all} live`,
    ladder: 'In the order in which they are tried',
    tier: (priority: number) => `Priority ${priority}`,
    share: (percent: string) => `${percent} of what begins here`,
    tryIt: 'Try it in the playground',
    channels: 'Its channels',
    requests: 'Its requests',
    code: 'Code to paste',
    explain: 'Where would a request go now?',
    explainHelp: 'Nothing is sent or charged.',
    refused: (status: number, code: string) => `It would be refused: ${status} ${code}.`,
    tried: 'These would be tried, in this order:',
    passedOver: 'These would not, because:',
    wouldCost: (amount: string) => `Two short documents would cost about ${amount}.`,
    fallback: (model: string) => `If all of them fail: ${model}`,
  },
  people: {
    one: 'Account',
    new: 'New account',
    make: 'Make the account',
    none: 'No account yet.',
    find: 'Name or address',
    email: 'E-mail address',
    role: 'Role',
    anyRole: 'Any role',
    roles: { 0: 'guest', 1: 'user', 10: 'admin', 100: 'root' },
    enabled: 'enabled',
    disabled: 'disabled',
    outOfReach: 'Its role is not below yours:',
    setPassword: 'Set a password…',
    passwordTitle: (name: string) => `A new password for ${name}`,
    passwordHelp: 'All logins and access tokens of the account end. Its keys go on working.',
    passwordHelpNew: '8 characters or more. Pass it on; it can be changed under My account.',
    promote: 'Make an admin…',
    demote: 'Make a user…',
    actions: {
      disable: 'Disable',
      promote: 'Make an admin',
      demote: 'Make a user',
      delete: 'Delete',
    },
    titles: {
      disable: (name: string) => `Disable ${name}?`,
      promote: (name: string) => `Make ${name} an admin?`,
      demote: (name: string) => `Make ${name} a user?`,
      delete: (name: string) => `Delete the account ${name}?`,
    },
    consequences: {
      disable:
        'All logins end, and all keys of the account are refused, until it is enabled again.',
      promote: 'Admins see and change every channel, key, tag and code, and the accounts of users.',
      demote: 'From now on it sees its own keys and requests alone.',
      delete: 'What is left of the balance is gone. The usage and audit logs keep its name.',
    },
    keysGo: (count: number) =>
      count === 0
        ? 'It has no keys.'
        : `${many(count, { one: '# key goes', other: '# keys go' })} with it: whoever uses one is refused.`,
    keys: 'Keys',
    requests: 'Requests',
    changes: 'What was changed',
    balance: 'Balance',
    amount: 'Amount in dollars',
    startBalance: 'Balance to begin with, in dollars',
    modes: { add: 'Add', subtract: 'Take away', override: 'Set to' },
  },
  codes: {
    make: 'Make codes',
    makeTitle: 'Codes that turn into balance',
    none: 'No code yet.',
    noneHelp: 'Whoever redeems a code has its worth added to the balance.',
    find: 'Name',
    worth: 'Worth of each, in dollars',
    count: 'How many',
    until: 'Until',
    untilHelp: 'Empty: they do not end.',
    sum: (count: number, each: string, all: string) => `${count} × ${each} = ${all}`,
    madeTitle: (count: number, name: string) =>
      `${many(count, { one: '# code', other: '# codes' })} “${name}”`,
    copyAll: 'Copy all',
    text: 'Text',
    print: 'Print',
    have: 'I have them: close',
    notTaken: 'They were neither copied nor saved, and nobody can show them again.',
    closeAnyway: 'Close all the same',
    redeemAt: 'Redeem it at',
    untilDay: (day: string) => `until ${day}`,
    batches: 'Batches',
    made: 'Made',
    used: 'Used',
    left: 'Left',
    leftWorth: 'Worth left',
    disableRest: 'Disable the rest…',
    disableRestTitle: (name: string) => `Disable what is left of “${name}”?`,
    disableRestHelp: (count: number) =>
      `${many(count, { one: '# code', other: '# codes' })} can no longer be redeemed. Each can be enabled again.`,
    disabledCount: (count: number) =>
      `${many(count, { one: '# code was', other: '# codes were' })} disabled.`,
    deleteInvalid: 'Delete invalid ones…',
    deleteInvalidTitle: 'Delete the codes that are used, disabled or expired?',
    deletedCount: (count: number) =>
      `${many(count, { one: '# code was', other: '# codes were' })} deleted.`,
    deleteTitle: (hint: string) => `Delete the code ${hint}?`,
    code: 'Code',
    each: 'Worth',
    ends: 'Ends',
    redeemed: 'Redeemed',
    states: { left: 'can be redeemed', disabled: 'disabled', used: 'used', expired: 'expired' },
  },
  wizard: {
    where: '1 · Where',
    means: '2 · With what',
    models: '3 · Which models',
    place: '4 · Try and place',
    change: 'Pick another one',
    find: 'A provider, a model, or the address of a server',
    key: 'Its key, if it wants one',
    keyHelp: 'Sent to this address alone.',
    findOut: 'Find out what it speaks',
    findOutHelp: 'Ranks two short documents in every form that servers of one’s own know.',
    asking: 'asking the server…',
    answersLike: 'It answers like:',
    certainties: { certain: 'certain', likely: 'likely', possible: 'perhaps' },
    lists: (count: number) =>
      `It lists ${many(count, { one: '# model', other: '# models' })}; strike out what is not to be served.`,
    noProvider: 'No provider of this name. Many servers speak the dialect of another one.',
    all: (count: number) => `All ${count}`,
    inside: 'It ranks inside the gateway: nothing is needed.',
    settings: (count: number) => many(count, { one: '# setting', other: '# settings' }),
    already: (model: string, channels: string) =>
      `${model} is served already, by ${channels}: the order below says which is tried first.`,
    order: (model: string) => `Requests for ${model} will be tried in this order, by priority:`,
    addOff: 'Add, switched off',
    addOn: 'Add, switched on',
  },
  test: {
    works: (latency: string) => `It works: a right order after ${latency}.`,
    worksUndecided: (latency: string) => `It answered after ${latency}, with equal scores.`,
    fails: 'It does not work.',
    order: 'Order',
    orders: { right: 'right', wrong: 'wrong', undecided: 'equal scores' },
    scores: 'Scores',
    scoresOf: (right: string, other: string) =>
      `${right} for the document that answers, ${other} for the other`,
    scale: 'Scale',
    scaleFits: (observed: string) => `${observed}, as declared`,
    scaleDiffers: (expected: string, observed: string) =>
      `declared as ${expected}, seen as ${observed}`,
    scales: {
      probability: 'probabilities (0 to 1)',
      logit: 'logits',
      cosine: 'cosines (−1 to 1)',
      unbounded: 'anything',
      order: 'an order alone',
    } as Readonly<Record<string, string>>,
    latency: 'Latency',
    address: 'Asked',
    used: 'Reported',
    usage: (tokens: number | null, units: number | null) =>
      [
        tokens === null ? '' : many(tokens, { one: '# token', other: '# tokens' }),
        units === null ? '' : many(units, { one: '# search unit', other: '# search units' }),
      ]
        .filter((text) => text !== '')
        .join(', '),
    /** The API’s own words say it in English. */
    helps: {} as Readonly<Record<string, string>>,
  },
  chart: {
    top: (value: string) => `at most ${value}`,
    empty: 'Nothing in this time.',
    table: 'As a table',
    time: 'Time',
  },
  overview: {
    range: 'Time range',
    quiet: 'All right: no request in this time.',
    fine: (perSecond: string, failed: string, p95: string) =>
      `All right: ${perSecond} requests a second, ${failed} failed, p95 ${p95}.`,
    look: (count: number) =>
      many(count, { one: '# thing needs a look', other: '# things need a look' }),
    things: (thing: Attention): string => {
      switch (thing.kind) {
        case 'channel_fails':
          return `${thing.name} fails: ${percent(thing.share)} of its attempts in the last minutes`;
        case 'tag_off':
          return `the tag ${thing.name} is switched off`;
        case 'channel_unusable':
          return `${thing.name} cannot be used: ${thing.why}`;
        case 'node':
          return thing.standing === 'behind'
            ? `${thing.name} has an older version in force`
            : `${thing.name} has stopped to report`;
        case 'settlements':
          return `${thing.name}: the store has not heard of ${many(thing.count, { one: '# settlement', other: '# settlements' })}`;
      }
    },
    since: (at: string) => `From ${at} on: there are no numbers of the time before.`,
    perSecond: (value: string) => `${value} a second`,
    refusedShare: (share: string) => `refused, which callers can mend: ${share}`,
    traffic: 'Traffic by outcome',
    latency: 'Latency of what went well, about',
    ok: 'OK',
    refused: 'Refused',
    channel: 'Channel, by its attempts',
    rate: 'A second',
    others: 'others',
    today: 'Spent today',
  },
  home: {
    lasts: (days: number) =>
      days > 999
        ? 'lasts for years at the rate of the last 7 days'
        : `lasts about ${many(days, { one: '# day', other: '# days' })} at the rate of the last 7 days`,
    lastDay: 'Requests in 24 hours',
    within24: 'in 24 hours',
    failed: (share: string) => `${share} failed`,
    traffic: 'Last 24 hours',
    failures: 'What failed last',
    noFailures: 'Nothing has failed.',
  },
  spend: {
    range: 'Time range',
    spans: {
      this_month: 'This month',
      last_month: 'Last month',
      '7d': '7 days',
      '30d': '30 days',
    },
    by: 'By',
    then: 'Then by',
    groups: {
      user: 'Account',
      token: 'Key',
      model: 'Model',
      channel: 'Channel',
      tag: 'Tag',
      provider: 'Provider',
    },
    share: 'Share',
    total: 'Total',
    byDay: 'By day',
    none: 'Nothing was spent in this time.',
  },
};

export type PageWords = typeof enPages;
