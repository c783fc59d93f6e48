#!lua
-- Drops requests by their numbers, as `drop_entries` does, and from the ids, where these do not lead to a newer one.
-- KEYS     entries, times, ids, then the times of each user that is named
-- ARGV     which of the keys has the times of its user or 0, the number, and the id of the request or '', of each
-- Returns  how many went
local dropped = 0
for i = 1, #ARGV, 3 do
  local of, number, id = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if of ~= '0' then redis.call('ZREM', KEYS[tonumber(of)], number) end
  if id ~= '' and redis.call('HGET', KEYS[3], id) == number then redis.call('HDEL', KEYS[3], id) end
  redis.call('HDEL', KEYS[1], number)
  dropped = dropped + redis.call('ZREM', KEYS[2], number)
end
return dropped
