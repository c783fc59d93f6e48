// Made by src/console/build.mjs; not in git.

export interface Operations {
  about: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: { version: string; builds: (string)[]; self: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string } | null; registration: boolean; mail: "smtp" | "outbox"; units_per_usd: number; default_model: string | null; usage_entries: number; refused_entries: number; retention_days: number; playground: { examples: boolean } };
  };
  login: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { username: string; password: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  logout: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { everywhere?: boolean };
    reply: null;
  };
  logoutByLink: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: null;
  };
  createAccessToken: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { expires_in?: number };
    reply: string;
  };
  listSessions: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: string; kind: "session" | "access_token"; created_time: number; expires_time: number; used_time: number; address: string | null; agent: string | null; current: boolean })[];
  };
  endSession: {
    params: { id: string };
    query: Record<string, never>;
    body: undefined;
    reply: null;
  };
  listUserSessions: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: string; kind: "session" | "access_token"; created_time: number; expires_time: number; used_time: number; address: string | null; agent: string | null; current: boolean })[];
  };
  endUserSession: {
    params: { id: number; session: string };
    query: { reason?: string };
    body: undefined;
    reply: null;
  };
  register: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { username: string; password: string; email?: string; display_name?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  getSelf: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  updateSelf: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { username?: string; display_name?: string; email?: string; password?: string; original_password?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  deleteSelf: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: null;
  };
  confirmEmail: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { token: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  topUp: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { key: string };
    reply: number;
  };
  requestPasswordReset: {
    params: Record<string, never>;
    query: { email: string };
    body: undefined;
    reply: null;
  };
  resetPassword: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { email: string; token: string; password?: string };
    reply: string | null;
  };
  mailPasswordReset: {
    params: { id: number };
    query: Record<string, never>;
    body: { reason?: string };
    reply: null;
  };
  listUsers: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; role?: 0 | 1 | 5 | 10 | 100; status?: 1 | 2; sort?: "username" | "-username" | "role" | "-role" | "quota" | "-quota" | "used_quota" | "-used_quota" | "request_count" | "-request_count" | "created_time" | "-created_time" | "last_login_time" | "-last_login_time" };
    body: undefined;
    reply: { items: ({ id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string })[]; total: number; page: number; page_size: number };
  };
  createUser: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { username: string; password: string; email?: string; display_name?: string; role?: 0 | 1 | 5 | 10 | 100; status?: 1 | 2; quota?: number; budget?: number; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  updateUser: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { id: number; username?: string; password?: string; email?: string; display_name?: string; role?: 0 | 1 | 5 | 10 | 100; status?: 1 | 2; quota?: number; add_quota?: number; budget?: number; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; if_revision?: string; reason?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  searchUsers: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; role?: 0 | 1 | 5 | 10 | 100; status?: 1 | 2; sort?: "username" | "-username" | "role" | "-role" | "quota" | "-quota" | "used_quota" | "-used_quota" | "request_count" | "-request_count" | "created_time" | "-created_time" | "last_login_time" | "-last_login_time"; keyword?: string };
    body: undefined;
    reply: { items: ({ id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string })[]; total: number; page: number; page_size: number };
  };
  listAdmins: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: (string)[];
  };
  getUser: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  deleteUser: {
    params: { id: number };
    query: { reason?: string };
    body: undefined;
    reply: null;
  };
  inviteUser: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { username: string; email: string; display_name?: string; role?: 0 | 1 | 5 | 10 | 100; quota?: number; budget?: number; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  manageUser: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { id: number; action: "enable" | "disable" | "delete" | "promote" | "demote" | "add_quota"; mode?: "add" | "subtract" | "override"; value?: number; reason?: string };
    reply: { id: number; username: string; email: string; display_name: string; role: 0 | 1 | 5 | 10 | 100; status: 1 | 2; quota: number; used_quota: number; request_count: number; created_time: number; last_login_time: number; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string } | null;
  };
  listTokens: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; user_id?: number; status?: 1 | 2 | 3 | 4; model?: string; tag?: string; expires_before?: number; unused_since?: number; sort?: "name" | "-name" | "remain_quota" | "-remain_quota" | "used_quota" | "-used_quota" | "created_time" | "-created_time" | "accessed_time" | "-accessed_time" | "expired_time" | "-expired_time" };
    body: undefined;
    reply: { items: ({ id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string; owner: string })[]; total: number; page: number; page_size: number };
  };
  createToken: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { name: string; user_id?: number; status?: 1 | 2; expired_time?: number; remain_quota?: number; unlimited_quota?: boolean; model_limits_enabled?: boolean; model_limits?: (string)[] | string; allow_ips?: (string)[] | string; tags?: (string)[] | string; default_model?: string | null; aliases?: Record<string, string> | null; fallbacks?: (string)[] | string; rate_limit?: number; dialect?: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency?: number; reply_cache?: boolean; reply_cache_ttl_ms?: number; may_explain?: boolean; budget?: number; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string };
    reply: { id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string; key: string };
  };
  updateToken: {
    params: Record<string, never>;
    query: { status_only?: string };
    body: { id: number; name?: string; status?: 1 | 2 | 3 | 4; expired_time?: number; remain_quota?: number; add_quota?: number; unlimited_quota?: boolean; model_limits_enabled?: boolean; model_limits?: (string)[] | string; allow_ips?: (string)[] | string; tags?: (string)[] | string; default_model?: string | null; aliases?: Record<string, string> | null; fallbacks?: (string)[] | string; rate_limit?: number; dialect?: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency?: number; reply_cache?: boolean; reply_cache_ttl_ms?: number; may_explain?: boolean; budget?: number; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; if_revision?: string; reason?: string };
    reply: { id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  searchTokens: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; user_id?: number; status?: 1 | 2 | 3 | 4; model?: string; tag?: string; expires_before?: number; unused_since?: number; sort?: "name" | "-name" | "remain_quota" | "-remain_quota" | "used_quota" | "-used_quota" | "created_time" | "-created_time" | "accessed_time" | "-accessed_time" | "expired_time" | "-expired_time"; keyword?: string; token?: string };
    body: undefined;
    reply: { items: ({ id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string; owner: string })[]; total: number; page: number; page_size: number };
  };
  findToken: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { key: string };
    reply: { id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  getToken: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string };
  };
  deleteToken: {
    params: { id: number };
    query: { reason?: string };
    body: undefined;
    reply: null;
  };
  rollToken: {
    params: { id: number };
    query: Record<string, never>;
    body: { keep_old_s?: number; reason?: string };
    reply: { id: number; user_id: number; name: string; key_hint: string; status: 1 | 2 | 3 | 4; created_time: number; accessed_time: number; expired_time: number; remain_quota: number; unlimited_quota: boolean; used_quota: number; old_key_until: number; model_limits_enabled: boolean; model_limits: (string)[]; allow_ips: (string)[]; tags: (string)[]; default_model: string | null; aliases: Record<string, string>; fallbacks: (string)[]; rate_limit: number; dialect: "auto" | "cohere" | "combined" | "infinity" | "jina" | "ollama" | "openrouter" | "pinecone" | "tei" | "vllm" | "voyage"; max_concurrency: number; reply_cache: boolean; reply_cache_ttl_ms: number; may_explain: boolean; budget: number; budget_period: "day" | "week" | "month"; budget_time_zone: string; budget_spent: number; budget_renews_at: number | null; revision: string; key: string };
  };
  deleteTokens: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { ids: (number)[]; reason?: string };
    reply: number;
  };
  getTokenUsage: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: { object: unknown; name: string; status: 1 | 2 | 3 | 4; total_granted: number; total_used: number; total_available: number; budget: number; budget_spent: number; budget_renews_at: number | null; unlimited_quota: boolean; model_limits_enabled: boolean; model_limits: (string)[]; expires_at: number };
  };
  listRedemptionCodes: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; name?: string; batch_id?: string; status?: 1 | 2 | 3 };
    body: undefined;
    reply: { items: ({ id: number; user_id: number; name: string; batch_id: string; key_hint: string; quota: number; status: 1 | 2 | 3; created_time: number; redeemed_time: number; used_user_id: number; used_by: string | null; expired_time: number; revision: string })[]; total: number; page: number; page_size: number };
  };
  createRedemptionCodes: {
    params: Record<string, never>;
    query: { format?: "json" | "csv" | "text" };
    body: { name: string; quota: number; count?: number; expired_time?: number; reason?: string };
    reply: (string)[];
  };
  updateRedemptionCode: {
    params: Record<string, never>;
    query: { status_only?: string };
    body: { id: number; name?: string; quota?: number; expired_time?: number; status?: 1 | 2 | 3; if_revision?: string; reason?: string };
    reply: { id: number; user_id: number; name: string; batch_id: string; key_hint: string; quota: number; status: 1 | 2 | 3; created_time: number; redeemed_time: number; used_user_id: number; used_by: string | null; expired_time: number; revision: string };
  };
  searchRedemptionCodes: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; name?: string; batch_id?: string; status?: 1 | 2 | 3; keyword?: string };
    body: undefined;
    reply: { items: ({ id: number; user_id: number; name: string; batch_id: string; key_hint: string; quota: number; status: 1 | 2 | 3; created_time: number; redeemed_time: number; used_user_id: number; used_by: string | null; expired_time: number; revision: string })[]; total: number; page: number; page_size: number };
  };
  listRedemptionBatches: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ batch_id: string; name: string; made: number; used: number; used_quota: number; left: number; left_quota: number; created_time: number })[];
  };
  disableRedemptionBatch: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { name?: string; batch_id?: string; reason?: string };
    reply: number;
  };
  getRedemptionCode: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; user_id: number; name: string; batch_id: string; key_hint: string; quota: number; status: 1 | 2 | 3; created_time: number; redeemed_time: number; used_user_id: number; used_by: string | null; expired_time: number; revision: string };
  };
  deleteRedemptionCode: {
    params: { id: number };
    query: { reason?: string };
    body: undefined;
    reply: null;
  };
  deleteInvalidRedemptionCodes: {
    params: Record<string, never>;
    query: { reason?: string };
    body: undefined;
    reply: number;
  };
  listChannels: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; tag?: string; provider?: string; model?: string; live?: boolean; because?: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable"; origin?: "config" | "store"; sort?: "id" | "-id" | "name" | "-name" | "provider" | "-provider" | "tag" | "-tag" | "status" | "-status" | "priority" | "-priority" | "weight" | "-weight" | "tried" | "-tried" };
    body: undefined;
    reply: { items: ({ id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string })[]; total: number; page: number; page_size: number };
  };
  createChannel: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { name: string; provider: string; base_url?: string | null; api_key?: string; api_keys?: (string)[]; credentials?: Record<string, string>; settings?: Record<string, string | number | boolean>; tag?: string | null; status?: 1 | 2; models: Record<string, string> | (string)[] | string; priority?: number; weight?: number; timeout_ms?: number | null; cost?: number | null; max_concurrency?: number; requests_per_minute?: number; tokens_per_minute?: number; adaptive_concurrency?: boolean; key_max_concurrency?: number; key_requests_per_minute?: number; key_tokens_per_minute?: number; scores?: "raw" | "normalized"; pair_tokens?: number | null; long_documents?: "truncate" | "chunk"; window_size?: number | null; window_stride?: number | null; retry_unsafe?: boolean; health_check_s?: number | null; budget?: number; budget_scope?: "channel" | "tag"; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string };
    reply: { id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  updateChannel: {
    params: Record<string, never>;
    query: { status_only?: string };
    body: { name?: string; provider?: string; base_url?: string | null; api_key?: string; api_keys?: (string)[]; credentials?: Record<string, string | null>; settings?: Record<string, string | number | boolean | unknown>; tag?: string | null; status?: 1 | 2 | 3; models?: Record<string, string> | (string)[] | string; priority?: number; weight?: number; timeout_ms?: number | null; cost?: number | null; max_concurrency?: number; requests_per_minute?: number; tokens_per_minute?: number; adaptive_concurrency?: boolean; key_max_concurrency?: number; key_requests_per_minute?: number; key_tokens_per_minute?: number; scores?: "raw" | "normalized"; pair_tokens?: number | null; long_documents?: "truncate" | "chunk"; window_size?: number | null; window_stride?: number | null; retry_unsafe?: boolean; health_check_s?: number | null; budget?: number; budget_scope?: "channel" | "tag"; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; id: number; if_revision?: string; reason?: string };
    reply: { id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  searchChannels: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; tag?: string; provider?: string; model?: string; live?: boolean; because?: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable"; origin?: "config" | "store"; sort?: "id" | "-id" | "name" | "-name" | "provider" | "-provider" | "tag" | "-tag" | "status" | "-status" | "priority" | "-priority" | "weight" | "-weight" | "tried" | "-tried"; keyword?: string };
    body: undefined;
    reply: { items: ({ id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string })[]; total: number; page: number; page_size: number };
  };
  getChannel: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string };
  };
  deleteChannel: {
    params: { id: number };
    query: { reason?: string };
    body: undefined;
    reply: { id: number; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  copyChannel: {
    params: { id: number };
    query: Record<string, never>;
    body: { name?: string; status?: 1 | 2; credentials?: Record<string, string>; api_key?: string; api_keys?: (string)[]; reason?: string };
    reply: { id: number; name: string; provider: string; base_url: string | null; credential_names: (string)[]; key_count: number | null; settings: Record<string, string | number | boolean>; models: Record<string, string>; tag: string | null; priority: number; weight: number; timeout_ms: number | null; cost: number | null; max_concurrency: number; requests_per_minute: number; tokens_per_minute: number; adaptive_concurrency: boolean; key_max_concurrency: number; key_requests_per_minute: number; key_tokens_per_minute: number; scores: "raw" | "normalized"; pair_tokens: number | null; long_documents: "truncate" | "chunk"; window_size: number | null; window_stride: number | null; retry_unsafe: boolean; health_check_s: number | null; budget: number; budget_scope: "channel" | "tag"; budget_period: "day" | "week" | "month"; budget_time_zone: string; status: 1 | 2 | 3; effective: { live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null; reason: string | null; since: number | null; next_try: number | null; paused: ({ node: string; key: string | null; state: "open" | "half_open" | "cooling"; reason: string; since: number; until: number })[] }; origin: "config" | "store"; revision: string; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  deleteChannels: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { ids: (number)[]; reason?: string };
    reply: { ids: (number)[]; count: number; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  retagChannels: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { ids: (number)[]; tag: string | null; reason?: string };
    reply: { ids: (number)[]; count: number; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  switchChannels: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { ids: (number)[]; status: 1 | 2; reason?: string };
    reply: { ids: (number)[]; count: number; auto_disabled: (number)[]; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  listUpstreamModels: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: (string)[];
  };
  testChannel: {
    params: { id: number };
    query: Record<string, never>;
    body: { model?: string; reason?: string };
    reply: { ok: boolean; model: string; upstream_model: string; url: string | null; status: number | null; latency_ms: number; order: "right" | "wrong" | "undecided" | null; scores: { right: number; other: number } | null; score_scale: { expected: string; observed: string; fits: boolean } | null; usage: { input_tokens: number | null; search_units: number | null }; problem: { code: string; message: string } | null; warnings: (string)[] };
  };
  testDraft: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { name: string; provider: string; base_url?: string | null; api_key?: string; api_keys?: (string)[]; credentials?: Record<string, string>; settings?: Record<string, string | number | boolean>; tag?: string | null; status?: 1 | 2; models: Record<string, string> | (string)[] | string; priority?: number; weight?: number; timeout_ms?: number | null; cost?: number | null; max_concurrency?: number; requests_per_minute?: number; tokens_per_minute?: number; adaptive_concurrency?: boolean; key_max_concurrency?: number; key_requests_per_minute?: number; key_tokens_per_minute?: number; scores?: "raw" | "normalized"; pair_tokens?: number | null; long_documents?: "truncate" | "chunk"; window_size?: number | null; window_stride?: number | null; retry_unsafe?: boolean; health_check_s?: number | null; budget?: number; budget_scope?: "channel" | "tag"; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string; model?: string };
    reply: { ok: boolean; model: string; upstream_model: string; url: string | null; status: number | null; latency_ms: number; order: "right" | "wrong" | "undecided" | null; scores: { right: number; other: number } | null; score_scale: { expected: string; observed: string; fits: boolean } | null; usage: { input_tokens: number | null; search_units: number | null }; problem: { code: string; message: string } | null; warnings: (string)[] };
  };
  listChannelModels: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: string; live: boolean; channels: ({ id: number; name: string; provider: string; tag: string | null; upstream_model: string; priority: number; weight: number; live: boolean; because: "disabled" | "auto_disabled" | "tag_disabled" | "credentials_locked" | "unusable" | null })[]; fallbacks: (string)[] })[];
  };
  listProviders: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: string; title: string; inside: boolean; base_url: string | null; credentials: ({ name: string; required: boolean; description: string })[]; settings: ({ name: string; required: boolean; description: string; type: string; default: string | number | boolean | unknown })[]; example_models: (string)[]; notes: (string)[] })[];
  };
  listTags: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ tag: string; disabled: boolean; reason: string | null; changed_time: number; changed_by: string | null; channels: ({ id: number; name: string; live: boolean })[]; channel_count: number; live_count: number })[];
  };
  editTag: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { tag: string; new_tag?: string | null; models?: Record<string, string> | (string)[] | string; priority?: number; weight?: number; timeout_ms?: number | null; cost?: number | null; max_concurrency?: number; requests_per_minute?: number; tokens_per_minute?: number; adaptive_concurrency?: boolean; key_max_concurrency?: number; key_requests_per_minute?: number; key_tokens_per_minute?: number; scores?: "raw" | "normalized"; pair_tokens?: number | null; long_documents?: "truncate" | "chunk"; window_size?: number | null; window_stride?: number | null; retry_unsafe?: boolean; health_check_s?: number | null; budget?: number; budget_scope?: "channel" | "tag"; budget_period?: "day" | "week" | "month"; budget_time_zone?: string; reason?: string };
    reply: { ids: (number)[]; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  disableTag: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { tag: string; reason?: string };
    reply: { tag: string; disabled: boolean; reason: string | null; channels: ({ id: number; name: string; live: boolean; was_live: boolean })[]; channel_count: number; was_live_count: number; live_count: number; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  enableTag: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { tag: string; reason?: string };
    reply: { tag: string; disabled: boolean; reason: string | null; channels: ({ id: number; name: string; live: boolean; was_live: boolean })[]; channel_count: number; was_live_count: number; live_count: number; version: number; in_force: "confirmed" | "bound_passed" | "no_gateway"; nodes: { confirmed: number; total: number; late: (string)[] }; waited_ms: number };
  };
  listOwnModels: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: string; live: boolean; price: { per: "request" | "search_unit" | "million_tokens"; units: number }; aliases: (string)[]; limits: { documents: number | null; documents_with_images: number | null; query_characters: number | null; document_characters: number | null; request_characters: number | null; request_bytes: number | null; request_tokens: number | null; images: boolean } })[];
  };
  listPrices: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: { units_per_usd: number; default: { per: "request" | "search_unit" | "million_tokens"; units: number }; models: Record<string, { per: "request" | "search_unit" | "million_tokens"; units: number }> };
  };
  listPriceChanges: {
    params: Record<string, never>;
    query: { start_timestamp?: number; end_timestamp?: number };
    body: undefined;
    reply: ({ changed_at: number; prices: ({ model: string | null; before: { per: "request" | "search_unit" | "million_tokens"; units: number }; after: { per: "request" | "search_unit" | "million_tokens"; units: number } })[] })[];
  };
  listNodes: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: { version: number; store_ms: number; nodes: ({ id: string; name: string; standing: "current" | "behind" | "silent"; version: number | null; release: string | null; build: string | null; pid: number | null; started_time: number | null; reported_time: number | null; in_flight: number | null; max_in_flight: number | null; pending_settlements: number | null; faults: number | null; channels: ({ id: number | null; state: "open" | "half_open" | "cooling" | "unusable"; name: string; until: number | null; why: string })[]; busy: ({ id: number; name: string; in_flight: number })[] })[] };
  };
  explainRoute: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { model?: string; tag?: string; token_id?: number; query?: string; documents?: (string)[]; document_count?: number; top_n?: number };
    reply: { object: unknown; dialect: string | null; asked: string; tag: string | null; documents: number; refusal: { code: string; status: number; message: string } | null; model: string; select: string | null; candidates: ({ id: number; name: string; provider: string; tag: string | null; priority: number; weight: number; chance: number; upstream_model: string })[]; passed_over: ({ id: number; name: string; provider: string; tag: string | null; because: "disabled" | "auto_disabled" | "tag_disabled" | "unusable" | "request_tag" | "key_tags" | "cooling" | "full" | "at_limit" | "over_budget" | "too_many_documents" | "too_long" | "no_images" | "other_models"; message: string; by: string | null; since: number | null; until: number | null })[]; more_passed_over?: number; fallbacks: ({ model: string; select: string | null; candidates: ({ id: number; name: string; provider: string; tag: string | null; priority: number; weight: number; chance: number; upstream_model: string })[]; passed_over: ({ id: number; name: string; provider: string; tag: string | null; because: "disabled" | "auto_disabled" | "tag_disabled" | "unusable" | "request_tag" | "key_tags" | "cooling" | "full" | "at_limit" | "over_budget" | "too_many_documents" | "too_long" | "no_images" | "other_models"; message: string; by: string | null; since: number | null; until: number | null })[]; more_passed_over?: number })[]; outgoing: { url: string; method: string; headers: Record<string, unknown>; body: string; body_bytes: number } | null; cost: { per: "request" | "search_unit" | "million_tokens"; price: number; estimated: number; reserved: number } };
  };
  probeAddress: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { base_url: string; credentials?: Record<string, string>; settings?: Record<string, string | number | boolean>; model?: string };
    reply: { candidates: ({ provider: string; certainty: "certain" | "likely" | "possible"; because: string; model?: string | null })[]; channel?: { name: string; provider: string; base_url: string; models: (string)[]; credentials: Record<string, unknown>; settings: Record<string, unknown> } | null; models: (string)[]; max_documents: number | null; score_scale: string | null; order: "right" | "wrong" | "undecided" | null; requests: number; problem: { code: string; message: string } | null };
  };
  listUsage: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; before?: number; count?: boolean; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; user_id?: number; channel_id?: number; provider?: string; tag?: string; request_id?: string };
    body: undefined;
    reply: { items: ({ id: number; created_at: number; request_id: string; user_id: number; token_id: number; token_name: string; model: string; channel_id: number | null; provider: string | null; tag: string | null; attempts: number; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; outcome: string; channel: string | null })[]; total: number; page: number; page_size: number };
  };
  listOwnUsage: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; before?: number; count?: boolean; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; request_id?: string };
    body: undefined;
    reply: { items: ({ id: number; created_at: number; request_id: string; token_id: number; token_name: string; model: string; attempts: number; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; outcome: string })[]; total: number; page: number; page_size: number };
  };
  listRequests: {
    params: Record<string, never>;
    query: { p?: unknown; page_size?: number; format?: "json" | "csv"; before?: string; count?: boolean; kind?: "admitted" | "refused"; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; request_id?: string; user_id?: number; channel_id?: number; provider?: string; tag?: string; address?: string };
    body: undefined;
    reply: { items: ({ id: string; request_id: string; created_at: number; kind: "admitted" | "refused"; outcome: string; status: number; message: string | null; model: string | null; token_id: number | null; token_name: string | null; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; upstream_ms: number | null; attempts: number; repeated: number; user_id: number | null; channel_id: number | null; channel: string | null; provider: string | null; tag: string | null; address: string | null; node: string | null; source: "api" | "console" })[]; total: number; page: number; page_size: number };
  };
  listOwnRequests: {
    params: Record<string, never>;
    query: { p?: unknown; page_size?: number; format?: "json" | "csv"; before?: string; count?: boolean; kind?: "admitted" | "refused"; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; request_id?: string };
    body: undefined;
    reply: { items: ({ id: string; request_id: string; created_at: number; kind: "admitted" | "refused"; outcome: string; status: number; message: string | null; model: string | null; token_id: number | null; token_name: string | null; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; upstream_ms: number | null; attempts: number; repeated: number })[]; total: number; page: number; page_size: number };
  };
  listRefusals: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; before?: number; count?: boolean; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; request_id?: string; user_id?: number; address?: string };
    body: undefined;
    reply: { items: ({ id: number; created_at: number; request_id: string; outcome: string; status: number; message: string; model: string | null; token_id: number | null; token_name: string | null; documents: number; duration_ms: number; repeated: number; user_id: number | null; address: string | null; node: string })[]; total: number; page: number; page_size: number };
  };
  listOwnRefusals: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; before?: number; count?: boolean; token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; request_id?: string };
    body: undefined;
    reply: { items: ({ id: number; created_at: number; request_id: string; outcome: string; status: number; message: string; model: string | null; token_id: number | null; token_name: string | null; documents: number; duration_ms: number; repeated: number })[]; total: number; page: number; page_size: number };
  };
  sumUsage: {
    params: Record<string, never>;
    query: { token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number; user_id?: number; channel_id?: number; provider?: string; tag?: string };
    body: undefined;
    reply: { requests: number; documents: number; input_tokens: number; quota: number };
  };
  sumOwnUsage: {
    params: Record<string, never>;
    query: { token_id?: number; token_name?: string; model?: string; outcome?: string; min_duration_ms?: number; start_timestamp?: number; end_timestamp?: number };
    body: undefined;
    reply: { requests: number; documents: number; input_tokens: number; quota: number };
  };
  listAudit: {
    params: Record<string, never>;
    query: { p?: number; page_size?: number; format?: "json" | "csv"; before?: number; count?: boolean; actor_id?: number; actor?: string; action?: string; target?: string; start_timestamp?: number; end_timestamp?: number };
    body: undefined;
    reply: { items: ({ id: number; created_at: number; actor_id: number | null; actor: string; action: string; target: string; detail: Record<string, unknown>; address: string | null; name: string | null; changes: ({ member: string; before: (unknown)[] | boolean | number | Record<string, unknown> | string | null; after: (unknown)[] | boolean | number | Record<string, unknown> | string | null; omitted: boolean })[] })[]; total: number; page: number; page_size: number };
  };
  getOverview: {
    params: Record<string, never>;
    query: { start_timestamp: number; end_timestamp: number; day_timestamp?: number };
    body: undefined;
    reply: { traffic: { start_timestamp: number; step_s: number; steps: number; complete_from: number | null; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; series: ({ key: string; name: string; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; requests: (number)[]; failed: (number)[]; documents: (number)[]; tokens: (number)[]; quota: (number)[]; p50: (number | null)[]; p95: (number | null)[]; p99: (number | null)[] })[] }; channels: ({ key: string; name: string; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; recent_requests: number; recent_failed: number })[]; nodes: { version: number; store_ms: number; nodes: ({ id: string; name: string; standing: "current" | "behind" | "silent"; version: number | null; release: string | null; build: string | null; pid: number | null; started_time: number | null; reported_time: number | null; in_flight: number | null; max_in_flight: number | null; pending_settlements: number | null; faults: number | null; channels: ({ id: number | null; state: "open" | "half_open" | "cooling" | "unusable"; name: string; until: number | null; why: string })[]; busy: ({ id: number; name: string; in_flight: number })[] })[] }; dark_models: (string)[]; last_hour: { requests: number; p95: number | null }; day_before: { requests: number; p95: number | null }; ending: { names: (string)[]; total: number }; running_out: ({ of: "key" | "account"; id: number; name: string; hours: number })[]; today: { start_timestamp: number; end_timestamp: number; complete_from: number | null; rows: ({ user_id: number | null; username: string | null; token_id: number | null; token_name: string | null; model: string | null; channel_id: number | null; channel: string | null; tag: string | null; provider: string | null; hour: number | null; day: number | null; is_rest: boolean; requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number })[]; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number } }; price_changes: ({ changed_at: number; prices: ({ model: string | null; before: { per: "request" | "search_unit" | "million_tokens"; units: number }; after: { per: "request" | "search_unit" | "million_tokens"; units: number } })[] })[] };
  };
  usageSeries: {
    params: Record<string, never>;
    query: { start_timestamp: number; end_timestamp: number; group?: "none" | "outcome" | "channel" | "model" | "tag" | "provider" | "token" | "user"; keys?: string; user_id?: number };
    body: undefined;
    reply: { start_timestamp: number; step_s: number; steps: number; complete_from: number | null; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; series: ({ key: string; name: string; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; requests: (number)[]; failed: (number)[]; documents: (number)[]; tokens: (number)[]; quota: (number)[]; p50: (number | null)[]; p95: (number | null)[]; p99: (number | null)[] })[] };
  };
  ownUsageSeries: {
    params: Record<string, never>;
    query: { start_timestamp: number; end_timestamp: number; group?: "none" | "outcome" | "model" | "token"; keys?: string };
    body: undefined;
    reply: { start_timestamp: number; step_s: number; steps: number; complete_from: number | null; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; series: ({ key: string; name: string; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number; p50: number | null; p95: number | null; p99: number | null }; requests: (number)[]; failed: (number)[]; documents: (number)[]; tokens: (number)[]; quota: (number)[]; p50: (number | null)[]; p95: (number | null)[]; p99: (number | null)[] })[] };
  };
  usageBreakdown: {
    params: Record<string, never>;
    query: { start_timestamp: number; end_timestamp: number; by?: "user" | "token" | "model" | "channel" | "tag" | "provider" | "hour" | "day"; then?: "user" | "token" | "model" | "channel" | "tag" | "provider" | "hour" | "day"; user_id?: number; time_zone?: string; format?: "json" | "csv" };
    body: undefined;
    reply: { start_timestamp: number; end_timestamp: number; complete_from: number | null; rows: ({ user_id: number | null; username: string | null; token_id: number | null; token_name: string | null; model: string | null; channel_id: number | null; channel: string | null; tag: string | null; provider: string | null; hour: number | null; day: number | null; is_rest: boolean; requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number })[]; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number } };
  };
  ownUsageBreakdown: {
    params: Record<string, never>;
    query: { start_timestamp: number; end_timestamp: number; by?: "token" | "model" | "hour" | "day"; then?: "token" | "model" | "hour" | "day"; time_zone?: string; format?: "json" | "csv" };
    body: undefined;
    reply: { start_timestamp: number; end_timestamp: number; complete_from: number | null; rows: ({ user_id: number | null; username: string | null; token_id: number | null; token_name: string | null; model: string | null; channel_id: number | null; channel: string | null; tag: string | null; provider: string | null; hour: number | null; day: number | null; is_rest: boolean; requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number })[]; total: { requests: number; failed: number; documents: number; tokens: number; search_units: number; quota: number } };
  };
  getRequest: {
    params: { request_id: string };
    query: Record<string, never>;
    body: undefined;
    reply: { request_id: string; created_at: number; kind: "admitted" | "refused"; outcome: string; status: number; message: string | null; model: string | null; token_id: number | null; token_name: string | null; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; upstream_ms: number | null; attempts: number; repeated: number; user_id: number | null; channel_id: number | null; channel: string | null; provider: string | null; tag: string | null; address: string | null; node: string | null; source: "api" | "console"; username: string | null; tried: ({ channel_id: number; channel: string | null; provider: string; tag: string | null; outcome: string; status: number | null; message: string; duration_ms: number })[] };
  };
  getOwnRequest: {
    params: { request_id: string };
    query: Record<string, never>;
    body: undefined;
    reply: { request_id: string; created_at: number; kind: "admitted" | "refused"; outcome: string; status: number; message: string | null; model: string | null; token_id: number | null; token_name: string | null; documents: number; input_tokens: number; search_units: number; quota: number; duration_ms: number; upstream_ms: number | null; attempts: number; repeated: number };
  };
  rankForComparison: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { query: string; documents: (string | Record<string, (unknown)[] | boolean | number | Record<string, unknown> | string | null>)[]; model: string; channel_id?: number; ignore_switches?: boolean; top_n?: number; max_tokens_per_doc?: number; instruction?: string; rank_fields?: (string)[]; truncation?: boolean; priority?: number; fresh?: boolean; reason?: string };
    reply: { request_id: string; model: string; channel: { id: number; name: string; provider: string; tag: string | null } | null; upstream_model: string | null; score_scale: "probability" | "logit" | "cosine" | "unbounded" | "order" | null; results: ({ index: number; relevance_score: number })[]; usage: { input_tokens: number; search_units: number; estimated: boolean }; quota: number; timing: { total_ms: number; upstream_ms: number; admission_ms: number }; attempts: ({ channel: string | null; outcome: string; status: number | null; duration_ms: number; message: string })[]; warnings: (string)[] };
  };
  listExamples: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    reply: ({ id: number; name: string; shared: boolean; own: boolean; created_time: number })[];
  };
  saveExample: {
    params: Record<string, never>;
    query: Record<string, never>;
    body: { name: string; shared?: boolean; content: Record<string, unknown> };
    reply: { id: number; name: string; shared: boolean; own: boolean; created_time: number };
  };
  getExample: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: { id: number; name: string; shared: boolean; own: boolean; created_time: number; content: Record<string, unknown> };
  };
  deleteExample: {
    params: { id: number };
    query: Record<string, never>;
    body: undefined;
    reply: null;
  };
}

