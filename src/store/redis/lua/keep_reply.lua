#!lua
-- Keeps a ranking for all nodes, within the limit: those that expire first go.
-- KEYS[1]  zset of names by expiry; with `:<name>` appended it is a ranking, as `<ends ms> <text>`
-- ARGV     time, name, text, ms for which it is kept, how many are kept at most
-- Returns  nothing
--!include _clock
local now = clock(ARGV[1])
local ends = now + tonumber(ARGV[4])
redis.call('SET', KEYS[1] .. ':' .. ARGV[2], string.format('%.0f ', ends) .. ARGV[3], 'PX', ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], ends, ARGV[2])
local surplus = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[5])
if surplus > 0 then
  local gone = redis.call('ZPOPMIN', KEYS[1], surplus)
  for at = 1, #gone, 2 do redis.call('DEL', KEYS[1] .. ':' .. gone[at]) end
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return false
