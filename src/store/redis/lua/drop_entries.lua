#!lua
-- Drops log entries by number: from the log and from the lists of the users that they are about.
-- KEYS     entries, times, then the times of each user involved
-- ARGV     for each entry: number of the key with the times of its user or 0, and its own number
-- Returns  how many were dropped
local dropped = 0
for i = 1, #ARGV, 2 do
  local of, number = ARGV[i], ARGV[i + 1]
  if of ~= '0' then redis.call('ZREM', KEYS[tonumber(of)], number) end
  redis.call('HDEL', KEYS[1], number)
  dropped = dropped + redis.call('ZREM', KEYS[2], number)
end
return dropped