export const ROUTES: Readonly<Record<keyof Operations, string>> = {
  about: 'GET api/about',
  login: 'POST api/user/login',
  logout: 'POST api/user/logout',
  logoutByLink: 'GET api/user/logout',
  createAccessToken: 'POST api/user/token',
  listSessions: 'GET api/user/session',
  endSession: 'DELETE api/user/session/{id}',
  listUserSessions: 'GET api/user/{id}/session',
  endUserSession: 'DELETE api/user/{id}/session/{session}',
  register: 'POST api/user/register',
  getSelf: 'GET api/user/self',
  updateSelf: 'PUT api/user/self',
  deleteSelf: 'DELETE api/user/self',
  confirmEmail: 'POST api/user/email/confirm',
  topUp: 'POST api/user/topup',
  requestPasswordReset: 'GET api/reset_password',
  resetPassword: 'POST api/user/reset',
  mailPasswordReset: 'POST api/user/{id}/reset-mail',
  listUsers: 'GET api/user',
  createUser: 'POST api/user',
  updateUser: 'PUT api/user',
  searchUsers: 'GET api/user/search',
  listAdmins: 'GET api/user/admins',
  getUser: 'GET api/user/{id}',
  deleteUser: 'DELETE api/user/{id}',
  inviteUser: 'POST api/user/invite',
  manageUser: 'POST api/user/manage',
  listTokens: 'GET api/token',
  createToken: 'POST api/token',
  updateToken: 'PUT api/token',
  searchTokens: 'GET api/token/search',
  findToken: 'POST api/token/find',
  getToken: 'GET api/token/{id}',
  deleteToken: 'DELETE api/token/{id}',
  rollToken: 'POST api/token/{id}/roll',
  deleteTokens: 'POST api/token/batch',
  getTokenUsage: 'GET api/usage/token',
  listRedemptionCodes: 'GET api/redemption',
  createRedemptionCodes: 'POST api/redemption',
  updateRedemptionCode: 'PUT api/redemption',
  searchRedemptionCodes: 'GET api/redemption/search',
  listRedemptionBatches: 'GET api/redemption/batch',
  disableRedemptionBatch: 'POST api/redemption/batch/disabled',
  getRedemptionCode: 'GET api/redemption/{id}',
  deleteRedemptionCode: 'DELETE api/redemption/{id}',
  deleteInvalidRedemptionCodes: 'DELETE api/redemption/invalid',
  listChannels: 'GET api/channel',
  createChannel: 'POST api/channel',
  updateChannel: 'PUT api/channel',
  searchChannels: 'GET api/channel/search',
  getChannel: 'GET api/channel/{id}',
  deleteChannel: 'DELETE api/channel/{id}',
  copyChannel: 'POST api/channel/copy/{id}',
  deleteChannels: 'POST api/channel/batch',
  retagChannels: 'POST api/channel/batch/tag',
  switchChannels: 'POST api/channel/batch/status',
  listUpstreamModels: 'GET api/channel/{id}/upstream-models',
  testChannel: 'POST api/channel/test/{id}',
  testDraft: 'POST api/channel/test',
  listChannelModels: 'GET api/channel/models',
  listProviders: 'GET api/channel/providers',
  listTags: 'GET api/channel/tag',
  editTag: 'PUT api/channel/tag',
  disableTag: 'POST api/channel/tag/disabled',
  enableTag: 'POST api/channel/tag/enabled',
  listOwnModels: 'GET api/model',
  listPrices: 'GET api/price',
  listPriceChanges: 'GET api/price/change',
  listNodes: 'GET api/node',
  explainRoute: 'POST api/route/explain',
  probeAddress: 'POST api/channel/probe',
  listUsage: 'GET api/log',
  listOwnUsage: 'GET api/log/self',
  listRequests: 'GET api/log/request',
  listOwnRequests: 'GET api/log/self/request',
  listRefusals: 'GET api/log/refused',
  listOwnRefusals: 'GET api/log/self/refused',
  sumUsage: 'GET api/log/stat',
  sumOwnUsage: 'GET api/log/self/stat',
  listAudit: 'GET api/audit',
  getOverview: 'GET api/overview',
  usageSeries: 'GET api/stats/series',
  ownUsageSeries: 'GET api/stats/self/series',
  usageBreakdown: 'GET api/stats/breakdown',
  ownUsageBreakdown: 'GET api/stats/self/breakdown',
  getRequest: 'GET api/log/request/{request_id}',
  getOwnRequest: 'GET api/log/self/request/{request_id}',
  rankForComparison: 'POST api/playground/rank',
  listExamples: 'GET api/playground/example',
  saveExample: 'POST api/playground/example',
  getExample: 'GET api/playground/example/{id}',
  deleteExample: 'DELETE api/playground/example/{id}',
};
