#!lua
-- Keeps what a node reports about itself, and drops expired reports of others.
-- KEYS     what the nodes report
-- ARGV     node, record, time, how long it is kept in ms
--!include _clock
local now = clock(ARGV[3])
local told = redis.call('HGETALL', KEYS[1])
for i = 1, #told, 2 do
  if tonumber(string.match(told[i + 1], '^(%d+) ')) <= now then redis.call('HDEL', KEYS[1], told[i]) end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + tonumber(ARGV[4])) .. ' ' .. ARGV[2])
return 1
