#!lua
-- Drops requests by number: from the log, from the lists of the users that they are about, and their ids unless these lead to a
-- newer request.
-- KEYS     entries, times, ids, then the times of each user involved
-- ARGV     for each entry: number of the key with the times of its user or 0, its own number, and the id of the request or ''
-- Returns  how many were dropped
local dropped = 0
for i = 1, #ARGV, 3 do
  local of, number, id = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if of ~= '0' then redis.call('ZREM', KEYS[tonumber(of)], number) end
  if id ~= '' and redis.call('HGET', KEYS[3], id) == number then redis.call('HDEL', KEYS[3], id) end
  redis.call('HDEL', KEYS[1], number)
  dropped = dropped + redis.call('ZREM', KEYS[2], number)
end
return dropped
