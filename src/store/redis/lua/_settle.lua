-- Settles the reservations of one user that the arguments `first` to `last` name, in this order. Returns what was charged
-- for each, or false when the reservation is not there.
local function settle_all(user_key, reservations, token_keys, first, last)
  local quota, tokens, changed = nil, {}, {}
  local used, served = 0, 0

  local function whole(number)
    return string.format('%.0f', number)
  end

  local function load_token(id)
    local key = token_keys[id]
    local remain = redis.call('HGET', key, 'remain')
    local token = { key = key, known = remain ~= false, remain = tonumber(remain or 0), used = 0, freed = 0 }
    tokens[id] = token
    changed[#changed + 1] = token
    return token
  end

  local function settle(id, reservation, amount_text, cost, delivered)
    -- Whether the token's balance takes part was decided when it was reserved.
    local limited = true
    local rest = ':' .. amount_text .. ':' .. reservation
    if redis.call('ZREM', reservations, id .. ':1' .. rest) == 0 then
      limited = false
      if redis.call('ZREM', reservations, id .. ':0' .. rest) == 0 then return false end
    end
    if not quota then quota = tonumber(redis.call('HGET', user_key, 'quota') or 0) end
    local token = tokens[id] or load_token(id)
    local amount = tonumber(amount_text)
    local reach = quota
    if limited and token.known and token.remain < reach then reach = token.remain end
    local charged = math.min(cost, amount + math.max(0, reach))
    quota = quota + amount - charged
    if limited then token.remain = token.remain + amount - charged end
    token.used = token.used + charged
    token.freed = token.freed + 1
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
    if used > 0 then redis.call('HINCRBY', user_key, 'used', whole(used)) end
    if served > 0 then redis.call('HINCRBY', user_key, 'requests', served) end
    for _, token in ipairs(changed) do
      if token.known then
        redis.call('HSET', token.key, 'remain', whole(token.remain))
        if token.used > 0 then redis.call('HINCRBY', token.key, 'used', whole(token.used)) end
        redis.call('HINCRBY', token.key, 'busy', -token.freed)
      end
    end
  end
  return replies
end
