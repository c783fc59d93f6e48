#!lua
-- Drops log entries by their numbers: from the log and from the list of whom they are about.
-- KEYS     entries, times, then the times of each user that is named
-- ARGV     which of the keys has the times of its user or 0, and the number, of each
-- Returns  how many went
local dropped = 0
for i = 1, #ARGV, 2 do
  local of, number = ARGV[i], ARGV[i + 1]
  if of ~= '0' then redis.call('ZREM', KEYS[tonumber(of)], number) end
  redis.call('HDEL', KEYS[1], number)
  dropped = dropped + redis.call('ZREM', KEYS[2], number)
end
return dropped
