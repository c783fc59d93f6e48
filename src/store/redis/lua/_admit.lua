local RATE_WINDOW_MS = 60000
-- How often places may be recounted at most, and up to how many reservations.
local RECOUNT_MS = 1000
local RECOUNT_MOST = 10000

-- Admits the requests of one user in the arguments `first` to `last`, each as if it came alone: checks, then reserves.
-- Returns a list of the outcomes.
local function admit_all(user_key, reservations, token_keys, first, last)
  local user, tokens, changed

  local function forget()
    user, tokens, changed = nil, {}, {}
  end

  local function write_spent(key, budget)
    if budget then redis.call('HSET', key, 'spent', string.format('%.0f', budget.spent)) end
  end

  -- Balances are kept in locals during the batch and written once.
  local function flush()
    if #changed > 0 then
      redis.call('HSET', user_key, 'quota', string.format('%.0f', user.quota))
      write_spent(user_key, user.budget)
    end
    for _, token in ipairs(changed) do
      redis.call('HSET', token.key, 'remain', string.format('%.0f', token.remain), 'busy', token.busy,
        'accessed', token.accessed, 'window', token.rate.window, 'current', token.rate.current,
        'previous', token.rate.previous)
      write_spent(token.key, token.budget)
      token.changed = false
    end
    changed = {}
  end

  local function load_user()
    local fields = redis.call('HMGET', user_key, 'enabled', 'quota', 'budget')
    user = {
      known = fields[1] ~= false, enabled = fields[1] == '1', quota = tonumber(fields[2] or 0),
      budget = budget_of(user_key, fields[3]),
    }
  end

  local function load_token(id)
    local key = token_keys[id]
    local fields = redis.call('HMGET', key, 'version', 'enabled', 'expires', 'remain', 'unlimited', 'rate', 'places',
      'busy', 'window', 'current', 'previous', 'recounted', 'budget')
    local token = { known = false }
    if fields[1] then
      token = {
        known = true, changed = false, key = key, version = fields[1], enabled = fields[2] == '1',
        expires = tonumber(fields[3]), remain = tonumber(fields[4]), unlimited = fields[5] == '1',
        rate_limit = tonumber(fields[6]), places = tonumber(fields[7]), busy = tonumber(fields[8]),
        rate = { window = tonumber(fields[9]), current = tonumber(fields[10]), previous = tonumber(fields[11]) },
        recounted = tonumber(fields[12] or 0), budget = budget_of(key, fields[13]),
      }
    end
    tokens[id] = token
    return token
  end

  -- Why the budgets do not allow an amount; nil if they do.
  local function judge_budgets(token, amount, now)
    if user.budget and now >= user.budget.ends or token.budget and now >= token.budget.ends then
      local function terms(key, budget)
        if not budget then return '', '' end
        return terms_of(key)
      end
      local user_period, user_zone = terms(user_key, user.budget)
      local period, zone = terms(token.key, token.budget)
      return { 'window', string.format('%.0f', now), user_period, user_zone, period, zone }
    end
    if token.budget and not fits_budget(token.budget, amount) then
      return { 'token_budget', token.budget.limit, token.budget.spent, string.format('%.0f', token.budget.ends),
        terms_of(token.key) }
    end
    if user.budget and not fits_budget(user.budget, amount) then
      return { 'user_budget', user.budget.limit, user.budget.spent, string.format('%.0f', user.budget.ends),
        terms_of(user_key) }
    end
  end

  -- Whether the token has a place left. The count stored with the token should match the reservations; if it is wrong (a
  -- server moved keys in the middle of an older release's script), it is corrected before it causes a refusal.
  local function has_place(id, token, now)
    if token.busy >= 0 and token.busy < token.places then return true end
    if now >= token.recounted and now - token.recounted < RECOUNT_MS then return false end
    if redis.call('ZCARD', reservations) > RECOUNT_MOST then return false end
    local busy, prefix = 0, id .. ':'
    for _, member in ipairs(redis.call('ZRANGE', reservations, 0, -1)) do
      if string.sub(member, 1, #prefix) == prefix and not string.find(member, ':0:lapsed/', 1, true) then busy = busy + 1 end
    end
    token.recounted = now
    redis.call('HSET', token.key, 'recounted', string.format('%.0f', now), 'busy', busy)
    token.busy = busy
    return busy < token.places
  end

  local function admit(id, version, reservation, amount_text, now, expires_text)
    if not user then load_user() end
    local token = tokens[id] or load_token(id)
    if not user.known or not token.known then return 'unknown' end
    if token.version ~= version then
      if token.changed then flush() end
      return { 'stale', user.enabled and 1 or 0, redis.call('HGETALL', token.key) }
    end
    if not user.enabled then return 'user_disabled' end
    if not token.enabled then return 'disabled' end
    if token.expires ~= -1 and token.expires * 1000 <= now then return 'expired' end
    local amount = tonumber(amount_text)
    if not token.unlimited and (token.remain <= 0 or token.remain < amount) then return 'token_quota' end
    if user.quota < amount then return 'user_quota' end
    if user.budget or token.budget then
      local refusal = judge_budgets(token, amount, now)
      if refusal then return refusal end
    end
    local answer = 1
    local rate
    if token.rate_limit > 0 then
      rate = { window = token.rate.window, current = token.rate.current, previous = token.rate.previous }
      local allowed, remaining, reset, retry_after = take_rate(rate, token.rate_limit, now, RATE_WINDOW_MS)
      if not allowed then return { 'rate', token.rate_limit, remaining, reset, retry_after } end
      answer = { 1, token.rate_limit, remaining, reset }
    end
    if token.places > 0 and not has_place(id, token, now) then return 'concurrency' end

    local member = id .. ':' .. (token.unlimited and '0' or '1') .. ':' .. amount_text .. ':' .. reservation
    -- Also adds a member that never expires: a set without members does not exist as a key, and a Cluster that is moving the
    -- slot keeps scripts waiting for a missing key.
    redis.call('ZADD', reservations, expires_text, member, '+inf', '-')
    user.quota = user.quota - amount
    if not token.unlimited then token.remain = token.remain - amount end
    if user.budget then user.budget.spent = user.budget.spent + amount end
    if token.budget then token.budget.spent = token.budget.spent + amount end
    token.busy = token.busy + 1
    token.accessed = string.format('%.0f', math.floor(now / 1000))
    if rate then token.rate = rate end
    if not token.changed then
      token.changed = true
      changed[#changed + 1] = token
    end
    return answer
  end

  forget()
  local replies = {}
  -- The time up to which expired reservations have certainly been given back.
  local reclaimed = -1
  for i = first, last do
    local token, version, reservation, amount, told, life =
      string.match(ARGV[i], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    local now = clock(told)
    if now > reclaimed then
      -- Giving back works on the records, so these must be up to date before it and be read again after it.
      flush()
      local given, missing = give_back(user_key, reservations, token_keys, now)
      if given then forget() end
      if missing then
        -- The caller has not named the keys of these tokens: it must ask again for everything from here on.
        for rest = i, last do
          replies[#replies + 1] = more_keys(missing)
        end
        return replies
      end
      reclaimed = now
    end
    local expires = string.format('%.0f', now + tonumber(life))
    replies[#replies + 1] = admit(token, version, reservation, amount, now, expires)
  end
  flush()
  return replies
end
