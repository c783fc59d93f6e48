-- Appends to a log, and drops the oldest entries beyond its bound. An entry has a number; `:entries` maps it to
-- `<user id or nothing> <record>`, the zsets `:times` and `:of:<user>` order the numbers by time.
-- KEYS[1]  the log; touches `:seq`, `:entries`, `:times` and `:of:<user>` below it
-- ARGV     bound, then one for each, blanks between: time in ms, user id or nothing, record
-- Returns  nothing
--!include _drop_entries
local log = KEYS[1]
for i = 2, #ARGV do
  local time, entry, user = string.match(ARGV[i], '^(%S+) ((%S*) .*)$')
  -- With leading zeros, so that entries of one millisecond are ordered by their numbers.
  local number = string.format('%015.0f', redis.call('INCR', log .. ':seq'))
  redis.call('HSET', log .. ':entries', number, entry)
  redis.call('ZADD', log .. ':times', time, number)
  if user ~= '' then redis.call('ZADD', log .. ':of:' .. user, time, number) end
end
local excess = redis.call('ZCARD', log .. ':times') - tonumber(ARGV[1])
-- A bound that was lowered by much is reached step by step, so that others are not kept waiting.
if excess > 0 then drop_entries(log, redis.call('ZRANGE', log .. ':times', 0, math.min(excess, 2000) - 1)) end
