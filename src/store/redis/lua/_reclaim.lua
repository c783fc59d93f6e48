-- Gives back what nobody settled in time. A reservation is a member `<token id>:<limited>:<amount>:<id>` of the zset
-- `<user>:r`, scored with when it expires; `limited` tells whether the amount was taken off the token too.
local function reclaim(user, now)
  local reservations = user .. ':r'
  local expired = redis.call('ZRANGE', reservations, '-inf', now, 'BYSCORE')
  if #expired == 0 then return false end
  for _, member in ipairs(expired) do
    local token_id, limited, amount = string.match(member, '^(%d+):([01]):(%d+):')
    redis.call('HINCRBY', user, 'quota', amount)
    local token = user .. ':t:' .. token_id
    if redis.call('EXISTS', token) == 1 then
      redis.call('HINCRBY', token, 'busy', -1)
      if limited == '1' then redis.call('HINCRBY', token, 'remain', amount) end
    end
  end
  redis.call('ZREMRANGEBYSCORE', reservations, '-inf', now)
  return true
end
