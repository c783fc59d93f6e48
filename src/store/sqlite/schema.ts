import { snakeCase } from '../../core/records.js';
import { USAGE_ROWS } from '../../core/usage-members.js';
import { StoreUnavailableError } from '../store.js';
import { rollBackAfter, type Driver } from './driver.js';

/**
 * Each entry migrates a file from the version of its index to the next one. Existing files have been through the entries of
 * older releases, so these are never changed: a new release appends.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    username      TEXT NOT NULL,
    username_key  TEXT NOT NULL UNIQUE,
    email         TEXT,
    email_key     TEXT UNIQUE,
    display_name  TEXT NOT NULL,
    display_key   TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    role          INTEGER NOT NULL,
    enabled       INTEGER NOT NULL,
    quota         INTEGER NOT NULL,
    used_quota    INTEGER NOT NULL DEFAULT 0,
    request_count INTEGER NOT NULL DEFAULT 0,
    created_time  INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE tokens (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL,
    name            TEXT NOT NULL,
    name_key        TEXT NOT NULL,
    key_hash        TEXT NOT NULL UNIQUE,
    key_hint        TEXT NOT NULL,
    enabled         INTEGER NOT NULL,
    created_time    INTEGER NOT NULL,
    accessed_time   INTEGER NOT NULL,
    expired_time    INTEGER NOT NULL,
    remain_quota    INTEGER NOT NULL,
    unlimited_quota INTEGER NOT NULL,
    used_quota      INTEGER NOT NULL DEFAULT 0,
    version         INTEGER NOT NULL DEFAULT 1,
    in_flight       INTEGER NOT NULL DEFAULT 0,
    rate_window     INTEGER NOT NULL DEFAULT 0,
    rate_current    INTEGER NOT NULL DEFAULT 0,
    rate_previous   INTEGER NOT NULL DEFAULT 0,
    policy          TEXT NOT NULL
  ) STRICT;
  CREATE INDEX tokens_by_user ON tokens (user_id);

  CREATE TABLE reservations (
    id            TEXT PRIMARY KEY,
    user_id       INTEGER NOT NULL,
    token_id      INTEGER NOT NULL,
    amount        INTEGER NOT NULL,
    limited       INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reservations_by_user ON reservations (user_id, expires_at_ms);

  CREATE TABLE channels (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT NOT NULL UNIQUE,
    tag             TEXT,
    status          INTEGER NOT NULL,
    declared_status INTEGER,
    origin          TEXT NOT NULL,
    credentials     TEXT,
    definition      TEXT NOT NULL
  ) STRICT;

  CREATE TABLE tag_switches (
    tag          TEXT PRIMARY KEY,
    disabled     INTEGER NOT NULL,
    reason       TEXT,
    changed_time INTEGER NOT NULL,
    changed_by   TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE channels_version (version INTEGER NOT NULL) STRICT;
  INSERT INTO channels_version VALUES (0);

  CREATE TABLE nodes (
    id            TEXT PRIMARY KEY,
    version       INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE codes (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT NOT NULL,
    name_key      TEXT NOT NULL,
    quota         INTEGER NOT NULL,
    status        TEXT NOT NULL,
    code_hash     TEXT NOT NULL UNIQUE,
    code_hint     TEXT NOT NULL,
    created_by    INTEGER NOT NULL,
    created_time  INTEGER NOT NULL,
    redeemed_time INTEGER NOT NULL DEFAULT 0,
    used_user_id  INTEGER NOT NULL DEFAULT 0,
    expired_time  INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sessions (
    id_hash       TEXT PRIMARY KEY,
    user_id       INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    ends_at_ms    INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_user ON sessions (user_id);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);

  CREATE TABLE one_time_codes (
    user_id       INTEGER PRIMARY KEY,
    code_hash     TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE limits (
    name          TEXT PRIMARY KEY,
    rate_window   INTEGER NOT NULL,
    rate_current  INTEGER NOT NULL,
    rate_previous INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX limits_by_expiry ON limits (expires_at_ms);

  CREATE TABLE idempotency (
    key           TEXT PRIMARY KEY,
    fingerprint   TEXT NOT NULL,
    status        INTEGER,
    body          TEXT,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_expiry ON idempotency (expires_at_ms);

  CREATE TABLE usage_log (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms        INTEGER NOT NULL,
    request_id   TEXT NOT NULL,
    user_id      INTEGER NOT NULL,
    token_id     INTEGER NOT NULL,
    token_name   TEXT NOT NULL,
    model        TEXT NOT NULL,
    channel_id   INTEGER,
    provider     TEXT,
    tag          TEXT,
    attempts     INTEGER NOT NULL,
    documents    INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    search_units INTEGER NOT NULL,
    quota        INTEGER NOT NULL,
    duration_ms  REAL NOT NULL,
    outcome      TEXT NOT NULL
  ) STRICT;
  CREATE INDEX usage_log_by_time ON usage_log (at_ms);
  CREATE INDEX usage_log_by_user ON usage_log (user_id);

  CREATE TABLE audit_log (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms    INTEGER NOT NULL,
    actor_id INTEGER,
    actor    TEXT NOT NULL,
    action   TEXT NOT NULL,
    target   TEXT NOT NULL,
    detail   TEXT NOT NULL,
    address  TEXT
  ) STRICT;
  CREATE INDEX audit_log_by_time ON audit_log (at_ms);
  `,
  `
  CREATE TABLE known_places (
    user_id       INTEGER NOT NULL,
    place_hash    TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (user_id, place_hash)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE address_codes (
    user_id       INTEGER PRIMARY KEY,
    email         TEXT NOT NULL,
    code_hash     TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE encryption_mark (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    mark     TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE usage_log ADD COLUMN detail TEXT;
  CREATE INDEX usage_log_by_request ON usage_log (request_id);

  CREATE TABLE refused_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms       INTEGER NOT NULL,
    request_id  TEXT NOT NULL,
    user_id     INTEGER,
    token_id    INTEGER,
    token_name  TEXT,
    model       TEXT,
    outcome     TEXT NOT NULL,
    status      INTEGER NOT NULL,
    message     TEXT NOT NULL,
    address     TEXT,
    node        TEXT NOT NULL,
    documents   INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    repeated    INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX refused_log_by_time ON refused_log (at_ms);
  CREATE INDEX refused_log_by_user ON refused_log (user_id);
  CREATE INDEX refused_log_by_request ON refused_log (request_id);
  `,
  `
  CREATE TABLE nodes_about (
    id            TEXT PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL,
    about         TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE duties (
    name      TEXT PRIMARY KEY,
    due_at_ms INTEGER NOT NULL,
    note      TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE stats (
    rollup        TEXT NOT NULL,
    at_ms         INTEGER NOT NULL,
    owner         INTEGER NOT NULL,
    row           TEXT NOT NULL,
    tally         TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (rollup, at_ms, owner, row)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX stats_by_end ON stats (expires_at_ms);

  CREATE TABLE stats_writers (
    writer        TEXT PRIMARY KEY,
    serial        INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE stats_since (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    since_ms INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE tokens ADD COLUMN budget INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tokens ADD COLUMN budget_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tokens ADD COLUMN budget_until_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN budget INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN budget_period TEXT NOT NULL DEFAULT 'month';
  ALTER TABLE users ADD COLUMN budget_time_zone TEXT NOT NULL DEFAULT 'UTC';
  ALTER TABLE users ADD COLUMN budget_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN budget_until_ms INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE shares (
    name          TEXT PRIMARY KEY,
    share_window  INTEGER NOT NULL,
    current       INTEGER NOT NULL,
    previous      INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX shares_by_expiry ON shares (expires_at_ms);
  `,
  `
  ALTER TABLE tokens ADD COLUMN old_key_hash TEXT;
  ALTER TABLE tokens ADD COLUMN old_key_until_ms INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX tokens_by_old_key ON tokens (old_key_hash) WHERE old_key_hash IS NOT NULL;
  `,
  `
  CREATE TABLE replies (
    name TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX replies_by_end ON replies (until_ms);
  `,
  `
  CREATE TABLE examples (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    shared INTEGER NOT NULL,
    created_time INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT;
  CREATE INDEX examples_by_user ON examples (user_id);
  ALTER TABLE codes ADD COLUMN batch_id TEXT NOT NULL DEFAULT '';
  CREATE INDEX codes_by_batch ON codes (batch_id) WHERE batch_id <> '';
  `,
  `
  CREATE TABLE places (
    name           TEXT NOT NULL,
    node           TEXT NOT NULL,
    held           INTEGER NOT NULL,
    until_ms       INTEGER NOT NULL,
    short_until_ms INTEGER NOT NULL,
    short_since_ms INTEGER NOT NULL,
    PRIMARY KEY (name, node)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN used_at_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN last_login_time INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE price_lists (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms  INTEGER NOT NULL,
    prices TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  DROP INDEX usage_log_by_user;
  DROP INDEX refused_log_by_user;
  CREATE INDEX usage_log_by_user ON usage_log (user_id, at_ms);
  CREATE INDEX refused_log_by_user ON refused_log (user_id, at_ms);
  `,
  `
  CREATE TABLE key_notes (
    id            TEXT PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL,
    note          TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE deliveries (
    id         TEXT PRIMARY KEY,
    message_id TEXT NOT NULL,
    type       TEXT NOT NULL,
    target     TEXT NOT NULL,
    summary    TEXT NOT NULL,
    body       TEXT NOT NULL,
    at_ms      INTEGER NOT NULL,
    state      TEXT NOT NULL DEFAULT 'waiting',
    tries      INTEGER NOT NULL DEFAULT 0,
    error      TEXT NOT NULL DEFAULT '',
    due_at_ms  INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deliveries_by_time ON deliveries (at_ms, id);
  CREATE INDEX deliveries_due ON deliveries (due_at_ms) WHERE state = 'waiting';

  CREATE TABLE alert_conditions (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE identities (
    name_hash TEXT PRIMARY KEY,
    user_id   INTEGER NOT NULL,
    until_ms  INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identities_by_user ON identities (user_id);
  CREATE INDEX identities_by_end ON identities (until_ms) WHERE until_ms IS NOT NULL;
  ALTER TABLE sessions ADD COLUMN source TEXT NOT NULL DEFAULT '';
  `,
];

/** Migrates a file to the version that this release uses. Several processes may do so at once. */
export function migrate(driver: Driver, file: string): void {
  driver.exec('BEGIN IMMEDIATE');
  try {
    const { user_version: version } = driver.prepare('PRAGMA user_version').get([]) as {
      readonly user_version: number;
    };
    if (version > MIGRATIONS.length) {
      throw new StoreUnavailableError(
        `${file} was written by a newer release (schema ${version}, this one knows ${MIGRATIONS.length}): ` +
          'run that release, or start this one with another file.',
      );
    }
    for (const sql of MIGRATIONS.slice(version)) driver.exec(sql);
    addColumns(driver, 'usage_log', USAGE_COLUMNS);
    addColumns(driver, 'audit_log', AUDIT_COLUMNS);
    addColumns(driver, 'users', [{ name: 'labels', definition: "TEXT NOT NULL DEFAULT ''" }]);
    // Nothing is written to a file that has this version: it may be on a full disk, and can still be read.
    if (version < MIGRATIONS.length) driver.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    driver.exec('COMMIT');
  } catch (error) {
    rollBackAfter(error, () => {
      driver.exec('ROLLBACK');
    });
    throw error;
  }
}

