-- How long a reservation that was given back may still be settled: its node may have been without the store until now.
local LAPSED_MS = 10 * 60 * 1000

-- What stands for a reservation of a token once it was given back: nothing is reserved any more.
local function lapsed_member(token_id, limited, id)
  return token_id .. ':' .. limited .. ':0:lapsed/' .. id
end

-- Gives back reservations that nobody settled in time. A reservation is a member `<token id>:<limited>:<amount>:<id>` of the
-- user's zset, scored with its expiry; `limited` tells whether the amount was taken off the token too. `tokens` maps token ids
-- to the keys of the tokens that may be touched: in a Cluster, all keys of a script must be named in advance. If other tokens
-- would have to be touched, nothing is done and their ids are the second result.
local function give_back(user, reservations, tokens, now)
  local expired = redis.call('ZRANGE', reservations, '-inf', string.format('%.0f', now), 'BYSCORE')
  if #expired == 0 then return false end
  local missing, seen = {}, {}
  for _, member in ipairs(expired) do
    local token_id = string.match(member, '^(%d+):')
    if not tokens[token_id] and not seen[token_id] then
      seen[token_id] = true
      missing[#missing + 1] = token_id
    end
  end
  if #missing > 0 then return false, missing end
  for _, member in ipairs(expired) do
    local token_id, limited, amount, id = string.match(member, '^(%d+):([01]):(%d+):(.*)')
    redis.call('ZREM', reservations, member)
    if string.sub(id, 1, 7) ~= 'lapsed/' then
      redis.call('ZADD', reservations, string.format('%.0f', now + LAPSED_MS), lapsed_member(token_id, limited, id))
      redis.call('HINCRBY', user, 'quota', amount)
      spend(user, -tonumber(amount))
      local token = tokens[token_id]
      if redis.call('EXISTS', token) == 1 then
        redis.call('HINCRBY', token, 'busy', -1)
        spend(token, -tonumber(amount))
        if limited == '1' then redis.call('HINCRBY', token, 'remain', amount) end
      end
    end
  end
  return true
end

-- The tokens that a script was given: the keys from `first` on, by token id.
local function tokens_from(first)
  local tokens = {}
  for i = first, #KEYS do
    tokens[string.match(KEYS[i], ':(%d+)$')] = KEYS[i]
  end
  return tokens
end

-- The answer that asks for another call with the keys of these tokens as well.
local function more_keys(missing)
  return { 'more keys', unpack(missing, 1, math.min(#missing, 1000)) }
end
