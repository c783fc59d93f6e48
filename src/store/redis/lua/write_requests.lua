#!lua
-- Appends to a log of requests, as `write_log` does, and stores the id by which each is found.
-- KEYS     sequence, entries, times, ids, then the times of each user involved
-- ARGV     one per entry, separated by spaces: number of the key with the times of its user or 0, time in ms, id of the
--          request, user id or nothing, record
-- Returns  how many entries there are
for i = 1, #ARGV do
  local of, time, id, entry = string.match(ARGV[i], '^(%d+) (%S+) (%S+) (.*)$')
  local number = string.format('%015.0f', redis.call('INCR', KEYS[1]))
  redis.call('HSET', KEYS[2], number, entry)
  redis.call('ZADD', KEYS[3], time, number)
  redis.call('HSET', KEYS[4], id, number)
  if of ~= '0' then redis.call('ZADD', KEYS[tonumber(of)], time, number) end
end
return redis.call('ZCARD', KEYS[3])
