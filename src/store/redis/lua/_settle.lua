-- Settles the reservations of one user in the arguments `first` to `last`, in this order. Returns what was charged for each,
-- or false if the reservation does not exist. One that was given back is charged as if nothing had been reserved.
local function settle_all(user_key, reservations, token_keys, first, last)
  local quota, budget, tokens, changed = nil, false, {}, {}
  local used, served = 0, 0

  local function whole(number)
    return string.format('%.0f', number)
  end

  -- A budget whose window has begun, so that reservations were counted in it.
  local function begun(key, limit)
    local found = budget_of(key, limit)
    return found and found.ends > 0 and found
  end

  local function load_user()
    local fields = redis.call('HMGET', user_key, 'quota', 'budget')
    quota = tonumber(fields[1] or 0)
    budget = begun(user_key, fields[2])
  end

  local function load_token(id)
    local key = token_keys[id]
    local fields = redis.call('HMGET', key, 'remain', 'budget')
    local token = {
      key = key, known = fields[1] ~= false, remain = tonumber(fields[1] or 0), used = 0, freed = 0,
      budget = begun(key, fields[2]),
    }
    tokens[id] = token
    changed[#changed + 1] = token
    return token
  end

  -- Ends a reservation: what it was, and what is still reserved. Whether the token's balance takes part was decided when it
  -- was made.
  local function take(id, reservation, amount_text)
    for _, limited in ipairs({ '1', '0' }) do
      local member = id .. ':' .. limited .. ':' .. amount_text .. ':' .. reservation
      if redis.call('ZREM', reservations, member) == 1 then return limited, tonumber(amount_text), 1 end
    end
    for _, limited in ipairs({ '1', '0' }) do
      if redis.call('ZREM', reservations, lapsed_member(id, limited, reservation)) == 1 then return limited, 0, 0 end
    end
  end

  local function settle(id, reservation, amount_text, cost, delivered)
    local kind, amount, place = take(id, reservation, amount_text)
    if not kind then return false end
    local limited = kind == '1'
    if not quota then load_user() end
    local token = tokens[id] or load_token(id)
    local reach = quota
    if limited and token.known and token.remain < reach then reach = token.remain end
    if budget then reach = math.min(reach, budget.limit - budget.spent) end
    if token.budget then reach = math.min(reach, token.budget.limit - token.budget.spent) end
    local charged = math.min(cost, amount + math.max(0, reach))
    if budget then budget.spent = budget.spent + charged - amount end
    if token.budget then token.budget.spent = token.budget.spent + charged - amount end
    quota = quota + amount - charged
    if limited then token.remain = token.remain + amount - charged end
    token.used = token.used + charged
    token.freed = token.freed + place
    used = used + charged
    served = served + delivered
    return charged
  end

  local replies = {}
  for i = first, last do
    local token, reservation, amount, cost, delivered = string.match(ARGV[i], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
    replies[#replies + 1] = settle(token, reservation, amount, tonumber(cost), tonumber(delivered))
  end
  if quota then
    redis.call('HSET', user_key, 'quota', whole(quota))
    if budget then redis.call('HSET', user_key, 'spent', whole(budget.spent)) end
    if used > 0 then redis.call('HINCRBY', user_key, 'used', whole(used)) end
    if served > 0 then redis.call('HINCRBY', user_key, 'requests', served) end
    for _, token in ipairs(changed) do
      if token.known then
        redis.call('HSET', token.key, 'remain', whole(token.remain))
        if token.budget then redis.call('HSET', token.key, 'spent', whole(token.budget.spent)) end
        if token.used > 0 then redis.call('HINCRBY', token.key, 'used', whole(token.used)) end
        if token.freed > 0 then redis.call('HINCRBY', token.key, 'busy', -token.freed) end
      end
    end
  end
  return replies
end
