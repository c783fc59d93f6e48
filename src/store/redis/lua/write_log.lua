#!lua
-- Appends to a log. An entry has a number; the entries map it to `<user id or nothing> <record>`, the zsets of times, of all
-- and of each user, order the numbers by time.
-- KEYS     sequence, entries, times, then the times of each user that is named
-- ARGV     one for each, blanks between: which of the keys has the times of its user or 0, time in ms, user id or nothing,
--          record
-- Returns  how many entries there are
for i = 1, #ARGV do
  local of, time, entry = string.match(ARGV[i], '^(%d+) (%S+) (.*)$')
  -- With leading zeros, so that entries of one millisecond are ordered by their numbers.
  local number = string.format('%015.0f', redis.call('INCR', KEYS[1]))
  redis.call('HSET', KEYS[2], number, entry)
  redis.call('ZADD', KEYS[3], time, number)
  if of ~= '0' then redis.call('ZADD', KEYS[tonumber(of)], time, number) end
end
return redis.call('ZCARD', KEYS[3])