const COLUMN_TYPES = { text: 'TEXT', count: 'INTEGER', milliseconds: 'REAL' } as const;

interface ColumnSpec {
  readonly name: string;
  readonly definition: string;
}

const USAGE_COLUMNS: readonly ColumnSpec[] = USAGE_ROWS.map(({ name, type, default: absent }) => {
  const constraint =
    absent === undefined
      ? ''
      : ` NOT NULL DEFAULT ${typeof absent === 'string' ? `'${absent.replaceAll("'", "''")}'` : absent}`;
  return { name: snakeCase(name), definition: `${COLUMN_TYPES[type]}${constraint}` };
});

const AUDIT_COLUMNS: readonly ColumnSpec[] = [
  { name: 'name', definition: 'TEXT' },
  { name: 'changes', definition: 'TEXT' },
];

/**
 * Adds columns that the file does not have yet. They have defaults, so older gateways can keep writing to the same file, and
 * they need no schema version.
 */
function addColumns(
  driver: Driver,
  table: 'usage_log' | 'audit_log' | 'users',
  columns: readonly ColumnSpec[],
): void {
  const present = driver.prepare(`PRAGMA table_info(${table})`).all([]) as readonly {
    readonly name: string;
  }[];
  const known = new Set(present.map(({ name }) => name));
  for (const { name, definition } of columns) {
    if (!known.has(name)) driver.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${definition}`);
  }
}
